"""
What a measurement takes beyond the time that is measured: the whole command, and each trial of it.

    python bench/start.py --runs 7

Prints, for `lanlab stream` and `lanlab stations`, seconds of the wall clock beyond time and
warm-up: the least and the median of several runs, and of the trials of one run of several; beside
them iperf3, where it is installed; then how long after Return the first live line of a stream is
there, and what these take: a scan of 10 values with 5 trials of 1 s, a simulated study, a report
of a single trial and one of the study, `--help` and `runs`. To be run with nothing else on the
machine.
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
from pathlib import Path

#: Of a stream, unless it says otherwise.
WARMUP_S = 0.2
SHORT_S = 0.2
TRIALS = 5
#: Whose report is timed.
STUDY = "manford-kolahi"
#: Begins with the interval, in seconds.
LIVE_LINE = re.compile(r"\s*\d+\.\d\d-\d+\.\d\d\s")


def environment() -> dict[str, str]:
    """As users have it: modules are compiled once."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def lanlab(*arguments: str, store: Path) -> tuple[float, list[float]]:
    """Wall clock of a command, and the time of each trial from its record, seconds."""
    program = str(Path(sys.executable).with_name("lanlab"))
    command = (program, *arguments, "--json", "--store", str(store))
    began = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    took_s = time.monotonic() - began
    from lanlab.store import open_store

    with open_store(str(store)) as records:
        trials = records.trials(json.loads(done.stdout)["run"])
    return took_s, [trial.elapsed_s for trial in trials]


def command_s(*arguments: str) -> float:
    """Wall clock of a command."""
    command = (str(Path(sys.executable).with_name("lanlab")), *arguments)
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env=environment())
    return time.monotonic() - began


def lanlab_scan(*arguments: str, store: Path) -> float:
    """Wall clock of a scan."""
    return command_s(*arguments, "--json", "--store", str(store))


def report(*, store: Path) -> tuple[float, int]:
    """Wall clock of a report of the last run, and how many figures it has."""
    program = str(Path(sys.executable).with_name("lanlab"))
    command = (program, "report", "last", "--json", "--store", str(store), "--out", f"{store}-page")
    began = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    took_s = time.monotonic() - began
    return took_s, len({Path(path).stem for path in json.loads(done.stdout)["figures"]})


def first_line(*arguments: str, store: Path) -> float:
    """Time from the start of a command until its first live line is there."""
    program = str(Path(sys.executable).with_name("lanlab"))
    command = (program, *arguments, "--store", str(store))
    began = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stderr is not None
        found = [time.monotonic() for line in process.stderr if LIVE_LINE.match(line)]
    if process.returncode or not found:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}, no live line")
    return found[0] - began


def row(what: str, beyond_s: list[float]) -> None:
    """Print one line of the table."""
    least, median = min(beyond_s), statistics.median(beyond_s)
    print(f"| {what} | {least:.3f} | {median:.3f} | {len(beyond_s)} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--runs", type=int, default=7, help="of each command")
    parser.add_argument("--seconds", type=float, default=3.0, help="that a stream is measured")
    parser.add_argument("--station-seconds", type=float, default=5.0)
    asked = parser.parse_args()
    print("| what | least beyond, s | median, s | n |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="lanlab-start-") as folder:
        store = Path(folder) / "start.db"
        shown = f"{asked.seconds:g}"
        for testbed in ("virtual", "loopback"):
            stream = ("stream", "--time", shown, "--testbed", testbed)
            for seconds in (asked.seconds, SHORT_S):
                words = ("stream", "--time", f"{seconds:g}", "--testbed", testbed)
                whole = [lanlab(*words, store=store)[0] for _ in range(asked.runs)]
                row(f"`lanlab {' '.join(words)}`", [each - seconds - WARMUP_S for each in whole])
            _, trials = lanlab(*stream, "--trials", str(TRIALS), store=store)
            row("its second and later trials", [e - asked.seconds - WARMUP_S for e in trials[1:]])
        for levels in ("1", "15", "64"):
            stations = ("stations", "--stations", levels, "--time", f"{asked.station_seconds:g}")
            stations += ("--trials", "1")
            whole = [lanlab(*stations, store=store)[0] for _ in range(max(1, asked.runs // 2))]
            row(f"`lanlab {' '.join(stations)}`", [each - asked.station_seconds for each in whole])
        print("| what | least, s | median, s | n |")
        print("|---|---|---|---|")
        for testbed in ("virtual", "loopback"):
            stream = ("stream", "--time", shown, "--testbed", testbed, "--interval", "1")
            lines = [first_line(*stream, store=store) for _ in range(asked.runs)]
            row(f"first line of `lanlab {' '.join(stream)}`", lines)
        scan = ("stream", "--size", "100..1000/100", "--rate", "1M", "--time", "1", "--trials", "5")
        row(f"`lanlab {' '.join(scan)}`", [lanlab_scan(*scan, store=store)])
        runs: tuple[tuple[str, ...], ...] = (
            ("stream", "--time", "1"),
            ("run", STUDY, "--testbed", "simulated", "--scale", "quick"),
        )
        for run in runs:
            row(f"`lanlab {' '.join(run)}`", [lanlab_scan(*run, store=store)])
            reports = [report(store=store) for _ in range(7)]
            figures = reports[0][1]
            row(f"report of `lanlab {' '.join(run)}`, {figures} figures", [r[0] for r in reports])
        for words in (("--help",), ("runs", "--store", str(store))):
            row(f"`lanlab {words[0]}`", [command_s(*words) for _ in range(2 * asked.runs)])
    if shutil.which("iperf3"):
        row("iperf3, both ends", [iperf3(asked.seconds) for _ in range(asked.runs)])


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
