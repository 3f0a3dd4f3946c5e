#!/usr/bin/env bash
# boto3: how fast do small objects arrive under `TransferConfig(max_bandwidth=…)`?
#
# Expected: at the limit, as large ones do. The manual calls it "the maximum bandwidth that will be
# consumed in uploading and downloading file content", in bytes per second.
# Found: each download is charged with what was asked of the socket, not with what came: twice 256 KiB,
# however small the object. At a limit of 1 MB/s, 20 objects of 1 kB take 10 s, which is 2 kB/s; without a
# limit they take 0.1 s. Uploads of the same objects, and large downloads, are as fast as they should be.
# The AWS CLI's `max_bandwidth` is this code (s3transfer).
# Exits 1 if that has changed. Needs python3 with venv; takes 40 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile boto3==1.44.8 botocore==1.44.8 s3transfer==0.19.3 urllib3==2.8.0
v/bin/python - <<'PYTHON'
import http.server
import sys
import threading
import time
from importlib.metadata import version

import boto3
from boto3.s3.transfer import TransferConfig, create_transfer_manager
from botocore.config import Config


class Store(http.server.BaseHTTPRequestHandler):
    """Keeps nothing: an object "1000-7" has 1000 octets."""

    protocol_version = "HTTP/1.1"

    def answer(self, octets):
        self.send_response(200)
        self.send_header("Content-Length", str(octets))
        self.send_header("ETag", '"0"')
        self.end_headers()

    def do_HEAD(self):
        octets = int(self.path.rsplit("/", 1)[1].split("-")[0])
        self.answer(octets)
        return octets

    def do_GET(self):
        self.wfile.write(bytes(self.do_HEAD()))

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(0)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{server.server_port}",
    aws_access_key_id="key",
    aws_secret_access_key="secret",
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}),
)


def seconds(way, octets, files, limit):
    """The time that copies of so many files take, ten at a time."""
    with open("local", "wb") as file:
        file.write(bytes(octets))
    with create_transfer_manager(client, TransferConfig(max_bandwidth=limit)) as manager:
        started = time.monotonic()
        copies = [
            manager.download("bucket", f"{octets}-{number}", f"copy-{number}")
            if way == "download"
            else manager.upload("local", "bucket", f"{octets}-{number}")
            for number in range(files)
        ]
        for copy in copies:
            copy.result()
        return time.monotonic() - started


print("boto3", boto3.__version__, "s3transfer", version("s3transfer"))
print("way       files  octets each     limit  took    octets/s")
took = []
for way, files, octets, limit in (
    ("download", 20, 1000, None),
    ("download", 20, 1000, 1_000_000),
    ("download", 20, 100_000, 1_000_000),
    ("download", 1, 5_000_000, 1_000_000),
    ("upload", 20, 1000, 1_000_000),
    ("upload", 10, 500_000, 1_000_000),
):
    took.append(seconds(way, octets, files, limit))
    rate = files * octets / took[-1]
    print(f"{way:<10}{files:>4} {octets:>12} {limit!s:>9} {took[-1]:>5.1f} {rate:>11.0f}", flush=True)
charged = 20 * 2 * 256 * 1024 / 1_000_000
right = took[0] < 3 and 4 < took[3] < 7 and took[4] < 3 and 4 < took[5] < 7
sys.exit(not (right and all(abs(seconds - charged) < 1 for seconds in took[1:3])))
PYTHON
