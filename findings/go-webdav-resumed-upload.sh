#!/usr/bin/env bash
# golang.org/x/net/webdav (`rclone serve webdav` and others): what is left of a file whose upload is resumed?
#
# Expected: the whole file; or an error, since "an origin server SHOULD respond with a 400 (Bad Request) status
# code if it receives Content-Range on a PUT for a target resource that does not support partial PUT requests"
# (RFC 9110, section 14.5). WsgiDAV refuses so.
# Found: the rest alone, answered with 201. The header is not looked at, so what curl sends to go on after
# 3000 octets becomes all there is: the 3000 that had arrived are gone, and curl reports success.
# Exits 1 if that has changed. Needs go, python3 with venv, curl.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
mkdir "$here/go" "$here/wsgidav" && cd "$here"
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
./server "$first" go &
v/bin/wsgidav --host 127.0.0.1 --port "$second" --root wsgidav --auth anonymous -q >log 2>&1 &
curl --version | sed 's/ (.*//;q'
head -c 5000 /dev/urandom >whole
head -c 3000 whole >begun

# Upload 3000 octets, then go on with the rest.
resume() {
    curl -s --retry 30 --retry-delay 1 --retry-connrefused -o answer -T begun "$1/file"
    status=$(curl -s -o answer -w '%{http_code}' -T whole --continue-at 3000 "$1/file")
    left=$(stat -c %s "$2/file")
    echo "$2: $status, $left of 5000 octets"
}
resume "http://127.0.0.1:$first" go
[ "$status" = 201 ] && tail -c 2000 whole | cmp - go/file
resume "http://127.0.0.1:$second" wsgidav
[ "$status" = 400 ] && [ "$left" = 3000 ]
