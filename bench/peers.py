"""
Measure lanlab and every other tool that is found, in one run, and print tables of ratios.

    .venv/bin/python bench/peers.py > peers.md

All cells of all tools, over a veth pair and over the loopback of one host (both in network
namespaces of its own), over IPv4 and IPv6: one block has every one of them once, in random order;
there are as many blocks as `--runs`. The client of every tool is bound to processor 0, the server
to processor 1. `--quick` is for seeing that it works; for figures use a machine that does nothing
else. Peers that are not found are named; they are looked for on PATH.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import shlex
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peer_cells import CELLS, Cell, Contender, buffer_limits, contenders
from peer_sites import Site, sites
from peer_tables import Measured, median, tables

from lanlab import __version__
from lanlab.errors import LabError
from lanlab.performers import metrics_of, perform_between
from lanlab.workloads import CounterChanges, workload
from lanlab.workloads.drivers.registry import driver_needs

_LEAD_S = 0.05


@dataclass(frozen=True)
class Task:
    """One trial to be run."""

    site: Site
    ip_version: int
    cell: Cell
    contender: Contender


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="lanlab and its peers, side by side.")
    parser.add_argument("--quick", action="store_true", help="1 run of 1 s: does it work?")
    parser.add_argument("--only", metavar="CELL,...", help=f"of {', '.join(CELLS)}")
    parser.add_argument("--sites", default="veth,loopback", help="veth, loopback")
    parser.add_argument("--ip", default="4,6", help="4, 6")
    parser.add_argument("--runs", type=int, default=7, help="how often each (7)")
    parser.add_argument("--seconds", type=int, default=2, help="how long each (2)")
    parser.add_argument("--seed", type=int, default=None, help="of the order; drawn if not given")
    parser.add_argument("--json", metavar="FILE", help="every trial, for programs")
    asked = parser.parse_args()
    if asked.quick:
        asked.runs, asked.seconds = 1, 1
    for name, known in (("only", CELLS), ("sites", ("veth", "loopback")), ("ip", ("4", "6"))):
        given = getattr(asked, name)
        names = list(known) if given is None else given.split(",")
        for each in names:
            if each not in known:
                parser.error(f"--{name}: found `{each}`; allowed: {', '.join(known)}")
        setattr(asked, name, names)
    if asked.seed is None:
        asked.seed = random.SystemRandom().randrange(2**32)
    return asked


def _tasks(
    asked: argparse.Namespace, here: dict[str, Site], drivers: list[str]
) -> tuple[list[Task], dict[str, list[str]]]:
    tasks: list[Task] = []
    refused: dict[str, list[str]] = {}
    for site in asked.sites:
        for ip_version in map(int, asked.ip):
            for name in asked.only:
                cell = CELLS[name]
                if cell.kind == "queue" and site == "loopback":
                    continue  # Nothing is queued before a loopback.
                able, cannot = contenders(cell, ip_version, asked.seconds, drivers)
                tasks += [Task(here[site], ip_version, cell, each) for each in able]
                for who, why in cannot.items():
                    refused.setdefault(f"{who}: {why}", []).append(f"{site} {name}")
    return tasks, refused


def _run(task: Task) -> dict[str, float]:
    """One trial's figures.

    Raises:
        LabError: It failed.
    """
    parameters: Any = task.contender.parameters
    kind = workload(task.cell.workload)
    source, target = task.site.ends(task.ip_version)
    beside: dict[str, float] = {}
    size = parameters.message_size_bytes

    def trial() -> dict[str, float | int]:
        exchange = perform_between(kind, parameters, source, target, _LEAD_S)
        if exchange.error is not None:
            raise exchange.error
        return metrics_of(kind, parameters, exchange, CounterChanges())

    if task.cell.kind == "pacing":
        with task.site.watched(size, 1e9 / parameters.rate_messages_per_s) as seen:
            metrics = trial()
        beside = dict(seen)
    elif task.cell.kind == "queue":
        with task.site.narrow(size, parameters.rate_messages_per_s, task.ip_version) as counts:
            metrics = trial()
        beside["queue_loss_ratio"] = counts["drops"] / (counts["packets"] + counts["drops"])
    else:
        metrics = trial()
    return {**metrics, **_derived(metrics, size, parameters.time_s), **beside}


def _derived(metrics: dict[str, float | int], size: int, time_s: float) -> dict[str, float]:
    """Figures of both ends together, from what every tool tells."""
    derived: dict[str, float] = {}
    if metrics.get("goodput_bps"):
        per_s = metrics["goodput_bps"] / 8 / size
        derived["messages_per_s"] = per_s
        messages = metrics.get("received_messages", per_s * time_s)
        cpu_s = metrics["sender_cpu_s"] + metrics["receiver_cpu_s"]
        derived["cpu_ns_per_message"] = 1e9 * cpu_s / messages
        derived["cpu_s_per_gb"] = 1e9 * cpu_s / (messages * size)
        derived["sender_cpu_ratio"] = metrics["sender_cpu_s"] / time_s
    return derived


def _measure(asked: argparse.Namespace, tasks: list[Task]) -> tuple[list[Measured], list[Any]]:
    order = random.Random(asked.seed)
    done: list[Measured] = []
    log: list[Any] = []
    began, total = time.monotonic(), asked.runs * len(tasks)
    for block in range(asked.runs):
        for task in order.sample(tasks, len(tasks)):
            load = os.getloadavg()[0]
            record: dict[str, Any] = {
                "block": block,
                "site": task.site.name,
                "ip_version": task.ip_version,
                "cell": task.cell.name,
                "label": task.contender.label,
                "load": load,
            }
            try:
                figures = _run(task)
            except LabError as error:
                record["error"] = error.message
            else:
                measured = Measured(
                    block,
                    task.site.name,
                    task.ip_version,
                    task.cell.name,
                    task.contender.label,
                    figures,
                )
                done.append(measured)
                record["metrics"] = figures
            log.append(record)
            if sys.stderr.isatty() or len(log) % 50 == 0 or "error" in record:
                left = (time.monotonic() - began) / len(log) * (total - len(log))
                what = f"{record['site']} IPv{record['ip_version']} {record['cell']}"
                who = record["label"] + (f": {record['error']}" if "error" in record else "")
                progress = f"{len(log)}/{total}, left {left / 60:.0f} min"
                print(f"{progress}; {what}, {who}", file=sys.stderr, flush=True)
    return done, log


def _machine() -> str:
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return f"{os.cpu_count()} processors ({model}), {pages * size / 2**30:.0f} GiB"


def main() -> int:
    """Print the tables."""
    asked = _arguments()
    found = driver_needs()
    drivers = [need.name for need in found if need.found]
    with sites() as here:
        tasks, refused = _tasks(asked, here, drivers)
        trials, log = _measure(asked, tasks)
        control = here["veth"].congestion_control
    if asked.json:
        settings = {key: value for key, value in vars(asked).items() if key != "json"}
        text = json.dumps({"asked": settings, "peers": [asdict(n) for n in found], "trials": log})
        Path(asked.json).write_text(text + "\n")
    print("# lanlab and its peers\n")
    print(f"    {shlex.join(['python', *sys.argv])}   # seed {asked.seed}\n")
    print(f"{datetime.datetime.now(datetime.UTC).date()}, {_machine()}, Linux {platform.release()}")
    loads = [record["load"] for record in log]
    print(f"Load before each trial: median {median(loads):.2f}, greatest {max(loads):.2f}.")
    print(
        "Warm-up left out: lanlab 0.2 s, iperf3 1 s, round trips of sockperf 0.4 s; others: none."
    )
    print(f"{asked.runs} runs of {asked.seconds} s each. {buffer_limits()}.")
    print(f"TCP: cubic; {control} of tools without an option for it.\n")
    if control != "cubic":
        allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
        names = " ".join(dict.fromkeys([*allowed, "cubic"]))
        print(
            f"To have cubic everywhere: sysctl -w net.ipv4.tcp_allowed_congestion_control='{names}'"
        )
        print("before the run.\n")
    print("| tool | version |\n|---|---|")
    print(f"| lanlab | {__version__} |")
    for need in found:
        print(f"| {need.name} | {need.detail if need.found else f'missing: {need.how_to_get}'} |")
    for line in tables(trials):
        print(line)
    failed = [record for record in log if "error" in record]
    if failed:
        print(f"\n{len(failed)} of {len(log)} trials failed:\n")
        for record in failed:
            print(f"- {record['site']}, {record['cell']}, {record['label']}: {record['error']}")
    if refused:
        print("\nWhat a tool cannot measure:\n")
        for why, where in refused.items():
            print(f"- {why} ({', '.join(dict.fromkeys(where))})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
