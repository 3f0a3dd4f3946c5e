#!/usr/bin/env bash
# WsgiDAV: what does COPY with `Depth: 0` copy of a folder?
#
# Expected: the folder without what is in it. "A COPY of 'Depth: 0' only instructs that the collection and
# its properties, but not resources identified by its internal member URLs, are to be copied" (RFC 4918,
# section 9.8.3). Go's x/net/webdav does so.
# Found: all that is in it, at each depth, as with `infinity`; the header is checked and then not used. A
# client that makes the folders so and copies the files one by one, to show progress or to time each, times
# copies onto files that are there already.
# Exits 1 if that has changed. Needs python3 with venv, go.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here"
for server in wsgidav go; do
    mkdir -p $server/folder/inner && echo 1 >$server/folder/file && echo 2 >$server/folder/inner/file
done
cat >go.mod <<'MOD'
module probe

go 1.24

require golang.org/x/net v0.62.0
MOD
cat >main.go <<'GO'
package main

import (
	"net/http"
	"os"

	"golang.org/x/net/webdav"
)

func main() {
	files := webdav.Handler{FileSystem: webdav.Dir(os.Args[2]), LockSystem: webdav.NewMemLS()}
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], &files))
}
GO
GOFLAGS=-mod=mod go build -o server . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile wsgidav==4.4.0 cheroot==11.1.2
read -r first second < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(listener.getsockname()[1] for listener in listeners))')
v/bin/wsgidav --host 127.0.0.1 --port "$first" --root wsgidav --auth anonymous -q >log 2>&1 &
./server "$second" go &
v/bin/python - "$first" "$second" <<'PYTHON'
import http.client
import os
import sys
import time
from importlib.metadata import version

print("WsgiDAV", version("wsgidav"))
found = []
for server, port in zip(("wsgidav", "go"), sys.argv[1:]):
    for depth in ("0", "infinity"):
        target = f"copy-{depth}"
        headers = {"Depth": depth, "Destination": f"http://127.0.0.1:{port}/{target}/"}
        for _ in range(40):
            client = http.client.HTTPConnection("127.0.0.1", int(port))
            try:
                client.request("COPY", "/folder/", headers=headers)
                break
            except ConnectionRefusedError:  # until the server listens
                time.sleep(0.5)
        status = client.getresponse().status
        copied = sorted(
            os.path.relpath(os.path.join(folder, name), f"{server}/{target}")
            for folder, folders, files in os.walk(f"{server}/{target}")
            for name in folders + files
        )
        found.append((status, copied))
        print(f"{server:<8} Depth: {depth:<9} {status}, in the copy: {copied}")
shallow, deep, go_shallow, go_deep = found
sys.exit(not (shallow == deep == go_deep and len(deep[1]) == 3 and go_shallow == (201, [])))
PYTHON
