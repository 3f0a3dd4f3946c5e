"""
Whether trials that are marked *medium late* differ, and others do not: round trips on a quiet
machine and, by turns, while programs take its processors.

    .venv/bin/python bench/medium_marks.py [--trials 1000] [--link 10M]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Trials of a turn, and time of each.
_TURN, _TIME_S = 25, 0.2
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


def turn(link: str, store: Path) -> list[tuple[float, bool]]:
    """Of each trial its median round trip, ns, and whether the medium disturbed it."""
    command = [str(_LANLAB), "echo", "--testbed", "virtual", "--link", link, "--json"]
    command += ["--time", str(_TIME_S), "--trials", str(_TURN), "--store", str(store)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    trials = [one for one in json.loads(said)["trials"] if one["status"] == "done"]
    return [
        (
            float(one["rtt_p50_ns"]),
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
    found: dict[tuple[str, bool], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.trials // _TURN):
            programs = 0 if number % 2 == 0 else os.cpu_count() or 1
            with busy(programs):
                for rtt_ns, is_marked in turn(asked.link, Path(folder, "store.sqlite")):
                    found.setdefault(("busy" if programs else "quiet", is_marked), []).append(
                        rtt_ns
                    )
    reference = statistics.median(found[("quiet", False)])
    print("| machine | marked | trials | median, µs | over that of quiet ones | least … most |")
    print("|---" * 6 + "|")
    for (machine, is_marked), times in sorted(found.items()):
        middle, ends = statistics.median(times), (min(times), max(times))
        spread = " … ".join(f"{end / reference:.3f}" for end in ends)
        words = ["no", "yes"][is_marked]
        print(
            f"| {machine} | {words} | {len(times)} | {middle / 1e3:.1f} | {middle / reference:.3f} "
            f"| {spread} |"
        )


if __name__ == "__main__":
    main()
