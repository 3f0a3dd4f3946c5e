#!/usr/bin/env bash
# throttled-py: how many requests a minute pass a token bucket of 119 a minute if 120 come, evenly spaced?
#
# Expected: 119. "gcra" of the same package lets them pass, "sliding_window" 118.
# Found: 60, half. The token bucket, which is the default, counts whole seconds and whole tokens: after a second it
# gets 1 token instead of 1.98 and forgets the rest. "leaking_bucket" does the same. So 61, 90 and 119 a minute are
# one rate. The manual does not say so. The script sets the clock, since the burst at the start lasts two hours.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile throttled-py==3.5.0
v/bin/python - <<'PYTHON'
import math
import sys
import time
from fractions import Fraction
from importlib.metadata import version

clock = Fraction(1_800_000_000)
time.time = time.monotonic = lambda: float(clock)

from throttled import Throttled, rate_limiter, store  # after the clock


def by_hand(rate):
    """A token bucket in fractions: full at first, as many tokens as a minute brings."""
    tokens, last = Fraction(rate), clock
    def passes():
        nonlocal tokens, last
        tokens, last = min(Fraction(rate), tokens + (clock - last) * Fraction(rate, 60)), clock
        if tokens < 1:
            return False
        tokens -= 1
        return True
    return passes


def package(using, rate):
    limit = Throttled(key="nas", using=using, quota=rate_limiter.per_min(rate, burst=rate), store=store.MemoryStore())
    return lambda: not limit.limit().limited


print("throttled-py", version("throttled-py"), "- requests a minute that pass in the third hour, 120 a minute come")
RATES = (61, 90, 119)
print(f"{'allowed a minute':<16}", *(f"{rate:>6}" for rate in RATES))
found = {}
for using in ("by hand", "gcra", "sliding_window", "token_bucket", "leaking_bucket"):
    found[using] = []
    for rate in RATES:
        passes = by_hand(rate) if using == "by hand" else package(using, rate)
        passed = 0
        for number in range(3 * 7200):
            clock += Fraction(1, 2)
            passed += passes() and number >= 2 * 7200
        found[using].append(passed / 60)
    print(f"{using:<16}", *(f"{passed:>6.1f}" for passed in found[using]))
right = all(
    math.isclose(passed, rate, abs_tol=1.5)
    for using in ("by hand", "gcra", "sliding_window")
    for passed, rate in zip(found[using], RATES)
)
wrong = all(passed == 60 for using in ("token_bucket", "leaking_bucket") for passed in found[using])
sys.exit(not (right and wrong))
PYTHON
