#!/usr/bin/env bash
# nginx, golang.org/x/net/webdav: what becomes of a file that another client has changed or made since, if an upload
# must replace only the version that was read (`If-Match`) or no file at all (`If-None-Match: *`)?
#
# Expected: it stays, and the upload is refused with 412. For either header an origin server "MUST evaluate" the
# condition, and "MUST NOT perform the requested method if the condition evaluates to false" (RFC 9110, sections 13.1.1
# and 13.1.2). Editors and sync clients rely on that.
# Found: it is replaced, with status 204 or 201 (success). Both servers send an ETag and check both headers for GET, so
# a client sees no difference until the other's work is gone. Neither manual mentions it. WsgiDAV refuses.
# Exits 1 if that has changed. Needs apt-get, go, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here" && mkdir nginx go wsgidav tmp
apt-get -qq download nginx=1.22.1-9+deb12u11 libpcre2-8-0 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
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
read -r first second third < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(listener.getsockname()[1] for listener in listeners))')
cat >nginx.conf <<CONF
daemon off;
master_process off;
error_log stderr;
pid nginx.pid;
events {}
http {
    access_log off;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    server {
        listen 127.0.0.1:$first;
        root $here/nginx;
        location / { dav_methods PUT DELETE; }
    }
}
CONF
usr/sbin/nginx -p "$here" -c nginx.conf 2>log &
./server "$second" go &
v/bin/wsgidav --host 127.0.0.1 --port "$third" --root wsgidav --auth anonymous -q >log 2>&1 &
usr/sbin/nginx -v
grep 'x/net' go.mod
v/bin/python - "$first" "$second" "$third" <<'PYTHON'
import http.client
import pathlib
import sys
import time


def ask(port, method, octets=b"", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.request(method, "/file", octets, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("ETag")


def wait(port):
    for _ in range(300):
        try:
            return ask(port, "GET")
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit("a server has not started")


found = {}
for folder, port in zip(("nginx", "go", "wsgidav"), sys.argv[1:], strict=True):
    wait(port)
    file = pathlib.Path(folder, "file")
    first, _ = ask(port, "PUT", b"the version that both read")
    status, etag = ask(port, "GET")
    ask(port, "PUT", b"Anna's longer changes to that version")
    stale, _ = ask(port, "GET", If_Match=etag)
    updated, _ = ask(port, "PUT", b"Ben's changes", If_Match=etag)
    after_update = file.read_bytes().decode()
    ask(port, "PUT", b"Anna's file")
    made, _ = ask(port, "PUT", b"Ben's new file", If_None_Match="*")
    after_make = file.read_bytes().decode()
    print(f"{folder}: PUT {first}; GET {status}, ETag {etag}")
    print(f"    after Anna's change, GET with If-Match and that ETag: {stale}")
    print(f"    Ben's PUT with If-Match: {updated}; left: {after_update!r}")
    print(f"    Ben's PUT with If-None-Match: *: {made}; left: {after_make!r}", flush=True)
    found[folder] = stale, updated, after_update[:3], made, after_make[:3]
wrong = found["nginx"] == (412, 204, "Ben", 204, "Ben") and found["go"] == (412, 201, "Ben", 201, "Ben")
right = found["wsgidav"][1:] == (412, "Ann", 412, "Ann")
sys.exit(not (wrong and right))
PYTHON
