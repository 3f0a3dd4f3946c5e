#!/usr/bin/env bash
# pyftpdlib: how long does a file take under `ThrottledDTPHandler` with a `write_limit`?
#
# Expected: its octets over the limit. The manual: "the maximum number of bytes to write (send) in one
# second".
# Found: none of what two seconds may carry is held back: at 1 MB/s a file of 1.9 MB arrives at once.
# The first pause comes after those two seconds' worth, and lasts 2 s; then the next 2 MB go at once. So a
# file of 4 MB takes 2 s, at twice the limit, and each transfer starts anew: any number of files of up to
# 1.9 MB is not limited at all. Only long transfers come near the limit.
# Exits 1 if that has changed. Needs python3 with venv; takes 20 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile pyftpdlib==2.2.0
v/bin/python - <<'PYTHON'
import ftplib
import logging
import sys
import threading
import time

import pyftpdlib
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, ThrottledDTPHandler
from pyftpdlib.servers import FTPServer

LIMIT = 1_000_000


class Throttled(ThrottledDTPHandler):
    write_limit = LIMIT


class Handler(FTPHandler):
    authorizer = DummyAuthorizer()
    dtp_handler = Throttled


logging.disable(logging.CRITICAL)
Handler.authorizer.add_anonymous(".")
server = FTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = ftplib.FTP()
client.connect(*server.socket.getsockname())
client.login()
print("pyftpdlib", pyftpdlib.__ver__, "limit", LIMIT, "octets/s")
print("octets    expected   took     octets/s")
took = []
for seconds in (1.9, 1.9, 1.9, 4, 9):
    octets = int(seconds * LIMIT)
    with open("file", "wb") as file:
        file.write(bytes(octets))
    started = time.monotonic()
    client.retrbinary("RETR file", lambda _: None)
    took.append(time.monotonic() - started)
    print(f"{octets:>7} {seconds:>8.1f} s {took[-1]:>5.2f} s {octets / took[-1]:>11.0f}", flush=True)
sys.exit(not (max(took[:3]) < 0.5 and 1.9 < took[3] < 2.5 and 7.9 < took[4] < 8.5))
PYTHON
