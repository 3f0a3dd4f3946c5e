#!/usr/bin/env bash
# webdav-server (npm): does COPY with `Overwrite: F` spare a file that has the target's name?
#
# Expected: yes, with status 412. "If a COPY request has an Overwrite header with a value of 'F', and a resource
# exists at the Destination URL, the server MUST fail the request" (RFC 4918, section 9.8.4). MOVE of the same
# server does so, and so does WsgiDAV.
# Found: the file is replaced, with status 201, "created". A client that would ask its user before it replaces a
# file never asks, and of two clients that choose the same name one loses its file. A folder is spared.
# Exits 1 if that has changed. Needs npm, node, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
mkdir "$here/webdav-server" "$here/wsgidav" && cd "$here"
npm install --silent --no-audit --no-fund --prefix . webdav-server@2.6.3 >/dev/null 2>&1
python3 -m venv v && v/bin/pip -qq install --no-compile wsgidav==4.4.0 cheroot==11.1.2
read -r first second < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(listener.getsockname()[1] for listener in listeners))')
node -e '
const { WebDAVServer, PhysicalFileSystem } = require("webdav-server").v2;
const server = new WebDAVServer({ hostname: "127.0.0.1", port: Number(process.argv[1]) });
server.setFileSystem("/", new PhysicalFileSystem("webdav-server"), () => server.start());' "$first" >log &
v/bin/wsgidav --host 127.0.0.1 --port "$second" --root wsgidav --auth anonymous -q >log2 2>&1 &
v/bin/python - "$first" "$second" <<'PYTHON'
import http.client
import json
import sys
import time
from importlib.metadata import version

with open("node_modules/webdav-server/package.json") as file:
    print("webdav-server", json.load(file)["version"], "and WsgiDAV", version("wsgidav"))


def request(port, method, path, body=None, **headers):
    for _ in range(40):
        client = http.client.HTTPConnection("127.0.0.1", int(port))
        try:
            client.request(method, path, body, headers)
            break
        except ConnectionRefusedError:  # until the server listens
            time.sleep(0.5)
    answer = client.getresponse()
    return answer.status, answer.read()


found = {}
for server, port in zip(("wsgidav", "webdav-server"), sys.argv[:0:-1]):
    for method in ("MOVE", "COPY"):
        request(port, "PUT", "/old", b"old")
        request(port, "PUT", "/new", b"new")
        target = {"Destination": f"http://127.0.0.1:{port}/old", "Overwrite": "F"}
        status, _ = request(port, method, "/new", **target)
        left = request(port, "GET", "/old")[1].decode()
        found[server, method] = status, left
        print(f"{server:<13} {method}: {status}, `old` has {left!r}")
spared = (412, "old")
replaced = found.pop(("webdav-server", "COPY"))
sys.exit(not (set(found.values()) == {spared} and replaced == (201, "new")))
PYTHON
