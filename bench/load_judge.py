"""
`lanlab load` beside iperf3 and ping over one and the same virtual link.

    .venv/bin/python bench/load_judge.py --blocks 8 > load-judge.md

In each block, in random order: an echo of lanlab alone and beside lanlab's streams, and ping alone
and beside iperf3's. A request and an ICMP echo have the same length on the wire. Both say by how
much the median round trip grows; the exit code says whether zero lies within the 95 % interval of
the difference between both, paired by block, or that difference is below one frame's time. It takes
`iperf3` and `ping`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, metrics_of, perform_between
from lanlab.testbeds.base import Testbed
from lanlab.testbeds.link import parse_link
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.shaping import FULL_FRAME_WIRE_BYTES
from lanlab.workloads import WORKLOADS, CounterChanges, Progress

WARMUP_S = 2.0
_PAUSE_S, _LEAD_S = 0.5, 0.1
_MESSAGE_BYTES, _ECHO_BYTES = 1448, 64
_RTT = re.compile(r"time=([0-9.]+) ms")
_FIRST_PORT = 5201
#: iperf3 waits until a socket is writable, which is when less than half of its buffer is in use.
#: The kernel doubles this to 425,984 bytes, of which iperf3 fills half: lanlab's default, 212,992.
_WINDOW = "212992"


@dataclass(frozen=True)
class Seen:
    """Round trips of one trial, ms, and what the streams carried, Mbit/s."""

    median_ms: float
    p99_ms: float
    goodput_mbps: float | None = None


def main() -> int:
    """Measure, print a table, and judge."""
    asked = _arguments()
    for need in ("iperf3", "ping"):
        if shutil.which(need) is None:
            print(f"needs {need}, not found on PATH", file=sys.stderr)
            return 2
    ways: dict[str, Callable[[Testbed, list[Engine]], Seen]] = {
        "lanlab alone": lambda bed, engines: lanlab_trial(bed, engines, asked, "none"),
        "lanlab loaded": lambda bed, engines: lanlab_trial(bed, engines, asked, "up"),
        "ping beside iperf3 alone": lambda bed, _: ping(bed, asked.time),
        "ping beside iperf3 loaded": lambda bed, _: _ping_beside_iperf3(bed, asked),
    }
    seen = in_blocks(asked, tuple(ways), lambda way, *where: {way: ways[way](*where)})
    heading = f"Link {asked.link}, {asked.transport}, {asked.flows} flows, {asked.blocks} blocks."
    return judge(seen, "ping beside iperf3", heading, asked.link)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="lanlab load beside iperf3 and ping.")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--link", default="10M:cable+tbf")
    parser.add_argument("--transport", choices=("udp", "tcp"), default="udp")
    parser.add_argument("--rate", type=int, default=14_000_000, help="of UDP, bit/s")
    parser.add_argument("--congestion-control", default="cubic", help="of TCP (cubic)")
    parser.add_argument("--flows", type=int, default=4)
    parser.add_argument("--time", type=float, default=4.0, help="of each trial, seconds")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def in_blocks(
    asked: argparse.Namespace,
    ways: Sequence[str],
    measured: Callable[[str, Testbed, list[Engine]], Mapping[str, Seen]],
) -> dict[str, list[Seen]]:
    """
    What was seen in blocks, in each of which every way has one turn, in an order that is drawn.

    Args:
        asked: With `blocks`, `link` and `seed`.
        ways: To measure.
        measured: Gives what one turn of a way saw, by the names that `judge` knows.
    """
    chance = random.Random(asked.seed)
    seen: dict[str, list[Seen]] = {}
    with open_testbed("virtual", 2, asked.link) as bed:
        engines = [Engine(h.name, [*h.command_prefix, engine_path()]) for h in bed.hosts]
        try:
            for _ in range(asked.blocks):
                for way in chance.sample(ways, len(ways)):
                    for name, found in measured(way, bed, engines).items():
                        seen.setdefault(name, []).append(found)
                    # The queue on the link is empty before the next one begins.
                    time.sleep(_PAUSE_S)
        finally:
            for engine in engines:
                engine.close()
    return seen


def lanlab_trial(
    bed: Testbed,
    engines: list[Engine],
    asked: argparse.Namespace,
    load: str,
    on_progress: Callable[[Progress], None] | None = None,
    **more: Any,
) -> Seen:
    """One trial of lanlab; `more` are parameters in place of those of this bench."""
    kind = WORKLOADS["load"]
    given: dict[str, Any] = {
        "load": load,
        "transport": asked.transport,
        "flows": asked.flows,
        "message_size_bytes": _MESSAGE_BYTES,
        "time_s": asked.time,
        "warmup_s": WARMUP_S,
        "echo_size_bytes": _ECHO_BYTES,
        **more,
    }
    if asked.transport == "udp":
        given["rate_bps"] = asked.rate
    else:
        given["congestion_control"] = asked.congestion_control
    parameters = kind.Parameters.model_validate(given)
    ends = [
        EngineHost(engine, host.addresses["ipv4"], engine.describe()["boot_id"])
        for engine, host in zip(engines, bed.hosts, strict=True)
    ]
    outcome = perform_between(kind, parameters, ends[0], ends[1], _LEAD_S, on_progress)
    if outcome.error is not None:
        raise outcome.error
    found = metrics_of(kind, parameters, outcome, CounterChanges())
    # Of both directions together, where both are loaded.
    goodputs = [found[key] for key in ("goodput_bps", "reverse_goodput_bps") if key in found]
    return Seen(
        found["rtt_p50_ns"] / 1e6,
        found["rtt_p99_ns"] / 1e6,
        sum(goodputs) / 1e6 if goodputs else None,
    )


def ping(bed: Testbed, time_s: float, payload_bytes: int = _ECHO_BYTES) -> Seen:
    """A hundred a second at most, as lanlab's echo. It ends after its time, not after a number of
    requests: ping sends as few as thirty a second, and the others would outlast the streams."""
    first, second = bed.hosts
    seconds = str(math.ceil(time_s))
    # As long as the UDP header and payload of lanlab's: ICMP's header is of 8 bytes as well.
    options = ["-n", "-i", "0.01", "-w", seconds, "-s", str(payload_bytes)]
    done = subprocess.run(
        [*first.command_prefix, "ping", *options, second.addresses["ipv4"]],
        capture_output=True,
        text=True,
        timeout=time_s + 30,
        check=False,
    )
    times = list(map(float, _RTT.findall(done.stdout)))
    if not times:
        raise SystemExit(f"ping: {done.stdout}{done.stderr}")
    return seen_of(times)


def seen_of(times_ms: list[float], goodput_mbps: float | None = None) -> Seen:
    """Median and 99th percentile of round trips, one or more."""
    times = sorted(times_ms)
    p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
    return Seen(statistics.median(times), p99, goodput_mbps)


def _ping_beside_iperf3(bed: Testbed, asked: argparse.Namespace) -> Seen:
    """An iperf3 for each flow: one with several sends in turn, and a flow that waits for room in
    its socket holds the others back, so that the queue stays shorter."""
    first, second = bed.hosts
    processes: list[subprocess.Popen[str]] = []
    options = ["-t", str(round(asked.time + WARMUP_S + 2)), "-l", str(_MESSAGE_BYTES), "-J"]
    if asked.transport == "udp":
        options += ["-u", "-b", str(asked.rate // asked.flows), "-w", _WINDOW]
    else:
        options += ["-C", asked.congestion_control]
    ports = [str(_FIRST_PORT + flow) for flow in range(asked.flows)]
    try:
        for port in ports:
            listen = ["iperf3", "-s", "-1", "--forceflush", "-p", port]
            processes.append(_started([*second.command_prefix, *listen]))
            told = processes[-1].stdout
            assert told is not None
            # It listens once it has said so.
            while "listening" not in (line := told.readline()):
                if not line:
                    raise SystemExit(f"iperf3 does not listen on port {port}")
        clients = []
        for port in ports:
            send = ["iperf3", "-c", second.addresses["ipv4"], "-p", port, *options]
            clients.append(_started([*first.command_prefix, *send]))
        processes += clients
        # The streams fill the queue, as those of lanlab do in their warm-up.
        time.sleep(WARMUP_S)
        seen = ping(bed, asked.time)
        said = [client.communicate(timeout=asked.time + 60)[0] for client in clients]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
    carried = sum(map(_carried_bps, said))
    return Seen(seen.median_ms, seen.p99_ms, carried / 1e6)


def _started(argv: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def _carried_bps(said: str) -> float:
    """What one iperf3 has delivered; of UDP it tells the sender's rate and the loss."""
    end = json.loads(said)["end"]
    if "sum_received" in end:
        return float(end["sum_received"]["bits_per_second"])
    total = end["sum"]
    return float(total["bits_per_second"] * (1 - total["lost_percent"] / 100))


def judge(seen: dict[str, list[Seen]], peer: str, heading: str, link: str) -> int:
    """
    Print what both saw, and whether they agree.

    Args:
        seen: By `lanlab alone`, `lanlab loaded`, and the same of the peer; in each a trial a block.
        peer: How the table names the other.
        heading: Above the table.
        link: Whose frames say below which time no difference matters.

    Returns:
        0 where they agree, else 1.
    """
    print(f"{heading}\n")
    print("| | median alone, ms | median under load, ms | increase, ms, 95 % | goodput, Mbit/s |")
    print("|---|---|---|---|---|")
    grown: dict[str, list[float]] = {}
    for name in ("lanlab", peer):
        alone, loaded = seen[f"{name} alone"], seen[f"{name} loaded"]
        grown[name] = [b.median_ms - a.median_ms for a, b in zip(alone, loaded, strict=True)]
        goodputs = [one.goodput_mbps for one in loaded if one.goodput_mbps is not None]
        means = [statistics.mean(one.median_ms for one in each) for each in (alone, loaded)]
        print(
            f"| {name} | {means[0]:.2f} | {means[1]:.2f} | {_interval(grown[name])} | "
            f"{statistics.mean(goodputs):.2f} |"
        )
    differences = [a - b for a, b in zip(grown["lanlab"], grown[peer], strict=True)]
    found = mean_interval(differences)
    rate_bps = parse_link(link).rate_bps
    frame_ms = 8e3 * FULL_FRAME_WIRE_BYTES / rate_bps if rate_bps else 0.0
    agrees = found.low <= 0 <= found.high or abs(found.mean) < frame_ms
    print(f"\nlanlab's increase less that of {peer}: {_interval(differences)} ms")
    print("within both intervals" if agrees else "they differ")
    return int(not agrees)


def _interval(values: list[float]) -> str:
    found = mean_interval(values)
    return f"{found.mean:.2f} ({found.low:.2f} … {found.high:.2f})"


if __name__ == "__main__":
    raise SystemExit(main())
