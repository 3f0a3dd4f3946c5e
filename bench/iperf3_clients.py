"""
What many iperf3 clients at once at lanlab's server come to, beside one, and beside one at iperf3's
own server: CPU time a byte, and how evenly they are served.

    .venv/bin/python bench/iperf3_clients.py --runs 3      # on a quiet machine, 2 minutes

Over loopback, TCP as fast as possible, to the server and from it, in turns. CPU time is that of the
whole engine, from its start to its end, and of both ends together: the kernel books the work of a
loopback on either end.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lanlab.performers.peer_serving import WantedPeers, serving_peers
from lanlab.workloads.stream.fairness import jain_index

ADDRESS = "127.0.0.1"
#: Beyond the time of the test, for all to connect and to end.
WITHIN_S = 60
WAYS = {"to": (), "from": ("-R",)}


@dataclass(frozen=True)
class Served:
    """What some clients at once came to."""

    server_cpu_ns_per_byte: float
    both_cpu_ns_per_byte: float
    rate_bps: float
    jain: float


def served(program: str, way: str, clients: int, seconds: int) -> Served:
    """
    Serve as many clients at once.

    Raises:
        RuntimeError: One was not served to its end.
    """
    ended: list[dict[str, Any]] = []
    before_s = ended_programs_cpu_s()
    wanted = WantedPeers("iperf3", ADDRESS, 0, clients, seconds + WITHIN_S, None)
    with serving_peers(wanted, ended.append) as server:
        argv = [program, "-c", ADDRESS, "-p", str(server.port), "-t", str(seconds), *WAYS[way]]
        running = [subprocess.Popen(argv, stdout=subprocess.DEVNULL) for _ in range(clients)]
        try:
            codes = [one.wait(seconds + WITHIN_S) for one in running]
        finally:
            for one in running:
                one.kill()
                one.wait()
        clients_cpu_ns = 1e9 * (ended_programs_cpu_s() - before_s)
    done = server.done
    key = "received_bytes" if way == "to" else "sent_bytes"
    moved = [client[key] for client in ended if client["error"] is None]
    if done is None or any(codes) or len(moved) != clients:
        raise RuntimeError(f"{len(moved)} of {clients} clients were served; exit codes {codes}")
    server_cpu_ns = done["engine_cpu_ns"]
    return Served(
        server_cpu_ns / done["moved_bytes"],
        (server_cpu_ns + clients_cpu_ns) / done["moved_bytes"],
        8 * sum(moved) / seconds,
        jain_index(moved),
    )


def served_by_iperf3(program: str, way: str, seconds: int) -> Served:
    """The same with one client at iperf3's own server."""
    with socket.create_server((ADDRESS, 0)) as free:
        port = str(free.getsockname()[1])
    before_s = ended_programs_cpu_s()
    listen = [program, "-s", "-1", "-B", ADDRESS, "-p", port, "--forceflush"]
    server = subprocess.Popen(listen, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        while "listening" not in (line := server.stdout.readline()):
            if not line:
                sys.exit(f"`{program}` ended before it listened on port {port}")
        argv = [program, "-c", ADDRESS, "-p", port, "-t", str(seconds), "-J", *WAYS[way]]
        done = subprocess.run(argv, check=True, capture_output=True, timeout=seconds + WITHIN_S)
    except BaseException:
        server.kill()
        raise
    # `wait` would not say what it used. Nothing else reads its few last lines.
    _, status, used = os.wait4(server.pid, 0)
    server.returncode = os.waitstatus_to_exitcode(status)
    server.stdout.close()
    moved = json.loads(done.stdout)["end"]["sum_received"]["bytes"]
    both_ns = 1e9 * (ended_programs_cpu_s() - before_s)
    own_ns = 1e9 * (used.ru_utime + used.ru_stime)
    return Served(own_ns / moved, both_ns / moved, 8 * moved / seconds, 1.0)


def ended_programs_cpu_s() -> float:
    """CPU time of the programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


COSTS: dict[str, Callable[[list[Served]], float]] = {
    "the server": lambda runs: statistics.median(run.server_cpu_ns_per_byte for run in runs),
    "both ends": lambda runs: statistics.median(run.both_cpu_ns_per_byte for run in runs),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--ways", default=",".join(WAYS))
    asked = parser.parse_args()
    program = shutil.which("iperf3")
    if program is None:
        sys.exit("need `iperf3`, not found on PATH")
    for way in asked.ways.split(","):
        found: dict[int, list[Served]] = {1: [], asked.clients: []}
        theirs: list[Served] = []
        for _ in range(asked.runs):
            theirs.append(served_by_iperf3(program, way, asked.seconds))
            for clients, runs in found.items():
                runs.append(served(program, way, clients, asked.seconds))
        rate_bps = statistics.median(run.rate_bps for run in theirs)
        costs = "; ".join(
            f"CPU of {end} {1000 * cost(theirs):6.1f} ps/B" for end, cost in COSTS.items()
        )
        print(f"{way:>4} iperf3's own server  {rate_bps / 1e9:6.2f} Gbit/s  {costs}", flush=True)
        for clients, runs in found.items():
            rate_bps = statistics.median(run.rate_bps for run in runs)
            least = min(run.jain for run in runs)
            costs = "; ".join(
                f"CPU of {end} {1000 * cost(found[clients]):6.1f} ps/B, "
                f"{cost(found[clients]) / cost(found[1]):.2f} times that of one"
                for end, cost in COSTS.items()
            )
            print(
                f"{way:>4} the server  {clients:>3} at once  {rate_bps / 1e9:6.2f} Gbit/s  "
                f"{costs}  Jain's index {least:.3f} at least",
                flush=True,
            )


if __name__ == "__main__":
    main()
