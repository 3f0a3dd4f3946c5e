#!/usr/bin/env bash
# Tornado: does a conditional request for a file that has changed bring the new version?
#
# Expected: yes. `StaticFileHandler` calculates the ETag from the file's contents, and RFC 9110 (section 13.1.2) allows
# 304 only if the current ETag is among those of `If-None-Match`.
# Found: never again while the server runs. Tornado keeps the hash of each file that it served once. It sends the new
# contents with the old ETag, and answers 304 (not modified) to each client that has the old version, however much later
# and larger the new one is. The date of `If-Modified-Since` has no say if both are sent, as the RFC requires.
# The manual mentions the kept hashes (`static_hash_cache`) only for `static_url`, in debugging. aiohttp is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile tornado==6.6.1 aiohttp==3.14.5
mkdir files
v/bin/python - <<'PYTHON'
import asyncio
import pathlib
import sys

import aiohttp
import aiohttp.web
import tornado
import tornado.web

FILE = pathlib.Path("files/results.csv")
VERSIONS = (b"seconds\n0.1\n", b"seconds\n0.1\n0.2\n", b"seconds\n0.1\n0.2\n0.3\n")


async def tornado_server():
    handler = (r"/(.*)", tornado.web.StaticFileHandler, {"path": "files"})
    server = tornado.web.Application([handler]).listen(0, "127.0.0.1")
    return next(iter(server._sockets.values())).getsockname()[1]


async def aiohttp_server():
    application = aiohttp.web.Application()
    application.router.add_static("/", "files")
    runner = aiohttp.web.AppRunner(application)
    await runner.setup()
    site = aiohttp.web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner.addresses[0][1]


async def watch(name, port):
    """Whether a client with the old version gets each new one, and how many ETags the versions have."""
    known, etags, updated = {}, set(), []
    async with aiohttp.ClientSession() as session:
        for version in VERSIONS:
            FILE.write_bytes(version)
            rows = []
            for headers in (known, {}):
                async with session.get(f"http://127.0.0.1:{port}/{FILE.name}", headers=headers) as answer:
                    rows.append((answer.status, await answer.read(), answer.headers["ETag"]))
            (status, octets, _), (_, fresh, etag) = rows
            updated.append(octets == version)
            etags.add(etag)
            asked = known.get("If-None-Match", "-")[:12]
            print(f"{name:<8} file {len(version):>2} bytes; If-None-Match {asked:<13} {status} {len(octets):>2} bytes;", end="")
            print(f" unconditional {len(fresh):>2} bytes, ETag {etag[:12]}", flush=True)
            if fresh != version:
                sys.exit("the contents are wrong")
            known = {"If-None-Match": etag}
            await asyncio.sleep(1.1)
    return updated, len(etags)


async def main():
    print("Tornado", tornado.version, "and aiohttp", aiohttp.__version__)
    found = await watch("Tornado", await tornado_server())
    right = await watch("aiohttp", await aiohttp_server())
    return found == ([True, False, False], 1) and right == ([True, True, True], 3)


sys.exit(not asyncio.run(main()))
PYTHON
