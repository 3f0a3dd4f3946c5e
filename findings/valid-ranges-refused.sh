#!/usr/bin/env bash
# Flask, aiohttp: which bytes of a file of 1000 do they send for a valid `Range` other than a single plain one?
#
# Expected: those that were asked for, or the whole file. The last 2000 bytes (`bytes=-2000`) are all of a shorter file
# (RFC 9110, section 14.1.2), and a unit that a server does not understand "MUST" be ignored (section 14.2). Of
# two ranges a server can send both, or the whole file.
# Found: none, but 416 (range not satisfiable), also with `Content-Range: bytes */1000`, which says that the file
# is too short. Flask refuses all three, so a reader that wants the end of a file, such as the directory of an archive,
# finds small files unreadable. aiohttp refuses two ranges, and other units. Tornado is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here" && mkdir files
python3 -m venv v
v/bin/pip -qq install --no-compile flask==3.1.3 werkzeug==3.1.9 aiohttp==3.14.5 tornado==6.6.1
cat >serve.py <<'PYTHON'
"""Serves the folder `files` with one of the packages."""

import sys
from importlib import metadata

import aiohttp.web
import flask
import tornado.ioloop
import tornado.web

name, port = sys.argv[1], int(sys.argv[2])
print(name, metadata.version(name), flush=True)
if name == "flask":
    application = flask.Flask("files", root_path=".", static_folder="files", static_url_path="")
    application.run("127.0.0.1", port)
elif name == "aiohttp":
    application = aiohttp.web.Application()
    application.router.add_static("/", "files")
    aiohttp.web.run_app(application, host="127.0.0.1", port=port, print=None)
else:
    handler = (r"/(.*)", tornado.web.StaticFileHandler, {"path": "files"})
    tornado.web.Application([handler]).listen(port, "127.0.0.1")
    tornado.ioloop.IOLoop.current().start()
PYTHON
read -r -a ports < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(listener.getsockname()[1] for listener in listeners))')
names=(flask aiohttp tornado)
for server in 0 1 2; do
    v/bin/python serve.py "${names[$server]}" "${ports[$server]}" 2>log &
done
v/bin/python - "${ports[@]}" <<'PYTHON'
import http.client
import pathlib
import sys
import time

WHOLE = b"0123456789" * 100
RANGES = ("bytes=-8", "bytes=990-5000", "bytes=-2000", "bytes=0-1,5-6", "lines=0-3", "bytes=1000-")
pathlib.Path("files/file").write_bytes(WHOLE)


def ask(port, **headers):
    for _ in range(300):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/file", headers=headers)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    answer = connection.getresponse()
    octets = answer.read()
    connection.close()
    return answer.status, answer.headers.get("Content-Range"), octets


found = {}
for name, port in zip(("flask", "aiohttp", "tornado"), map(int, sys.argv[1:]), strict=True):
    status, _, octets = ask(port)
    if (status, octets) != (200, WHOLE):
        sys.exit(f"{name} does not serve the file")
    statuses = []
    for asked in RANGES:
        status, content_range, octets = ask(port, Range=asked)
        sent = len(octets) if status in (200, 206) else 0
        statuses.append(status)
        print(f"{name:<8} {asked:<15} {status} {content_range!s:<22} {sent:>4} bytes of the file", flush=True)
    found[name] = statuses
wrong = found["flask"] == [206, 206, 416, 416, 416, 416] and found["aiohttp"] == [206, 206, 206, 416, 416, 416]
right = found["tornado"][:2] == [206, 206] and set(found["tornado"][2:5]) <= {200, 206} and found["tornado"][5] == 416
sys.exit(not (wrong and right))
PYTHON
