"""
Measure 10,000 stations on 8 nodes of a Ray cluster, which are processes of this machine.

    .venv/bin/python bench/ray_stations.py > ray_stations.md

One node has lanlab's embedded server, and the stations are spread over the other seven. So all of
them share this machine: the figures say that lanlab goes so far, not how fast a network is. An
embedded server takes one descriptor of a file for a station by NFS, two by SMB, three by FTP:
`ulimit -Hn` says how many a process may have.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from ray_nodes import ray_cluster

from lanlab import __version__
from lanlab.performers import Hosts
from lanlab.performers.engines import EnginePerformer
from lanlab.testbeds import testbed
from lanlab.workloads import WORKLOADS, CounterChanges


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Stations on the nodes of a Ray cluster.")
    parser.add_argument("--nodes", type=int, default=8, help="one serves, the others work (8)")
    parser.add_argument("--stations", type=int, default=10_000, help="of all nodes (10000)")
    parser.add_argument("--services", default="nfs", help="as in nfs,smb (nfs)")
    parser.add_argument("--readings", type=int, default=20, help="of each station (20)")
    return parser.parse_args()


def _line(hosts: Hosts, lead_s: float, asked: argparse.Namespace, service: str) -> str:
    kind = WORKLOADS["stations"]
    parameters = kind.Parameters.model_validate(
        {
            "service": service,
            "stations": asked.stations,
            "server_medium": "tmpfs",
            "message_size_bytes": 750,
            "file_size_bytes": 7500,
            "readings_per_station": asked.readings,
        }
    )
    began = time.monotonic()
    outcome = EnginePerformer(hosts.engine_hosts, lead_s).perform(kind, parameters, None)
    elapsed_s = time.monotonic() - began
    if outcome.error is not None:
        return f"| {service} | {asked.stations:,} | {outcome.error.message} | | | | | |"
    metrics = kind.summarise(parameters, outcome, CounterChanges())
    start: dict[str, Any] = outcome.setup["start"]
    return (
        f"| {service} | {asked.stations:,} | {metrics['operations_per_s']:,.0f} "
        f"| {metrics['response_p50_ns'] / 1e6:.1f} ms | {metrics['errors']:.0f} "
        f"| {metrics['start_skew_ns'] / 1e6:.1f} ms "
        f"| {min(start['margins_ns']) / 1e6:.0f} of {start['lead_s'] * 1e3:.0f} ms "
        f"| {elapsed_s:.0f} s |"
    )


def main() -> int:
    """Measure, and print a table."""
    asked = _arguments()
    today = datetime.date.today().isoformat()
    print(
        f"# Stations on {asked.nodes} nodes of a Ray cluster\n\nlanlab {__version__}, {today}, ",
        end="",
    )
    print(f"{os.cpu_count()} processors, {platform.system()} {platform.release()}, ", end="")
    print(f"load {os.getloadavg()[0]:.1f} before\n")
    with ray_cluster(*(f"127.0.0.{2 + node}" for node in range(asked.nodes))) as cluster:
        os.environ.update(cluster.environment)
        began = time.monotonic()
        with testbed(f"ray:{cluster.address}", asked.nodes) as bed:
            hosts = Hosts(bed)
            try:
                print(f"Engines on all nodes after {time.monotonic() - began:.1f} s.\n")
                print("| service | stations | op/s | response p50 | errors ", end="")
                print("| start skew | least margin of the start | trial, all in |")
                print("|---|---|---|---|---|---|---|---|", flush=True)
                for service in asked.services.split(","):
                    print(_line(hosts, bed.start_lead_s, asked, service), flush=True)
            finally:
                hosts.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
