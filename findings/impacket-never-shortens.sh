#!/usr/bin/env bash
# impacket (smbserver): what is left of a file of ten bytes that a client shortens to four (`truncate`)?
#
# Expected: its first four. EndOfFile is "the absolute new end of file position as a byte offset from the start of the
# file" ([MS-FSCC], section 2.4.14), and `SetEndOfFile` and `truncate` are both sent as this request.
# Found: ten bytes, of which the fourth is now 0; the reply's status is success. The server writes one zero byte at the
# new last position and never shortens a file. So a shorter version that is saved in place has a damaged last byte, and
# the end of the older version after it. To shorten a file to nothing has no effect. Longer is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here" && mkdir files
python3 -m venv v && v/bin/pip -qq install --no-compile impacket==0.13.1 smbprotocol==1.17.0
cat >serve.py <<'PYTHON'
"""Serves the folder `files` as the share `files` to the user `user`."""

import sys

from impacket.ntlm import compute_lmhash, compute_nthash
from impacket.smbserver import SimpleSMBServer

server = SimpleSMBServer(listenAddress="127.0.0.1", listenPort=int(sys.argv[1]))
server.addShare("files", "files", readOnly="no")
server.setSMB2Support(True)
server.addCredential("user", 1000, compute_lmhash("word"), compute_nthash("word"))
server.start()
PYTHON
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
v/bin/python serve.py "$port" >log 2>&1 &
v/bin/python - "$port" <<'PYTHON'
import pathlib
import socket
import sys
import time
from importlib.metadata import version

import smbclient

port = int(sys.argv[1])
for _ in range(100):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
print("impacket", version("impacket"), "smbprotocol", version("smbprotocol"))


def resize(size):
    """What is left of a file of ten bytes."""
    file = pathlib.Path("files", "file")
    file.write_bytes(b"0123456789")
    share = rf"\\127.0.0.1\files\{file.name}"
    with smbclient.open_file(share, "r+b", buffering=0, port=port, username="user", password="word") as remote:
        remote.truncate(size)
    print(f"truncate({size}): {file.read_bytes()}")
    return file.read_bytes()


right = resize(12) == b"0123456789\0\0"
wrong = resize(4) == b"012\x00456789" and resize(0) == b"0123456789"
sys.exit(not (right and wrong))
PYTHON
