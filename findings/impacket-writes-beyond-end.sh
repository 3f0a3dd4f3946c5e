#!/usr/bin/env bash
# impacket (smbserver): what becomes of a block that a client writes beyond the end of a file?
#
# Expected: it is written, and the gap before it is filled with zeros, as on a local disk. A WRITE request has "the
# offset, in bytes, of where to write the data in the destination file", and the reply's Count is "the number of bytes
# written" ([MS-SMB2], sections 2.2.21 and 2.2.22).
# Found: nothing is written, but the reply has the status success and the full Count. So a file whose blocks arrive in
# another order than that of their offsets, or that has holes, misses those blocks, and its upload reports success. The
# source calls it what Vista does; the README and the help do not mention it.
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
BLOCKS = [letter * 1000 for letter in (b"a", b"b", b"c", b"d")]


def upload(order):
    """The blocks that arrive if they are written in an order, and how many bytes the server acknowledges."""
    file = pathlib.Path("files", "file")
    file.write_bytes(b"")
    acknowledged = 0
    share = rf"\\127.0.0.1\files\{file.name}"
    with smbclient.open_file(share, "r+b", buffering=0, port=port, username="user", password="word") as remote:
        for number in order:
            remote.seek(1000 * number)
            acknowledged += remote.write(BLOCKS[number])
    octets = file.read_bytes()
    file.unlink()
    arrived = "".join(chr(octets[at]) for at in range(0, len(octets), 1000))
    print(f"blocks written in the order {order}: {acknowledged} bytes acknowledged, {len(octets)} there: {arrived!r}")
    return acknowledged, arrived, octets == b"".join(BLOCKS)


right = upload([0, 1, 2, 3]) == (4000, "abcd", True)
wrong = upload([0, 2, 1, 3]) == (4000, "ab", False)
sys.exit(not (right and wrong))
PYTHON
