"""
Whether trials that are marked *medium late* differ, and others do not: medians and means of round
trips on a quiet machine and, by turns, while programs take its processors.

    .venv/bin/python bench/medium_marks.py [--trials 1000] [--link 10M]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

#: Trials of a turn, and time of each.
_TURN, _TIME_S = 25, 0.2
_METRICS = ("rtt_p50_ns", "rtt_mean_ns")
_LANLAB = Path(sys.executable).with_name("lanlab")


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """Programs that compute all the time."""
    running = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)
    ]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def turn(link: str, store: Path) -> list[tuple[Mapping[str, float], bool]]:
    """Of each trial its round trips, ns, and whether the medium disturbed it."""
    command = [str(_LANLAB), "echo", "--testbed", "virtual", "--link", link, "--json"]
    command += ["--time", str(_TIME_S), "--trials", str(_TURN), "--store", str(store)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    trials = [one for one in json.loads(said)["trials"] if one["status"] == "done"]
    return [
        (
            {metric: float(one[metric]) for metric in _METRICS},
            "medium_shift" in {f["code"] for f in one["pollution"]["findings"]},
        )
        for one in trials
    ]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--link", default="10M")
    asked = parser.parse_args()
    found: dict[tuple[str, bool], list[Mapping[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.trials // _TURN):
            programs = 0 if number % 2 == 0 else os.cpu_count() or 1
            with busy(programs):
                for trips, is_marked in turn(asked.link, Path(folder, "store.sqlite")):
                    found.setdefault(("busy" if programs else "quiet", is_marked), []).append(trips)
    print("| metric | machine | marked | trials | median, µs | over quiet, unmarked | p5 … p95 |")
    print("|---" * 7 + "|")
    for metric, (key, trials) in itertools.product(_METRICS, sorted(found.items())):
        reference = statistics.median(trip[metric] for trip in found[("quiet", False)])
        times = sorted(trip[metric] / reference for trip in trials)
        low, high = (times[round(share * (len(times) - 1))] for share in (0.05, 0.95))
        middle = statistics.median(times)
        print(
            f"| {metric} | {key[0]} | {'yes' if key[1] else 'no'} | {len(times)} "
            f"| {middle * reference / 1e3:.1f} | {middle:.3f} | {low:.3f} … {high:.3f} |"
        )


if __name__ == "__main__":
    main()
