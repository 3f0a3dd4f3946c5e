#!/usr/bin/env bash
# aiolimiter: how long does a block of 5 wait under a limit of 10 a second that two senders of blocks of 1 use up?
#
# Expected: about half a second. A leaky bucket is a queue: first come, first served, as asyncio's locks and
# semaphores are.
# Found: until all small blocks are sent: 599 s if there are 6000, and without an end if the two go on. The wait
# queue is ordered by size, the smallest first. Behind an `asyncio.Lock` the block waits 0.6 s.
# The manual does not say so. The script's event loop jumps to the next timer, so no time passes.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile aiolimiter==1.3.0
v/bin/python - <<'PYTHON'
import asyncio
import sys
from importlib.metadata import version

from aiolimiter import AsyncLimiter


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer when nothing else is to be done."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when()) + 1e-9
        super()._run_once()


class InTurn:
    """The same limit behind a lock, which admits in order of arrival."""

    def __init__(self, limiter):
        self.limiter, self.lock = limiter, asyncio.Lock()

    async def acquire(self, amount):
        async with self.lock:
            await self.limiter.acquire(amount)


async def wait_of_large(limiter, small):
    loop = asyncio.get_running_loop()

    async def sender():
        for _ in range(small // 2):
            await limiter.acquire(1)

    async def large():
        await asyncio.sleep(1)
        begun = loop.time()
        await limiter.acquire(5)
        return loop.time() - begun

    return (await asyncio.gather(large(), sender(), sender()))[0]


async def main():
    print("aiolimiter", version("aiolimiter"), "- seconds that a block of 5 waits")
    waits = {}
    for small in (100, 600, 6000):
        plain, ordered = [await wait_of_large(wrap(AsyncLimiter(10, 1)), small) for wrap in (lambda same: same, InTurn)]
        waits[small] = plain, ordered
        print(f"  among {small:>4} blocks of 1, {small / 10:.0f} s of work: {plain:.1f}, behind a lock {ordered:.1f}")
    return waits


waits = VirtualLoop().run_until_complete(main())
starved = all(plain > small / 10 - 3 for small, (plain, _) in waits.items())
sys.exit(not (starved and all(ordered < 1 for _, ordered in waits.values())))
PYTHON
