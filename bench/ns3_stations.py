"""
lanlab's simulator beside ns-3, on one scenario in one run.

    python bench/ns3_stations.py --stations 15 60 --seconds 100

Stations in a closed loop on a 10 Mbit/s bus send 750 bytes by UDP over IPv4 and get 64 bytes back
from a server that takes 2 ms and 1 µs for each byte. lanlab's request is the engine's `simulate`;
ns-3's program is `ns3_stations.cc`, built here with Debian's `libns3-dev` and g++. Figures are
processor time of the process, as other processes may share the machine. ns-3's bus has no
collisions, preambles and gaps; lanlab's has.

Needs `apt install libns3-dev g++`; without ns-3 it says so and ends with 3.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanlab.engine import engine_path

_SOURCE = Path(__file__).parent / "ns3_stations.cc"
_HEADER = Path("/usr/include/ns3/csma-module.h")
_LIBRARIES = ("core", "network", "csma", "internet")
_WARMUP_S = 1


@dataclass(frozen=True)
class Measured:
    """One run of a simulator."""

    replies_per_s: float
    virtual_s: float
    processor_s: float

    @property
    def speed(self) -> float:
        """Virtual seconds in a second of a processor."""
        return self.virtual_s / self.processor_s


def request(stations: int, seconds: int, seed: int) -> dict[str, Any]:
    """The scenario as a request to the engine."""
    server = {
        "receive_call": {"each_ns": 2_000_000, "per_byte_ps": 1_000_000},
        "queue_frames": 1000,
    }
    buffers = {"receive_buffer_bytes": 1 << 20, "send_buffer_bytes": 1 << 20}
    medium = {"topology": "bus", "rate_bps": 10_000_000, "propagation_ns": 2_500}
    work = {
        "workload": "echo",
        "ip_version": 4,
        "reply_size_bytes": 64,
        "spec": {
            "transport": "udp",
            "message_size_bytes": 750,
            "amount": {"time_ns": seconds * 1_000_000_000},
            # Longer than a whole queue of requests takes.
            "timeout_ns": 10_000_000_000,
            "warmup_ns": _WARMUP_S * 1_000_000_000,
            "silence_ns": 1_000_000_000,
        },
    }
    machines = [buffers] * stations + [server | buffers]
    return {
        "type": "simulate",
        "seed": seed,
        "world": {"medium": medium, "machines": machines},
        "work": work,
    }


def lanlab(stations: int, seconds: int, seed: int) -> Measured:
    """The scenario in lanlab's engine."""
    line = json.dumps({"id": 1, "request": request(stations, seconds, seed)})
    process = subprocess.Popen(
        [str(engine_path())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    for said in process.stdout:
        answer = json.loads(said)
        if answer["type"] in ("result", "error"):
            break
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    if answer["type"] == "error":
        raise SystemExit(f"error: {answer['message']}")
    outcomes = answer["result"]["outcomes"]
    replies = sum(each["replies"] for each in outcomes if each["kind"] == "echo_requested")
    virtual_s = answer["result"]["world"]["virtual_ns"] / 1e9
    return Measured(replies / seconds, virtual_s, usage.ru_utime + usage.ru_stime)


def build(folder: Path) -> Path:
    """ns-3's program."""
    program = folder / "ns3_stations"
    compiler = shutil.which("g++")
    if compiler is None or not _HEADER.exists():
        print("skipped: ns-3 or g++ is missing; apt install libns3-dev g++", file=sys.stderr)
        raise SystemExit(3)
    libraries = [f"-lns3-{name}" for name in _LIBRARIES]
    subprocess.run(
        [compiler, "-O2", "-std=c++17", str(_SOURCE), "-o", str(program), *libraries], check=True
    )
    return program


def ns3(program: Path, stations: int, seconds: int) -> Measured:
    """The scenario in ns-3."""
    said = subprocess.run(
        [str(program), str(stations), str(seconds)], check=True, capture_output=True, text=True
    ).stdout
    result = json.loads(said)
    return Measured(
        result["replies"] / result["measured_s"], result["virtual_s"], result["processor_s"]
    )


def main() -> int:
    """Run both in turn, and print the medians."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("--stations", type=int, nargs="+", default=[15], help="Numbers of stations.")
    asked.add_argument(
        "--seconds", type=int, default=100, help="Virtual seconds that are measured."
    )
    asked.add_argument("--rounds", type=int, default=5, help="Runs of each simulator.")
    options = asked.parse_args()
    print("stations  simulator  replies/s  virtual s/processor s  (least … most)")
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for stations in options.stations:
            ours, theirs = [], []
            for seed in range(options.rounds):
                ours.append(lanlab(stations, options.seconds, seed))
                theirs.append(ns3(program, stations, options.seconds))
            medians = []
            for name, runs in (("lanlab", ours), ("ns-3", theirs)):
                speeds = [run.speed for run in runs]
                medians.append(statistics.median(speeds))
                replies = statistics.median(run.replies_per_s for run in runs)
                print(
                    f"{stations:8}  {name:9}  {replies:9.1f}  {medians[-1]:21.0f}"
                    f"  ({min(speeds):.0f} … {max(speeds):.0f})"
                )
            print(f"{stations:8}  lanlab / ns-3: {medians[0] / medians[1]:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
