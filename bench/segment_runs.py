"""
Whether runs with segmentation come to one rate or to two, and what differs in the slow ones.

    .venv/bin/python bench/segment_runs.py --runs 20 > segment-runs.md
    .venv/bin/python bench/segment_runs.py --runs 20 --testbed loopback >> segment-runs.md

Run it on a machine that does nothing else, and on which the host takes no processor away. Each run
is a command of its own, with engines that try anew how to receive. The kinds are taken in turns:

* `free`: lanlab's room in the socket, and the system places the threads;
* `apart`: the same, each end bound to a processor of its own;
* `together`: the same, both ends bound to one processor;
* `small`: the system's usual room, and the system places the threads.

How to read the second table, which has the medians of slow runs (below half of the kind's median)
beside those of the others:

* the sender has less of a processor: it waited for one. If it was switched away often, and
  `together` is as slow as the slow runs, then the scheduler had put both ends on one processor;
* the sender was blocked: its own socket's buffer was full;
* the sender has a whole processor and each message takes longer: memory or caches, not waiting.
  `apart` then has slow runs, too;
* processors were taken away (`stolen`): the machine was not quiet, and the run says nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lanlab.store import TrialRecord, open_store

_USUAL = Path("/proc/sys/net/core/rmem_default")
_WITHIN_S = 60.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs of `lanlab stream --io segment`.")
    parser.add_argument("--runs", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--time", type=float, default=1.0, help="of a run, seconds (1)")
    parser.add_argument("--size", default="1408")
    parser.add_argument("--testbed", default="virtual", choices=("loopback", "virtual"))
    return parser.parse_args()


def _run(asked: argparse.Namespace, store: str, more: Sequence[str]) -> TrialRecord:
    """The trial of one command."""
    command = [str(Path(sys.executable).with_name("lanlab")), "stream", "--io", "segment", "--json"]
    command += ["--size", asked.size, "--time", str(asked.time), "--testbed", asked.testbed]
    subprocess.run(
        [*command, "--store", store, *more],
        check=True,
        capture_output=True,
        timeout=_WITHIN_S + asked.time,
    )
    with open_store(store) as records:
        return records.trials("last")[0]


def _busy(end: Mapping[str, Any]) -> float:
    return float(end["cpu"]["user_ns"] + end["cpu"]["system_ns"])


def _stolen(trial: TrialRecord) -> float:
    """Share of all processors that the host took away while it was measured."""
    processors = trial.raw["sender"]["host"]["processors"]
    return float(processors["steal_ns"]) / max(1.0, float(sum(processors.values())))


#: What is compared between slow runs and others, by its heading.
_COUNTERS: Mapping[str, Callable[[TrialRecord], float]] = {
    "received, 1000 messages/s": lambda one: one.metrics["received_messages_per_s"] / 1e3,
    "of what was sent": lambda one: one.metrics["received_ratio"],
    "sender, processors": lambda one: _busy(one.raw["sender"]) / one.raw["sender"]["elapsed_ns"],
    "sender, ns a message": lambda one: (
        _busy(one.raw["sender"]) / max(1, one.raw["sender"]["sent_messages"])
    ),
    "sender blocked, share": lambda one: one.metrics["blocked_ratio"],
    "sender switched away": lambda one: one.raw["sender"]["cpu"]["involuntary_switches"],
    "sender gave way": lambda one: one.raw["sender"]["cpu"]["voluntary_switches"],
    "receiver, processors": lambda one: (
        _busy(one.raw["receiver"]) / one.raw["sender"]["elapsed_ns"]
    ),
    "receiver switched away": lambda one: one.raw["receiver"]["cpu"]["involuntary_switches"],
    "interrupts, s": lambda one: one.metrics["interrupt_cpu_s"],
    "one way p99, µs": lambda one: one.metrics["one_way_delay_p99_ns"] / 1e3,
    "stolen, share": _stolen,
}


def _row(name: str, numbers: Sequence[float]) -> str:
    return f"| {name} | {' | '.join(f'{number:.4g}' for number in numbers)} |"


def _heading(first: str) -> str:
    return f"| {first} | {' | '.join(_COUNTERS)} |\n|---|{'---:|' * len(_COUNTERS)}"


def main() -> int:
    """Print every run, then slow ones beside the others."""
    asked = _arguments()
    # Linux doubles what it is asked for (socket(7)).
    usual = str(int(_USUAL.read_text()) // 2)
    first, *_, last = sorted(os.sched_getaffinity(0))
    bound = ("--sender-processor", str(first), "--receiver-processor")
    kinds = {
        "free": (),
        "apart": (*bound, str(last)),
        "together": (*bound, str(first)),
        "small": ("--receive-buffer", usual),
    }
    found: dict[str, list[TrialRecord]] = {kind: [] for kind in kinds}
    print(f"# Segmentation, {asked.size} bytes, {asked.testbed}\n")
    print(_heading("kind"))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.runs):
            for kind, more in kinds.items():
                trial = _run(asked, str(Path(folder, "store.sqlite")), more)
                found[kind].append(trial)
                print(_row(kind, [count(trial) for count in _COUNTERS.values()]), flush=True)
    print(f"\n{_heading('medians of')}")
    for kind, trials in found.items():
        rates = [trial.metrics["received_messages_per_s"] for trial in trials]
        middle = statistics.median(rates)
        slow = [trial for trial, rate in zip(trials, rates, strict=True) if rate < middle / 2]
        others = [trial for trial in trials if trial not in slow]
        for name, some in ((f"{kind}, {len(slow)} slow", slow), (f"{kind}, others", others)):
            if some:
                medians = [statistics.median(map(count, some)) for count in _COUNTERS.values()]
                print(_row(name, medians))
    return 0


if __name__ == "__main__":
    sys.exit(main())
