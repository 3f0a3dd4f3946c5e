#!/usr/bin/env bash
# ab (ApacheBench): what is the median of an odd number of requests?
#
# Expected: the time of the one in the middle, as in every textbook, and as ab's own table of percentiles
# prints at 50 %.
# Found: the mean of that one and the next slower one; of an even number, where a mean of two belongs, the
# slower one alone. So of three requests of 10, 20 and 500 ms the median is 260 ms, of a hundred the 51st.
# All lines of `Connection Times` are so.
# Exits 1 if that has changed. Needs apt-get, python3.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download apache2-utils=2.4.71-1~deb12u1 libapr1 libaprutil1 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
usr/bin/ab -V | sed -n 1p
python3 - <<'PYTHON'
import http.server
import re
import subprocess
import sys
import threading
import time

DELAYS_MS = (10, 20, 500, 1000)


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request after the next delay."""

    requests = 0

    def do_GET(self):
        time.sleep(DELAYS_MS[Server.requests] / 1000)
        Server.requests += 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
found = []
for requests in (3, 4):
    Server.requests = 0
    command = ["usr/bin/ab", "-n", str(requests), f"http://127.0.0.1:{server.server_port}/"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    total = re.search(r"^Total: +\d+ +\d+ +[\d.]+ +(\d+) +\d+$", printed, re.MULTILINE)
    half = re.search(r"^ +50% +(\d+)", printed, re.MULTILINE)
    found.append((int(total.group(1)), int(half.group(1))))
    print(f"answers after {DELAYS_MS[:requests]} ms")
    print(re.search(r" +min  mean.*?\nTotal:[^\n]*", printed, re.DOTALL).group())
    print(half.group())
[(odd, odd_half), (even, _)] = found
sys.exit(not (255 < odd < 300 and 20 <= odd_half < 50 and 500 <= even < 550))
PYTHON
