"""
How long measurements by ssh take beside what they measure, and how late a sender starts.

    .venv/bin/python bench/ssh_times.py > ssh-times.md

Hosts are network namespaces with real OpenSSH servers, on a LAN whose round trip takes 1 ms: a
switch of lanlab's own medium, which ssh and what is measured share. It takes root.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/support"))

from ssh_hosts import SshLan, ssh_lan

_STREAM_S = 3.0
_TRIAL_S = 0.2
#: Most beside what is measured, seconds.
_BOUNDS = {"first time, with the copy": 4.0, "later": 1.5, "per trial of a study": 0.5}
#: Most between the time that both hosts were given to start and the start, milliseconds.
_SKEW = "start skew of two hosts"
_MOST_SKEW_MS = 1.0
_STUDY = """
schema = 1
id = "short-trials"
title = "Short trials"
[[experiment]]
id = "stream"
title = "Goodput"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { rate_bps = "1M" }
[scale.quick]
trials = { min = TRIALS, max = TRIALS, repeat_polluted = 0 }
parameters = { time_s = TIME, warmup_s = 0 }
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Times of measurements by ssh.")
    parser.add_argument("--repeats", type=int, default=5, help="of each single measurement (5)")
    parser.add_argument("--trials", type=int, default=100, help="of the study (100)")
    parser.add_argument("--link", default="100M:switch,delay=0.5ms", help="what ssh goes over")
    return parser.parse_args()


def _took_s(lan: SshLan, *argv: str) -> float:
    began = time.monotonic()
    code, _, said = lan.run(*argv)
    if code != 0:
        raise SystemExit(f"lanlab {' '.join(argv)}: {said}")
    return time.monotonic() - began


def _streams(lan: SshLan, repeats: int, before: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(repeats):
        before()
        found.append(_took_s(lan, "stream", "--to", "nas", "--time", f"{_STREAM_S:g}") - _STREAM_S)
    return found


def _study(lan: SshLan, folder: Path, trials: int) -> list[float]:
    file = folder / "short-trials.toml"
    file.write_text(_STUDY.replace("TRIALS", f"{trials}").replace("TIME", f"{_TRIAL_S}"))
    testbed = f"ssh:here,nas={lan.hosts[1].management}"
    took_s = _took_s(lan, "run", str(file), "--testbed", testbed)
    return [took_s / trials - _TRIAL_S]


def _skews_ms(lan: SshLan, trials: int) -> list[float]:
    """The controller is neither of the hosts. They have one clock: what the controller takes for
    their difference is an error, and part of the skew."""
    found = lan.measured(
        *("stream", *lan.ends(), "--messages", "50", "--message-rate", "1000"),
        *("--warmup", "0", "--trials", str(trials)),
    )
    return [abs(trial["start_skew_ns"]) / 1e6 for trial in found["trials"]]


def _row(kind: str, found: list[float], unit: str, bound: float) -> bool:
    """Print it; whether its bound holds."""
    median = round(statistics.median(found), 3)
    print(f"| {kind}, {unit} | {median:.3f} | {min(found):.3f} … {max(found):.3f} | {bound:g} |")
    return median <= bound


def main() -> int:
    """Print a table; 1 if a bound does not hold."""
    asked = _arguments()
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ssh_lan(folder, management_link=asked.link) as lan:
            nas = lan.hosts[1]
            names = iter(_BOUNDS)
            found[next(names)] = _streams(
                lan, asked.repeats, lambda: nas.run("sh", "-c", "rm -rf $HOME/.cache/lanlab")
            )
            found[next(names)] = _streams(lan, asked.repeats, lambda: None)
            found[next(names)] = _study(lan, folder, asked.trials)
            skews_ms = _skews_ms(lan, asked.trials)
    print(f"# Beside {_STREAM_S:g} s of `lanlab stream --to nas` over {asked.link}")
    print("\n| | median | least … most | at most |\n|---|---|---|---|")
    held = [_row(kind, took, "s", _BOUNDS[kind]) for kind, took in found.items()]
    held.append(_row(_SKEW, skews_ms, "ms", _MOST_SKEW_MS))
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
