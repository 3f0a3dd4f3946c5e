"""
The matrix of iperf3: a stock program as client of lanlab's server, and as server of its client.

    .venv/bin/python bench/iperf3_matrix.py                       # on a quiet machine, 4 minutes
    .venv/bin/python bench/iperf3_matrix.py --program ~/.cargo/bin/riperf3

TCP and UDP, up, down and both ways, 1 and 4 flows, over IPv4 and IPv6, on loopback, each flow at
20 Mbit/s. For each direction of a cell: what both ends counted, and the rates that they say. The
program's is from its own JSON; lanlab's is that of its metrics, or what its server said.
"""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from lanlab.engine import Engine, engine_path
from lanlab.errors import LabError
from lanlab.performers import EngineHost, metrics_of, perform_between
from lanlab.performers.peer_serving import WantedPeers, serving_peers
from lanlab.performers.program import Program, free_ports, wait_listening
from lanlab.workloads import WORKLOADS, CounterChanges

ADDRESSES = ("127.0.0.1", "::1")
OPTIONS = {"forward": (), "reverse": ("-R",), "both": ("--bidir",)}
RATE_BPS = 20_000_000
SIZES = {"tcp": 16_384, "udp": 1_000}
WITHIN_S = 30

#: Which way, and of each end bytes and bit/s: lanlab's, then the program's.
Found = tuple[str, tuple[int, float], tuple[int, float]]
_Json = Mapping[str, Any]


def _sums(end: _Json, way: str, direction: str) -> tuple[int, float]:
    """What a program says of one direction: bytes and bit/s of all flows."""
    key = f"sum_{way}{'_bidir_reverse' if direction == 'back' else ''}"
    return int(end[key]["bytes"]), float(end[key]["bits_per_second"])


def _of_flows(flows: Sequence[_Json]) -> tuple[int, float]:
    """What lanlab's server said of its flows."""
    return (
        sum(flow["bytes"] for flow in flows),
        sum(8 * flow["bytes"] / (flow["end_time"] - flow["start_time"]) for flow in flows),
    )


def as_server(
    program: str, address: str, transport: str, direction: str, flows: int, seconds: int
) -> Iterator[Found]:
    """A client of the program at lanlab's server."""
    clients: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    wanted = WantedPeers("iperf3", address, 0, 4, seconds + WITHIN_S, None)
    with serving_peers(wanted, clients.put) as server:
        argv = [program, "-c", address, "-p", str(server.port), "-J", "-t", str(seconds)]
        argv += ["-b", str(RATE_BPS), "-l", str(SIZES[transport]), "-P", str(flows)]
        argv += [*OPTIONS[direction], *(["-u"] if transport == "udp" else [])]
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + WITHIN_S)
        end = json.loads(ran.stdout)["end"]
        ours = clients.get(timeout=WITHIN_S)["said"]["streams"]
    if direction != "reverse":
        yield "up", _of_flows(ours[:flows]), _sums(end, "sent", "there")
    if direction != "forward":
        back = "back" if direction == "both" else "there"
        yield "down", _of_flows(ours[-flows:]), _sums(end, "received", back)


def as_client(
    program: str, address: str, transport: str, direction: str, flows: int, seconds: int
) -> Iterator[Found]:
    """Lanlab's client at a server of the program."""
    kind = WORKLOADS["stream"]
    ip_version = 6 if ":" in address else 4
    with ExitStack() as stack:
        engine = stack.enter_context(Engine("here", [engine_path()]))
        host = EngineHost(engine, address, engine.describe()["boot_id"])
        port = free_ports((), 1)
        server = Program(program, [program, "-s", "-1", "-J", "-B", address, "-p", str(port)])
        stack.callback(server.close)
        stack.callback(server.end)
        wait_listening(server, "tcp", port, WITHIN_S)
        host_in_url = f"[{address}]" if ip_version == 6 else address
        given = {
            "transport": transport,
            "ip_version": ip_version,
            "message_size_bytes": SIZES[transport],
            "rate_bps": RATE_BPS * flows,
            "flows": flows,
            "time_s": seconds,
            "warmup_s": 0,
            "traffic_direction": direction,
            "peer": f"iperf3://{host_in_url}:{port}",
        }
        condition = kind.Parameters.model_validate(given)
        outcome = perform_between(kind, condition, host, host, 0.05, None)
        if outcome.error is not None:
            raise outcome.error
        metrics = metrics_of(kind, condition, outcome, CounterChanges())
        server.wait(WITHIN_S)
        end = json.loads(server.output()[0])["end"]
    if direction != "reverse":
        sent_bytes, rate_bps = metrics["sent_messages"] * SIZES["udp"], metrics["sent_bps"]
        if transport == "tcp":
            sent_bytes, rate_bps = metrics["total_acknowledged_bytes"], metrics["acknowledged_bps"]
        # Without the time that lanlab waits at the end, which the program's own rate has in it.
        theirs = _sums(end, "received", "there")[0], float(metrics["peer_goodput_bps"])
        yield "up", (int(sent_bytes), rate_bps), theirs
    if direction != "forward":
        prefix = "reverse_" if direction == "both" else ""
        back = "back" if direction == "both" else "there"
        ours = int(metrics[f"{prefix}total_received_bytes"]), metrics[f"{prefix}goodput_bps"]
        yield "down", ours, _sums(end, "sent", back)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--program", default="iperf3", help="it, or what speaks its protocol")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--ip", default="4,6", help="4, 6")
    asked = parser.parse_args()
    program = shutil.which(asked.program)
    if program is None:
        sys.exit(f"need `{asked.program}`, not found")
    addresses = [ADDRESSES[ip == "6"] for ip in asked.ip.split(",")]
    worst = {"bytes": 0.0, "rate": 0.0}
    for side, run in (("client", as_client), ("server", as_server)):
        cells = itertools.product(addresses, SIZES, OPTIONS, (1, 4))
        for address, transport, direction, flows in cells:
            name = f"lanlab as {side}  {transport} {direction:>7} {flows} {address:>9}"
            try:
                found = list(run(program, address, transport, direction, flows, asked.seconds))
            except (LabError, KeyError, ValueError, queue.Empty) as error:
                print(f"{name}  failed: {type(error).__name__}: {error}", flush=True)
                continue
            for way, (our_bytes, our_bps), (their_bytes, their_bps) in found:
                rate = our_bps / their_bps
                worst["bytes"] = max(worst["bytes"], abs(our_bytes / their_bytes - 1))
                worst["rate"] = max(worst["rate"], abs(rate - 1))
                print(
                    f"{name}  {way:>4}  bytes {our_bytes:>12,} {their_bytes:>12,}  Mbit/s "
                    f"{our_bps / 1e6:8.3f} {their_bps / 1e6:8.3f}  ratio {rate:.4f}",
                    flush=True,
                )
    print(f"greatest differences: bytes {worst['bytes']:.3%}, rate {worst['rate']:.2%}")


if __name__ == "__main__":
    main()
