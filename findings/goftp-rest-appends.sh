#!/usr/bin/env bash
# goftp.io/server (Go): where does an upload after `REST` begin?
#
# Expected: at the marker. A client that replaces a file may send `REST 0`, and one that lost track of the last
# packets may repeat some data. pyftpdlib, a server in Python, does so.
# Found: at the end of the file, whatever the marker; a marker past the end is the only one that is refused. After
# 2000 new bytes replace a file of 3000 bytes, it has 5000: the old ones, then the new ones. fsspec, a client in
# Python, sends `REST 0` before each upload, so it never replaces a file on this server. The reply is 226.
# Exits 1 if that has changed. Needs go, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
mkdir "$here/goftp" "$here/pyftpdlib" && cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.25.0

require goftp.io/server/v2 v2.0.3
MOD
cat >main.go <<'GO'
package main

import (
	"os"
	"strconv"

	"goftp.io/server/v2"
	"goftp.io/server/v2/driver/file"
)

func main() {
	port, _ := strconv.Atoi(os.Args[1])
	driver, _ := file.NewDriver("goftp")
	ftp, err := server.NewServer(&server.Options{
		Driver: driver, Port: port, Hostname: "127.0.0.1", Logger: &server.DiscardLogger{},
		Auth: &server.SimpleAuth{Name: "user", Password: "word"}, Perm: server.NewSimplePerm("user", "user"),
	})
	if err == nil {
		err = ftp.ListenAndServe()
	}
	panic(err)
}
GO
GOFLAGS=-mod=mod go build -o server . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile fsspec==2026.9.0 pyftpdlib==2.2.0
read -r first second < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(listener.getsockname()[1] for listener in listeners))')
./server "$first" &
v/bin/python -m pyftpdlib -i 127.0.0.1 -p "$second" -d pyftpdlib -w -u user -P word 2>log &
v/bin/python - "$first" "$second" <<'PYTHON'
import ftplib
import io
import sys
import time
from importlib.metadata import version

import fsspec

print("goftp.io/server 2.0.3, pyftpdlib", version("pyftpdlib"), "and fsspec", version("fsspec"))
old, new = b"o" * 3000, b"n" * 2000
found = {}
for server, port in zip(("pyftpdlib", "goftp"), map(int, sys.argv[1:][::-1])):
    for _ in range(40):
        client = ftplib.FTP()
        try:
            client.connect("127.0.0.1", port)
            break
        except ConnectionRefusedError:  # until the server listens
            time.sleep(0.5)
    client.login("user", "word")
    rows = {}
    for title, marker in (("STOR", None), ("REST 0, STOR", 0), ("REST 1000, STOR", 1000), ("REST 3000, STOR", 3000)):
        client.storbinary("STOR file", io.BytesIO(old))
        reply = client.storbinary("STOR file", io.BytesIO(new), rest=marker)
        rows[title] = reply[:3], client.size("file")
    client.storbinary("STOR file", io.BytesIO(old))
    files = fsspec.filesystem("ftp", host="127.0.0.1", port=port, username="user", password="word")
    files.pipe_file("/file", new)
    rows["fsspec"] = "226", client.size("file")
    found[server] = [size for _, size in rows.values()]
    print(f"{server:<10}", "; ".join(f"{title}: {reply}, {size} bytes" for title, (reply, size) in rows.items()))
    with open(f"{server}/file", "rb") as file:
        content = file.read()
    print(f"{'':<10} left by fsspec: {content.count(b'o')} old bytes, {content.count(b'n')} new ones")
right = [2000, 2000, 3000, 5000, 2000]
sys.exit(not (found == {"pyftpdlib": right, "goftp": [2000, 5000, 5000, 5000, 5000]}))
PYTHON
