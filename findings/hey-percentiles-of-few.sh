#!/usr/bin/env bash
# hey: what are the percentiles of few requests?
#
# Expected: times that split the requests in these shares: of four, three of which take 10 ms and one 1 s,
# a median of 10 ms.
# Found: a median of 1 s, and none at 75 to 99 %. Each request, the fastest first, is given one percentile
# at most, though it may have reached several: the second of four 10 %, the third 25 %, the longest 50 %.
# What is left over is printed as "0% in 0.0000 secs". Of ten requests 75 % is the second longest and 90 %
# the longest; 99 % has no value below a hundred.
# Exits 1 if that has changed. Needs apt-get, python3.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download hey=0.1.4-2+b4 2>/dev/null
dpkg -x hey_*.deb .
python3 - <<'PYTHON'
import http.server
import re
import subprocess
import sys
import threading
import time


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request after the next delay."""

    protocol_version = "HTTP/1.1"
    delays_ms = iter(())

    def do_GET(self):
        time.sleep(next(Server.delays_ms) / 1000)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("hey 0.1.4-2+b4")
found = []
for delays_ms in ([10, 10, 10, 1000], [10] * 8 + [500, 1000]):
    Server.delays_ms = iter(delays_ms)
    count = str(len(delays_ms))
    command = ["usr/bin/hey", "-n", count, "-c", "1", f"http://127.0.0.1:{server.server_port}/"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(f"answers after {delays_ms} ms")
    print(re.search(r"Latency distribution:.*?\n\n", printed, re.DOTALL).group().rstrip())
    rows = re.findall(r"^  (\d+)% in ([\d.]+) secs$", printed, re.MULTILINE)
    found.append({percent: float(seconds) for percent, seconds in rows})
four, ten = found
right = four["50"] > 0.9 and four["0"] == 0 and "75" not in four
sys.exit(not (right and 0.4 < ten["75"] < 0.9 and ten["90"] > 0.9 and "95" not in ten))
PYTHON
