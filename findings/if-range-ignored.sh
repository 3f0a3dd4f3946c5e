#!/usr/bin/env bash
# Tornado, Twisted, Bottle: what does a client get that resumes a download of a file which has changed?
#
# Expected: the whole new file, with status 200. With `If-Range` the client says which version it has; if that is
# gone, a server "MUST ignore the Range header field" (RFC 9110, section 13.1.5). Starlette does so. Browsers and
# pip resume this way.
# Found: the rest of the new file, with status 206. They ignore both forms of the header, though
# the servers send what it compares (`ETag`, `Last-Modified`). The client joins halves of two versions.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile tornado==6.6.1 twisted==26.10.0 bottle==0.13.4 starlette==1.10.0 uvicorn
cat >serve.py <<'PYTHON'
"""Serves the folder `files` with one of the packages, and prints the port."""

import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
print(port := listener.getsockname()[1], flush=True)
if sys.argv[1] == "tornado":
    import tornado.httpserver
    import tornado.ioloop
    import tornado.web

    pages = [("/(.*)", tornado.web.StaticFileHandler, {"path": "files"})]
    server = tornado.httpserver.HTTPServer(tornado.web.Application(pages))
    server.add_sockets([listener])
    tornado.ioloop.IOLoop.current().start()
elif sys.argv[1] == "twisted":
    from twisted.internet import reactor
    from twisted.web import server, static

    reactor.adoptStreamPort(listener.fileno(), socket.AF_INET, server.Site(static.File("files")))
    reactor.run()
elif sys.argv[1] == "bottle":
    from wsgiref.simple_server import make_server

    import bottle

    listener.close()
    bottle.route("/<name>")(lambda name: bottle.static_file(name, root="files"))
    make_server("127.0.0.1", port, bottle.default_app()).serve_forever()
else:
    import uvicorn
    from starlette.staticfiles import StaticFiles

    config = uvicorn.Config(StaticFiles(directory="files"), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
PYTHON
v/bin/python - <<'PYTHON'
import http.client
import os
import subprocess
import sys
import time
from importlib.metadata import version

os.mkdir("files")


def get(port, **headers):
    for _ in range(50):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            client.request("GET", "/file", headers=headers)
            answer = client.getresponse()
            break
        except ConnectionError:  # until the server listens
            time.sleep(0.2)
    return answer, answer.read()


def write(content, day):
    with open("files/file", "wb") as file:
        file.write(content)
    os.utime("files/file", (86400 * day, 86400 * day))


found = {}
for name in ("tornado", "twisted", "bottle", "starlette"):
    command = [sys.executable, "serve.py", name]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(server.stdout.readline())
        write(b"o" * 1000, day=20000)
        answer, _ = get(port)
        known = list(filter(None, (answer.headers["ETag"], answer.headers["Last-Modified"])))
        write(b"n" * 1000, day=20001)
        results = [get(port, **{"Range": "bytes=400-", "If-Range": validator}) for validator in known]
    finally:
        server.kill()
    found[name] = {answer.status for answer, _ in results}
    print(f"{name} {version(name)}: 400 bytes of the old file, then")
    for (answer, body), validator in zip(results, known):
        print(f"  {answer.status}: {len(body)} bytes of the new one, If-Range: {validator[:24]}")
sys.exit(found != {"tornado": {206}, "twisted": {206}, "bottle": {206}, "starlette": {200}})
PYTHON
