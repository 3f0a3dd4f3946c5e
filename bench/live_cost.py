"""
What live lines cost: 64-byte UDP with and without lines, in turns.

    .venv/bin/python bench/live_cost.py --turns 10

Prints one JSON object. The ratio is of rates with lines to rates without, with its 95 % interval
over the turns; both are measured in each turn, in an order that is drawn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_COMMAND = [sys.executable, "-c", "from lanlab.cli import main; main()"]
_TIME_S = 3.0


def measured(folder: Path, args: Sequence[str]) -> dict[str, Any]:
    """The result of one trial over loopback."""
    base = ("stream", "--testbed", "loopback", "--time", str(_TIME_S), "--json")
    done = subprocess.run(
        [*_COMMAND, *base, *args],
        cwd=folder,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ratio_with_interval(ratios: Sequence[float]) -> dict[str, float]:
    """The geometric mean of ratios, and its 95 % interval from their logarithms."""
    from scipy import stats

    logs = [math.log(ratio) for ratio in ratios]
    mean = math.fsum(logs) / len(logs)
    error = math.sqrt(math.fsum((one - mean) ** 2 for one in logs) / (len(logs) - 1) / len(logs))
    half = float(stats.t.ppf(0.975, len(logs) - 1)) * error
    return {"mean": math.exp(mean), "low": math.exp(mean - half), "high": math.exp(mean + half)}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    turns = parser.parse_args().turns
    if not 2 <= turns <= 1000:
        parser.error("--turns: allowed: 2 to 1000")
    order = random.Random(22)
    found: dict[str, list[dict[str, Any]]] = {"1": [], "0": []}
    with tempfile.TemporaryDirectory(prefix="lanlab-live-") as folder:
        for _ in range(turns):
            for interval in order.sample(sorted(found), 2):
                args = ("--size", "64", "--interval", interval)
                found[interval].append(measured(Path(folder), args))
    answer = {
        "turns": turns,
        "load_average": os.getloadavg()[0],
        **{
            f"{key}_ratio": ratio_with_interval(
                [a[key] / b[key] for a, b in zip(found["1"], found["0"], strict=True)]
            )
            for key in ("goodput_bps", "sent_bps")
        },
        "goodput_bps": {
            "with lines": [one["goodput_bps"] for one in found["1"]],
            "without": [one["goodput_bps"] for one in found["0"]],
        },
    }
    print(json.dumps(answer, indent=2))


if __name__ == "__main__":
    main()
