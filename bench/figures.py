"""
Measure the figures of bench/results/performance.md on this machine and print them as Markdown.

    .venv/bin/python bench/figures.py > figures.md

Takes about seven minutes, less with `--only start-up,link,pacing`. Run it on a machine that does
nothing else: the virtual LAN, both hosts and the shaping of the link share its processors.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lanlab.analysis.links.limits import tcp_limit_bps, udp_limit_bps
from lanlab.cli.running.single import measure
from lanlab.engine import Engine, engine_path
from lanlab.store import Level, TrialRecord

TRIALS = 5
PACING_TRIALS = 3


def _median_ms(run: Any, times: int = 21) -> tuple[float, float]:
    """Median and greatest time of `run`, milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        taken.append(1e3 * (time.perf_counter() - began))
    return statistics.median(taken), max(taken)


def _start_engine() -> None:
    # Until the first message has been read and understood; ending it is not part of it.
    engine = Engine("local", [engine_path()])
    _engines.append(engine)


_engines: list[Engine] = []


def _help() -> None:
    lanlab = Path(sysconfig.get_path("scripts"), "lanlab")
    subprocess.run([str(lanlab), "--help"], check=True, capture_output=True)


def start_up() -> None:
    """Time until the engine speaks, and of `lanlab --help`."""
    print("| what | median | greatest of 21 | bound |\n|---|---|---|---|")
    middle, worst = _median_ms(_start_engine)
    print(f"| engine start to first message | {middle:.1f} ms | {worst:.1f} ms | 20 ms |")
    for engine in _engines:
        engine.close()
    middle, worst = _median_ms(_help)
    print(f"| `lanlab --help` | {middle:.0f} ms | {worst:.0f} ms | 300 ms |\n")


def _trials(
    link: str, parameters: Mapping[str, Level | None], trials: int, store: str
) -> list[TrialRecord]:
    _, records = measure(
        "stream", parameters, trials=trials, testbed="virtual", link=link, seed=1, store=store
    )
    return [record for record in records if record.status == "done"]


def link_limits(store: str) -> None:
    """Goodput on shaped links beside what Ethernet can carry."""
    print("| link | condition | theory, Mbit/s | measured, mean of 5 | deviation | worst trial |")
    print("|---|---|---|---|---|---|")
    for link, rate_bps in (("10M", 10e6), ("100M", 100e6)):
        for ip_version in (4, 6):
            conditions = [("udp", 500), ("udp", 1408), ("tcp", 131_072)]
            for transport, size in conditions:
                limit = (
                    udp_limit_bps(rate_bps, size, ip_version)
                    if transport == "udp"
                    else tcp_limit_bps(rate_bps, ip_version)
                )
                parameters: dict[str, Level | None] = {
                    "transport": transport,
                    "ip_version": ip_version,
                    "message_size_bytes": size,
                    "time_s": 3.0,
                    "warmup_s": 0.5,
                    "io": "single",
                    "congestion_control": "cubic" if transport == "tcp" else None,
                }
                found = [
                    trial.metrics["goodput_bps"]
                    for trial in _trials(link, parameters, TRIALS, store)
                ]
                mean = statistics.fmean(found)
                worst = max(found, key=lambda value: abs(value - limit))
                print(
                    f"| {link} | {transport} IPv{ip_version} {size} B | {limit / 1e6:.4f} "
                    f"| {mean / 1e6:.4f} | {100 * (mean / limit - 1):+.2f} % "
                    f"| {100 * (worst / limit - 1):+.2f} % |",
                    flush=True,
                )
    print()


def _bins(trial: TrialRecord) -> list[int]:
    """Messages received in each 10 ms of the measured part."""
    bins: list[int] = trial.raw["receiver"]["intervals"]["messages"]
    return bins[50:550]


def _worst_second(bins: list[int], even: float) -> float:
    """Greatest deviation of any second from the even rate, as a share of it."""
    seconds = [sum(bins[first : first + 100]) for first in range(len(bins) - 99)]
    return max((count / even - 1 for count in seconds), key=abs)


def pacing(store: str) -> None:
    """Received rate in any second, and the greatest burst in 10 ms."""
    print(
        "| asked | size | worst second of each trial | mean | most in 10 ms: seen / even "
        "| group | late | lost | CPU s/s |\n|---|---|---|---|---|---|---|---|---|"
    )
    time_s = 5.0
    for rate_bps, size in (
        (10_000, 2),
        (100_000, 64),
        (1_000_000, 500),
        (5_000_000, 64),
        (5_000_000, 500),
        (10_000_000, 500),
        (100_000_000, 1408),
        (500_000_000, 1408),
        (1_000_000_000, 1408),
    ):
        parameters: dict[str, Level | None] = {
            "message_size_bytes": size,
            "rate_bps": rate_bps,
            "time_s": time_s,
            "warmup_s": 0.5,
            "interval_s": 0.01,
            "receive_buffer_bytes": 4_000_000,
        }
        trials = _trials("unshaped", parameters, PACING_TRIALS, store)
        even = rate_bps / 8 / size
        worst = [_worst_second(_bins(trial), even) for trial in trials]
        goodput_bps = statistics.fmean(trial.metrics["goodput_bps"] for trial in trials)
        late = sum(trial.metrics["late_messages"] for trial in trials)
        offered = sum(trial.metrics["offered_messages"] for trial in trials)
        lost = sum(trial.metrics["lost_messages"] for trial in trials)
        cpu_s = statistics.fmean(trial.metrics["sender_cpu_s"] for trial in trials) / time_s
        print(
            f"| {rate_bps / 1e6:g} Mbit/s | {size} B "
            f"| {', '.join(f'{100 * share:+.2f}' for share in worst)} % "
            f"| {100 * (goodput_bps / rate_bps - 1):+.3f} % "
            f"| {max(max(_bins(trial)) for trial in trials)} / {even / 100:.1f} "
            f"| {trials[0].raw['source']['burst_messages']} "
            f"| {late} of {offered} | {lost} | {cpu_s:.2f} |",
            flush=True,
        )
    print()


PARTS = {"start-up": "Start-up", "link": "Goodput on a shaped link", "pacing": "Pacing, unshaped"}


def main() -> int:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description="Measure lanlab's own performance.")
    parser.add_argument(
        "--only", metavar="PART,...", default=",".join(PARTS), help=f"of {', '.join(PARTS)}"
    )
    asked = parser.parse_args().only.split(",")
    if unknown := [part for part in asked if part not in PARTS]:
        parser.error(f"--only: found {', '.join(unknown)}; allowed: {', '.join(PARTS)}")
    today = datetime.datetime.now(datetime.UTC).date()
    print(f"{today}, Linux {platform.release()}, {os.cpu_count()} processors\n")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "store.sqlite"))
        for part in asked:
            print(f"### {PARTS[part]}\n", flush=True)
            if part == "start-up":
                start_up()
            elif part == "link":
                link_limits(store)
            else:
                pacing(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
