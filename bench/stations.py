"""
Measure what `lanlab stations` itself costs and how far it goes, beside the load generators that
people use where these are installed.

    .venv/bin/python bench/stations.py > stations.md

Its parts (`--parts cost,scale,local,smb`; all but `point`, unless told):

* cost: against memory of the engine itself, which answers at once. What an operation takes of a
  processor then is the price of measuring it, and of copying its octets and comparing them, which
  stands beside it as this machine's C library does it; its response time and, in an open loop, how
  late it begins are the errors of every response time.
* scale: many stations at embedded servers, all in one engine, on `--threads`: peak memory of that
  engine, skew of the start, errors before it and after.
* local: blocks of local files, a thread a station, with fio and elbencho at the same block size,
  file size, number of stations and sync, in random order, as many times as `--runs`.
* smb: reads of 750 octets at a Samba server, beside echoes by smbtorture, which do no work with a
  file.
* point: a published point of 90 trials, as `lanlab run` has it, beside the time in which its
  stations were at work. Once, whatever `--runs` says: it takes ten minutes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import random
import sys
from pathlib import Path
from typing import Any

import station_peers
import station_point
import station_smb
from memory_speed import copy_and_compare_ns
from station_trials import ends, median, trial

from lanlab import __version__
from lanlab.errors import LabError

_PARTS = ("cost", "scale", "local", "smb", "point")
#: Of each station of `cost`, octets.
_FILE_BYTES = 60_000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What lanlab stations costs, and how far it goes.")
    parser.add_argument("--parts", default=",".join(_PARTS[:-1]), help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--runs", type=int, default=5, help="how often each (5)")
    parser.add_argument("--time", type=float, default=2.0, help="of a trial, seconds (2)")
    parser.add_argument("--scales", default="1000,10000", help="numbers of stations of `scale`")
    parser.add_argument("--services", default="memory,nfs,ftp,smb", help="those of `scale`")
    parser.add_argument(
        "--only", default="", help="cells of `local` that begin so, as in read-6000"
    )
    parser.add_argument("--threads", type=int, default=None, help="of `scale` (lanlab's choice)")
    asked = parser.parse_args()
    wrong = [part for part in asked.parts.split(",") if part not in _PARTS]
    if wrong:
        parser.error(f"--parts: found `{wrong[0]}`; allowed: {', '.join(_PARTS)}")
    return asked


def _cost(runs: int, time_s: float) -> None:
    print("## Cost of an operation\n")
    print(
        f"Against memory, one thread; medians of {runs} trials. `octets alone`: copying and, where"
    )
    print("compared or filled, once more, by the C library; `harness`: what is left of the CPU.\n")
    print("| operation | octets | stations | compared | CPU | octets alone | harness |", end="")
    print(" response p50 | p99 | op/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cells = [
        (operation, size, stations, verify)
        for operation in ("read", "write")
        for size, stations in ((750, 1), (750, 15), (6000, 15), (30_000, 15), (750, 1000))
        for verify in ((True, False) if operation == "read" else (True,))
    ]
    found: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
    for _ in range(runs):
        for cell in random.sample(cells, len(cells)):
            operation, size, stations, verify = cell
            with ends() as both:
                metrics, told = trial(
                    both,
                    service="memory",
                    operation=operation,
                    stations=stations,
                    message_size_bytes=size,
                    file_size_bytes=_FILE_BYTES,
                    verify=verify,
                    threads=1,
                    time_s=time_s,
                )
            cpu_ns = (told["cpu"]["user_ns"] + told["cpu"]["system_ns"]) / told["readings_count"]
            values = (cpu_ns, metrics["response_p50_ns"], metrics["response_p99_ns"])
            found.setdefault(cell, []).append((*values, metrics["operations_per_s"]))
    for cell in cells:
        cpu, p50, p99, rate = (median(run[i] for run in found[cell]) for i in range(4))
        operation, size, stations, verify = cell
        copy_ns, compare_ns = copy_and_compare_ns(size, stations * _FILE_BYTES)
        # A write is filled, which is a copy, and copied by the service.
        second_ns = copy_ns if operation == "write" else compare_ns if verify else 0.0
        alone = copy_ns + second_ns
        texts = [operation, str(size), str(stations), "yes" if verify else "no"]
        texts += [f"{value:,.0f} ns" for value in (cpu, alone, cpu - alone, p50, p99)]
        print(f"| {' | '.join(texts)} | {rate:,.0f} |")
    print("\nOpen loop against memory, Poisson, 4 stations: by how much operations began late.\n")
    print("| rate | p50 | p99 |\n|---|---|---|")
    for rate in (100, 1000, 5000):
        late = []
        for _ in range(runs):
            with ends() as both:
                _, told = trial(
                    both,
                    service="memory",
                    stations=4,
                    loop="open",
                    time_s=time_s,
                    rate_operations_per_s=rate,
                    message_size_bytes=750,
                    threads=1,
                )
            late.append(told["own_lateness"])
        p50, p99 = (median([one[name] for one in late]) / 1e3 for name in ("p50_ns", "p99_ns"))
        print(f"| {rate}/s | {p50:.1f} µs | {p99:.1f} µs |")
    print()


def _scale(services: list[str], scales: list[int], runs: int, threads: int | None) -> None:
    print("## Many stations\n")
    on = "as many threads as lanlab chooses" if threads is None else f"{threads} threads"
    print(f"Reads of 750 octets at embedded servers, {on};")
    print(f"the worst of {runs} trials, and all rates.\n")
    print("| service | stations | peak memory | start skew | connecting |", end="")
    print(" refused before | errors | op/s |")
    print("|---|---|---|---|---|---|---|---|")
    for service in services:
        for stations in scales:
            print(_scale_line(service, stations, runs, threads), flush=True)
    print()


def _scale_line(service: str, stations: int, runs: int, threads: int | None) -> str:
    found: list[dict[str, float]] = []
    for _ in range(runs):
        with ends() as both:
            try:
                metrics, told = trial(
                    both,
                    service=service,
                    stations=stations,
                    server_medium="tmpfs",
                    message_size_bytes=750,
                    file_size_bytes=7500,
                    threads=threads,
                    readings_per_station=20,
                )
            except LabError as error:
                return f"| {service} | {stations:,} | {error.message} | | | | | |"
            memory = _peak_bytes(both[0].engine.pid)
        found.append(
            {
                "memory": memory / 1e6,
                "skew": metrics["start_skew_ns"] / 1e6,
                "setup": told["setup"]["elapsed_ns"] / 1e9,
                "refused": metrics["setup_errors"],
                "errors": metrics["errors"],
                "rate": metrics.get("operations_per_s", 0.0),
            }
        )
    worst = {name: max(one[name] for one in found) for name in found[0]}
    return (
        f"| {service} | {stations:,} | {worst['memory']:,.0f} MB | {worst['skew']:.1f} ms "
        f"| {worst['setup']:.1f} s | {worst['refused']:.0f} | {worst['errors']:.0f} "
        f"| {', '.join(format(one['rate'], ',.0f') for one in found)} |"
    )


def _peak_bytes(pid: int) -> int:
    """The most memory that a process has had (proc(5))."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    """Measure, and print tables."""
    asked = _arguments()
    parts = asked.parts.split(",")
    today = datetime.date.today().isoformat()
    print(f"# What stations cost, and how far they go\n\nlanlab {__version__}, {today}, ", end="")
    print(f"{os.cpu_count()} processors, {platform.system()} {platform.release()}\n")
    if "cost" in parts:
        _cost(asked.runs, asked.time)
    if "scale" in parts:
        scales = [int(number) for number in asked.scales.split(",")]
        _scale(asked.services.split(","), scales, max(1, asked.runs // 2), asked.threads)
    tables = {
        "local": lambda: station_peers.measured(asked.runs, asked.time, asked.only),
        "smb": lambda: station_smb.measured(asked.runs, asked.time),
        "point": station_point.measured,
    }
    for part, measured in tables.items():
        if part in parts:
            for line in measured():
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
