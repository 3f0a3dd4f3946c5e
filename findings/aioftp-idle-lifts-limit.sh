#!/usr/bin/env bash
# aioftp: does a speed limit (`write_speed_limit` …) hold after a pause?
#
# Expected: yes; at most a small burst goes through at once, as with any token bucket. The manual: "server
# write speed limit in bytes per second".
# Found: a pause is credit without a bound. At 1 MB/s, after 12 s without a transfer, 12 MB go at full speed;
# after an hour it would be 3.6 GB. The limit of a server is shared, so a new client spends what all
# saved. Clients that think between their files never feel it, and a measurement that starts with a pause
# sees a line without a limit.
# Exits 1 if that has changed. Needs python3 with venv; takes 30 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile aioftp==0.28.3
v/bin/python - <<'PYTHON'
import asyncio
import pathlib
import sys
import time
from importlib.metadata import version

import aioftp

LIMIT = 1_000_000
OCTETS = 4 * LIMIT
PAUSE = 12


async def rate(port):
    """Octets per second of one download, by a client of its own."""
    octets = 0
    async with aioftp.Client.context("127.0.0.1", port) as client:
        started = time.monotonic()
        async with client.download_stream("file") as stream:
            async for block in stream.iter_by_block():
                octets += len(block)
        assert octets == OCTETS
        return octets / (time.monotonic() - started)


async def main():
    pathlib.Path("file").write_bytes(bytes(OCTETS))
    user = aioftp.User(base_path=pathlib.Path.cwd())
    server = aioftp.Server([user], write_speed_limit=LIMIT)
    await server.start("127.0.0.1", 0)
    port = server.server.sockets[0].getsockname()[1]
    rates = []
    for pause in (0, PAUSE, 0, 0, 0):
        await asyncio.sleep(pause)
        rates.append(await rate(port))
        print(f"after {pause:>2} s: {OCTETS} octets at {rates[-1]:>10.0f} octets/s", flush=True)
    await server.close()
    return rates


print("aioftp", version("aioftp"), "limit", LIMIT, "octets/s")
rates = asyncio.run(main())
held = [rates[0] < 1.1 * LIMIT, rates[4] < 1.1 * LIMIT]
sys.exit(not (all(held) and all(rate > 5 * LIMIT for rate in rates[1:4])))
PYTHON
