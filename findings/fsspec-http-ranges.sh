#!/usr/bin/env bash
# fsspec: what do `cat_file(url, start, end)` and `cat_ranges` return if the HTTP server ignores ranges, as
# Python's `http.server` does?
#
# Expected: the requested bytes, or an error. `open(url)` of the same file system and obstore raise one.
# The manual: "Bytes limits of the read. If negative, backwards from end, like usual python slices".
# Found: the whole file, without a warning. A program that reads fixed records sees the first record each
# time, and one that reads in pieces downloads the file for each piece. Zarr and kerchunk read this way.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile fsspec==2026.9.0 aiohttp==3.14.5 obstore==0.12.1
v/bin/python - <<'PYTHON'
import http.server
import pathlib
import struct
import sys
import threading
from importlib.metadata import version

import fsspec
import obstore
from obstore.store import HTTPStore

RECORD = struct.Struct("<Id")
RECORDS = 10_000
whole = b"".join(RECORD.pack(number, number / 10) for number in range(RECORDS))
pathlib.Path("samples").write_bytes(whole)


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that closes its connection early."""


server = Listener(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{server.server_port}"
url = f"{site}/samples"
files = fsspec.filesystem("http")


def by_open(start, end):
    with files.open(url) as file:
        file.seek(start)
        return file.read(end - start)


def by_obstore(start, end):
    store = HTTPStore.from_url(site, client_options={"allow_http": True})
    return bytes(obstore.get_range(store, "samples", start=start, end=end))


ways = {
    "fsspec, open": by_open,
    "obstore": by_obstore,
    "fsspec, cat_file": lambda start, end: files.cat_file(url, start=start, end=end),
    "fsspec, cat_ranges": lambda start, end: files.cat_ranges([url], [start], [end])[0],
}
print("fsspec", version("fsspec"), "obstore", version("obstore"))
found = {}
for number in (5000, 5001):
    start = number * RECORD.size
    print(f"record {number}, bytes {start} to {start + RECORD.size}")
    for name, read in ways.items():
        try:
            found[name] = read(start, start + RECORD.size)
            print(f"  {name:<19} {len(found[name]):>6} bytes, record {RECORD.unpack_from(found[name])}")
        except Exception as error:
            found[name] = None
            print(f"  {name:<19} error: {str(error).splitlines()[0][:70]}")
tail = files.cat_file(url, start=-RECORD.size)
print(f"the last {RECORD.size} bytes by cat_file: {len(tail)} bytes, record {RECORD.unpack_from(tail)}")
right = found["fsspec, open"] is None and found["obstore"] is None
wrong = found["fsspec, cat_file"] == found["fsspec, cat_ranges"] == tail == whole
sys.exit(not (right and wrong))
PYTHON
