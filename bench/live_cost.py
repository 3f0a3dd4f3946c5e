"""
What live lines cost: 64-byte UDP with and without lines, in turns: its rate as fast as possible,
and how evenly a sender with a rate sends.

    .venv/bin/python bench/live_cost.py --turns 10

Prints one JSON object. The ratio is of rates with lines to rates without, with its 95 % interval
over the turns: the median, with an interval by rank, which a few disturbed trials do not move, and
the geometric mean. Both are measured in each turn, in an order that is drawn. How messages are
passed to the system and waited for is fixed: what lanlab chooses may differ from run to run by more
than lines cost. Both have the engine's word on how far it is, four times a second, which lines are
made of. To be run with nothing else on the machine.
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

from peer_tables import median, median_interval

_COMMAND = [sys.executable, "-c", "from lanlab.cli import main; main()"]
_TIME_S = 3.0
_FIXED = ("--size", "64")
#: What is measured, and the metrics that are compared. A receiver that polls takes a processor of
#: its own. Beside it and a paced sender, none of two would be left for the programs that print and
#: read lines, so there the receiver waits.
_CASES = {
    "as fast as possible": (
        ("--io", "batch", "--receive", "poll"),
        ("goodput_bps", "sent_bps"),
    ),
    "20,000 messages/s": (
        ("--message-rate", "20000", "--io", "single", "--receive", "block"),
        ("gap_p99_ns", "gap_p50_ns", "sender_cpu_s"),
    ),
}


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


def compared(found: dict[str, list[dict[str, Any]]], key: str) -> dict[str, Any]:
    """A metric with lines and without, and its ratio."""
    with_lines, without = ([one[key] for one in found[lines]] for lines in ("1", "0"))
    ratios = [one / other for one, other in zip(with_lines, without, strict=True)]
    return {
        "median_ratio": {"median": median(ratios), "interval": median_interval(ratios)},
        "ratio": ratio_with_interval(ratios),
        "with lines": with_lines,
        "without": without,
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    turns = parser.parse_args().turns
    if not 2 <= turns <= 1000:
        parser.error("--turns: allowed: 2 to 1000")
    order = random.Random(22)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {
        case: {"1": [], "0": []} for case in _CASES
    }
    with tempfile.TemporaryDirectory(prefix="lanlab-live-") as folder:
        for _ in range(turns):
            for case, (args, _) in _CASES.items():
                for interval in order.sample(("0", "1"), 2):
                    args_ = (*_FIXED, *args, "--interval", interval)
                    found[case][interval].append(measured(Path(folder), args_))
    answer = {
        "turns": turns,
        "load_average": os.getloadavg()[0],
        **{
            case: {key: compared(found[case], key) for key in keys}
            for case, (_, keys) in _CASES.items()
        },
    }
    print(json.dumps(answer, indent=2))


if __name__ == "__main__":
    main()
