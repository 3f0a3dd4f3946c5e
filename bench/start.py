"""
What commands take beyond the time that they measure, in this checkout and beside another.

    python bench/start.py --runs 7 [--parts streams,reports] [--beside CHECKOUT]

Prints wall clock and CPU time of streams and stations, beyond time and warm-up where a row says so;
of the later trials of one run; how long after Return the first live line of a stream appears; and
what these take: a scan of 10 values with 5 trials of 1 s, a simulated study, reports of a single
trial and of the study, `--help`, `runs`, and, if `--parts` names it, the tour. iperf3, where it is
installed, stands beside them.

With `--beside`, each command also runs in a checkout that `make setup` has prepared, in turn with
this one's and in a store of its own. The ratio of the medians is printed: below 1, this checkout is
faster. So for commit 90504e84:

    git worktree add ../before 90504e84 && make -C ../before setup
    python bench/start.py --beside ../before

Wall clocks need a machine with nothing else on it; ratios of CPU times do not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

#: Of a stream, unless it says otherwise.
WARMUP_S = 0.2
SHORT_S = 0.2
TRIALS = 5
#: Whose report is timed.
STUDY = "manford-kolahi"
#: Begins with the interval, in seconds.
LIVE_LINE = re.compile(rb"\s*\d+\.\d\d-\d+\.\d\d\s")
ELAPSED = """
import json, sys
from lanlab.store import open_store
with open_store(sys.argv[1]) as records:
    print(json.dumps([trial.elapsed_s for trial in records.trials(sys.argv[2])]))
"""


class Used(NamedTuple):
    """Of a command, in seconds."""

    wall_s: float
    #: `None` if it is not known.
    cpu_s: float | None = None


class Checkout:
    """A checkout that is set up, and its store."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.store = programs, folder / "start.db"
        folder.mkdir()

    def run(self, *words: str) -> tuple[Used, bytes]:
        """What a command took, and what it printed."""
        program = self.programs / "lanlab"
        # As users have it: modules are compiled once.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
            began = time.monotonic()
            process = subprocess.Popen(
                (program, *words), stdout=printed, stderr=said, env=environment
            )
            _, status, usage = os.wait4(process.pid, 0)
            took_s = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            said.seek(0)
            if process.returncode:
                raise SystemExit(f"{program} {' '.join(words)}: {said.read().decode()}")
            return Used(took_s, usage.ru_utime + usage.ru_stime), printed.read()

    def command(self, *words: str, beyond_s: float = 0.0) -> list[Used]:
        """What a command with a store took beyond this time."""
        used, _ = self.run(*words, "--store", str(self.store))
        return [used._replace(wall_s=used.wall_s - beyond_s)]

    def later_trials(self, *words: str, beyond_s: float) -> list[Used]:
        """What each trial but the first took beyond this time."""
        _, printed = self.run(*words, "--json", "--store", str(self.store))
        python = (str(self.programs / "python"), "-c", ELAPSED, str(self.store))
        found = subprocess.check_output((*python, json.loads(printed)["run"]))
        return [Used(elapsed_s - beyond_s) for elapsed_s in json.loads(found)[1:]]

    def first_line(self, *words: str) -> list[Used]:
        """Time until the first live line appears."""
        command = (self.programs / "lanlab", *words, "--store", self.store)
        began = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            found = [time.monotonic() for line in process.stderr if LIVE_LINE.match(line)]
        if process.returncode or not found:
            raise SystemExit(f"{' '.join(map(str, command))}: no live line")
        return [Used(found[0] - began)]

    def report(self) -> list[Used]:
        """What a report of the last run took."""
        return self.command("report", "last", "--out", f"{self.store}-page")


class Table:
    """The rows, each printed when it is measured."""

    def __init__(self, checkouts: Sequence[Checkout]) -> None:
        self.checkouts = checkouts
        heads = ["what", "wall clock, s: least", "median", "CPU, s", "n"]
        if len(checkouts) > 1:
            heads += ["beside it: median", "CPU, s", "ratio", "ratio of CPU"]
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")

    def row(self, what: str, runs: int, take: Callable[[Checkout], list[Used]]) -> None:
        """Take times of all checkouts in turn, and print one line."""
        taken: dict[Checkout, list[Used]] = {one: [] for one in self.checkouts}
        for turn in range(runs):
            # Neither is always first.
            for one in self.checkouts[:: -1 if turn % 2 else 1]:
                taken[one] += take(one)
        own, *others = taken.values()
        least_s = min(used.wall_s for used in own)
        wall_s, cpu_s = _medians(own)
        cells = [what, f"{least_s:.3f}", f"{wall_s:.3f}", _shown(cpu_s), str(len(own))]
        for other in others:
            their_wall_s, their_cpu_s = _medians(other)
            cells += [f"{their_wall_s:.3f}", _shown(their_cpu_s), f"{wall_s / their_wall_s:.2f}"]
            cells.append(_shown(cpu_s and their_cpu_s and cpu_s / their_cpu_s, 2))
        print(f"| {' | '.join(cells)} |", flush=True)


def _medians(taken: Sequence[Used]) -> Used:
    cpu_s = [used.cpu_s for used in taken if used.cpu_s is not None]
    wall_s = statistics.median(used.wall_s for used in taken)
    return Used(wall_s, statistics.median(cpu_s) if cpu_s else None)


def _shown(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def streams(table: Table, asked: argparse.Namespace) -> None:
    """Streams beyond time and warm-up, and first live lines."""
    shown = f"{asked.seconds:g}"
    for testbed in ("virtual", "loopback"):
        for seconds in (asked.seconds, SHORT_S):
            words = ("stream", "--time", f"{seconds:g}", "--testbed", testbed)
            beyond_s = seconds + WARMUP_S
            table.row(
                f"`lanlab {' '.join(words)}`, beyond time and warm-up",
                asked.runs,
                lambda one, w=words, s=beyond_s: one.command(*w, beyond_s=s),
            )
        stream = ("stream", "--time", shown, "--testbed", testbed)
        table.row(
            f"later trials of `lanlab {' '.join(stream)}`, likewise",
            1,
            lambda one, w=stream: one.later_trials(
                *w, "--trials", str(TRIALS), beyond_s=asked.seconds + WARMUP_S
            ),
        )
        lines = (*stream, "--interval", f"{min(1.0, asked.seconds / 2):g}")
        table.row(
            f"first line of `lanlab {' '.join(lines)}`",
            asked.runs,
            lambda one, w=lines: one.first_line(*w),
        )


def stations(table: Table, asked: argparse.Namespace) -> None:
    """Stations beyond their time."""
    for levels in ("1", "15", "64"):
        words = ("stations", "--stations", levels, "--time", f"{asked.station_seconds:g}")
        table.row(
            f"`lanlab {' '.join(words)} --trials 1`, beyond its time",
            max(1, asked.runs // 2),
            lambda one, w=words: one.command(*w, "--trials", "1", beyond_s=asked.station_seconds),
        )


def scans(table: Table, asked: argparse.Namespace) -> None:
    """A scan."""
    words = ("stream", "--size", "100..1000/100", "--rate", "1M", "--time", "1", "--trials", "5")
    table.row(f"`lanlab {' '.join(words)}`", 1, lambda one: one.command(*words))


def reports(table: Table, asked: argparse.Namespace) -> None:
    """Runs and their reports."""
    runs: tuple[tuple[str, ...], ...] = (
        ("stream", "--time", "1"),
        ("run", STUDY, "--testbed", "simulated", "--scale", "quick"),
    )
    for run in runs:
        table.row(f"`lanlab {' '.join(run)}`", 1, lambda one, w=run: one.command(*w))
        table.row(f"report of `lanlab {' '.join(run)}`", asked.runs, Checkout.report)


def lists(table: Table, asked: argparse.Namespace) -> None:
    """Help, and a list of few runs."""
    table.row("`lanlab --help`", 2 * asked.runs, lambda one: [one.run("--help")[0]])
    for one in table.checkouts:
        if not one.store.exists():
            one.command("stream", "--time", f"{SHORT_S:g}", "--testbed", "loopback")
    table.row("`lanlab runs`", 2 * asked.runs, lambda one: one.command("runs"))


def tour(table: Table, asked: argparse.Namespace) -> None:
    """The tour, without its set-up."""
    table.row("`lanlab tour`", 1, lambda one: one.command("tour", "--out", f"{one.store}-tour"))


PARTS = {part.__name__: part for part in (streams, stations, scans, reports, lists, tour)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--runs", type=int, default=7, help="of each command")
    parser.add_argument("--seconds", type=float, default=3.0, help="that a stream is measured")
    parser.add_argument("--station-seconds", type=float, default=5.0)
    parser.add_argument("--parts", default="streams,stations,scans,reports,lists")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another, set up")
    asked = parser.parse_args()
    parts = asked.parts.split(",")
    if unknown := set(parts).difference(PARTS):
        parser.error(f"--parts: no part {', '.join(unknown)}; known: {', '.join(PARTS)}")
    programs = [Path(sys.executable).parent]
    if asked.beside is not None:
        programs.append(asked.beside.resolve() / ".venv/bin")
        if not (programs[1] / "lanlab-engine").exists():
            parser.error(f"{asked.beside} is not set up: run `make -C {asked.beside} setup`")
    with tempfile.TemporaryDirectory(prefix="lanlab-start-") as folder:
        checkouts = [Checkout(of, Path(folder) / str(place)) for place, of in enumerate(programs)]
        table = Table(checkouts)
        for part in parts:
            PARTS[part](table, asked)
    if shutil.which("iperf3") and "streams" in parts:
        found = [iperf3(asked.seconds) for _ in range(asked.runs)]
        print(f"iperf3, both ends, beyond its time: median {statistics.median(found):.3f} s")


def iperf3(seconds: float) -> float:
    """Wall clock of an iperf3 over loopback beyond its time."""
    server = subprocess.Popen(("iperf3", "-s", "-1", "-p", "52017"), stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        began = time.monotonic()
        client = ("iperf3", "-c", "127.0.0.1", "-p", "52017", "-t", f"{seconds:g}")
        subprocess.run(client, check=True, capture_output=True)
        return time.monotonic() - began - seconds
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
