#!/usr/bin/env bash
# fsspec: what is left of a file on an FTP server that is opened in mode "ab"?
#
# Expected: all of it, as of a local file, and as smart_open does with FTP's own command for it (`APPE`); or an
# error. The manual of the mode: "See builtin open()"; of its files: "some may not support append".
# Found: nothing. The upload starts at byte 0, so the new data replaces the file, without an error or warning. A
# log that each run opens to append keeps the last run only. "xb" replaces an existing file, too.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
mkdir "$here/files" && cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile fsspec==2026.9.0 pyftpdlib==2.2.0 smart_open==9.0.2
port=$(python3 -c '
import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
v/bin/python -m pyftpdlib -i 127.0.0.1 -p "$port" -d files -w -u user -P word 2>log &
v/bin/python - "$port" <<'PYTHON'
import socket
import sys
import time
from importlib.metadata import version
from pathlib import Path

import fsspec
import smart_open

print(*(f"{name} {version(name)}" for name in ("fsspec", "smart_open", "pyftpdlib")))
address = f"user:word@127.0.0.1:{sys.argv[1]}"
for _ in range(40):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        break
    except ConnectionRefusedError:  # until the server listens
        time.sleep(0.5)
log = Path("files/log")
found = {}
for title, opened in (
    ("smart_open, ab", lambda: smart_open.open(f"ftp://{address}/log", "ab")),
    ("fsspec, local, ab", lambda: fsspec.open(f"file://{log.absolute()}", "ab")),
    ("fsspec, ftp, ab", lambda: fsspec.open(f"ftp://{address}/log", "ab")),
    ("fsspec, ftp, xb", lambda: fsspec.open(f"ftp://{address}/log", "xb")),
):
    log.write_bytes(b"first run\n")
    with opened() as file:
        file.write(b"second run\n")
    found[title] = log.read_bytes()
    print(f"{title:<18} {found[title]}")
first, second, *ftp = found.values()
whole, last = b"first run\nsecond run\n", b"second run\n"
sys.exit(not (first == second == whole and ftp == [last, last]))
PYTHON
