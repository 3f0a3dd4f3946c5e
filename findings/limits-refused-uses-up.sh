#!/usr/bin/env bash
# limits (Python): how many blocks of 1 pass a fixed window of 10 a minute after a block of 11 was refused?
#
# Expected: 10. `hit` returns "True if `cost` could be deducted from the rate limit without exceeding it" (its
# docstring), so a refused block deducts nothing. The package's moving window and sliding window work that way.
# Found: none, until the minute is over. The fixed window adds the block to its counter first and compares afterwards,
# so a block that never passed uses up the limit of the others. A sender that retries one block that is too large keeps
# its own small blocks from passing, and sends nothing. Limits with a cost of 1 are not affected. The manual says only
# that "All requests in that window increment the counter".
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile limits==5.8.0
v/bin/python - <<'PYTHON'
import sys
import time
from importlib.metadata import version

import limits
from limits import strategies
from limits.storage import MemoryStorage

print("limits", version("limits"))
# The clock stands still, so that all happens in one minute.
now = time.time()
time.time = lambda: now
found = {}
for name in ("FixedWindowRateLimiter", "MovingWindowRateLimiter", "SlidingWindowCounterRateLimiter"):
    limit = limits.parse("10/minute")
    for first in (0, 11):
        limiter = getattr(strategies, name)(MemoryStorage())
        passed = first and limiter.hit(limit, "client", cost=first)
        small = sum(limiter.hit(limit, "client", cost=1) for _ in range(10))
        found[name, first] = bool(passed), small
        before = f"after a block of {first}, {'passed' if passed else 'refused'}" if first else "at first"
        print(f"{name:<31} {before}: {small} of 10 blocks of 1 pass")
right = all(
    counts == (False, 10) for (name, first), counts in found.items() if "Fixed" not in name or not first
)
sys.exit(not (right and found["FixedWindowRateLimiter", 11] == (False, 0)))
PYTHON
