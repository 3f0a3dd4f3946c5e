"""
The same stream and echo on both clocks: real time over lanlab's own medium, and virtual time.

    python bench/both_clocks.py --seconds 3 --runs 5

Real time: two network namespaces on a cable of 10 Mbit/s that lanlab's medium carries, with the
kernel's own UDP and TCP (without time stamps). Virtual time: the engine's `simulate` with two
machines. Compared are the median of the runs' goodput, and the median of the runs' median round
trips.

What a frame costs a machine is measured before, on a condition that is not compared: the round trip
of 256 bytes by UDP over IPv4 on the same cable, less the time on the wire. Half of it is a frame's
cost, half of that for sending and half for receiving. So sizes, IPv6 and TCP are predicted.

While round trips are measured, idle work keeps the processors awake (`awake.py`): machines of the
simulator do not sleep, and how long a sleeping processor takes to wake depends on how long it has
slept. `--asleep` leaves that out. `--least` takes the least round trips everywhere, which other
processes disturb less: for a machine that is not quiet.

Both senders hand over one message in a call. What lanlab's medium can carry on this machine is not
modelled: it is measured for each stream of UDP where frames take no time, and a wire that needs
more than four fifths of it is not compared, as its figure would be the machine's. `late` is the
share of frames that the medium delivered too late.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from awake import awake
from medium import trial
from medium_lan import Lan

from lanlab.engine import Engine, engine_path

_RATE_BPS = 10_000_000
_PROPAGATION_NS = 500
_WARMUP_S = 0.5
_BUFFER_BYTES = 212_992
_KERNEL_WINDOW_BYTES = 131_072
#: A wire is compared if it needs no more than this share of what the medium carries without it.
_MOST_LOAD_RATIO = 0.8
#: On which a frame's cost is measured: none of the cases. The rate is theirs: a host that waits
#: longer for the wire takes longer to wake.
_CALIBRATED: dict[str, Any] = {"message_size_bytes": 256}
#: Kind, IP version, and parameters as the workload of lanlab knows them.
_CASES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("stream", 4, {"message_size_bytes": 128}),
    ("stream", 4, {"message_size_bytes": 500}),
    ("stream", 4, {"message_size_bytes": 1408}),
    ("stream", 6, {"message_size_bytes": 1408}),
    ("stream", 4, {"message_size_bytes": 500, "rate_bps": 2_000_000}),
    ("stream", 4, {"message_size_bytes": 1408, "transport": "tcp"}),
    ("stream", 6, {"message_size_bytes": 1408, "transport": "tcp"}),
    ("echo", 4, {"message_size_bytes": 64}),
    ("echo", 4, {"message_size_bytes": 1408}),
    ("echo", 6, {"message_size_bytes": 384}),
    ("echo", 4, {"message_size_bytes": 64, "transport": "tcp"}),
)


def simulated(
    engine: Engine,
    kind: str,
    ip_version: int,
    asked: dict[str, Any],
    cost_ns: int,
) -> float:
    """Goodput in bit/s, or the median round trip in s."""
    parameters = dict(asked)
    time_ns, warmup_ns = (int(1e9 * parameters.pop(key)) for key in ("time_s", "warmup_s"))
    rate = parameters.pop("rate_bps", None)
    spec = {
        "transport": "udp",
        "amount": {"time_ns": time_ns},
        "warmup_ns": warmup_ns,
        "silence_ns": 1_000_000_000,
        **parameters,
    }
    if kind == "stream":
        spec |= {"flows": 1, "io": "single", "interval_ns": 1_000_000_000}
        spec["rate"] = None if rate is None else {"bps": rate}
    else:
        spec["timeout_ns"] = 1_000_000_000
    work = {"workload": kind, "ip_version": ip_version, "spec": spec}
    machine = {
        "interrupt": {"each_ns": cost_ns // 2},
        "transmit": {"each_ns": cost_ns - cost_ns // 2},
        "queue_frames": 1000,
        "ring_frames": 1000,
        "receive_buffer_bytes": _BUFFER_BYTES,
        "send_buffer_bytes": _BUFFER_BYTES,
        "tcp": {
            "window_bytes": _KERNEL_WINDOW_BYTES,
            "delayed_ack_ns": 40_000_000,
            "nagle": kind == "stream",
        },
    }
    medium = {"topology": "cable", "rate_bps": _RATE_BPS, "propagation_ns": _PROPAGATION_NS}
    world = {"medium": medium, "machines": [machine, machine]}
    request = {"type": "simulate", "seed": 1, "world": world, "work": work}
    outcomes = engine.start(request).result(120.0)["outcomes"]
    if kind == "echo":
        return float(outcomes[0]["round_trip"]["p50_ns"]) / 1e9
    received = outcomes[1]
    return float(received["window_bytes"] * 8e9 / received["window_ns"])


def measured(
    kind: str,
    ip_version: int,
    rate_bps: int | None,
    runs: int,
    asked: dict[str, Any],
    statistic: str = "p50",
) -> tuple[list[float], float]:
    """The same in real time, run by run, and the share of frames that were delivered too late."""
    figure: Callable[[dict[str, float]], float] = (
        (lambda got: got[f"rtt_{statistic}_ns"] / 1e9)
        if kind == "echo"
        else (lambda got: got["goodput_bps"])
    )
    lan = Lan(2, rate_bps, precise=True)
    try:
        for host in (0, 1):
            # The stack's TCP has no time stamps: 12 bytes fewer in each segment.
            command = [*lan.prefix(host), "sysctl", "-q", "-w", "net.ipv4.tcp_timestamps=0"]
            subprocess.run(command, check=True)
        if kind == "stream" and asked.get("transport") != "tcp":
            asked = asked | {"io": "single"}
        lan.read()
        figures = [figure(trial(lan, kind, ip_version, **asked)) for _ in range(runs)]
        late = lan.read()["lateness"]
        return figures, late["late_deliveries"] / max(1, late["deliveries"])
    finally:
        lan.close()


def frame_cost_ns(
    engine: Engine,
    runs: int,
    times: dict[str, float],
    keep: Callable[[], Any],
    typical: Callable[[list[float]], float],
    statistic: str,
) -> int:
    """What a frame costs both ends together, by round trips of another size than the compared."""
    asked = _CALIBRATED | times
    with keep():
        real, late_ratio = measured("echo", 4, _RATE_BPS, runs, asked, statistic)
    wire = simulated(engine, "echo", 4, asked, 0)
    cost_ns = int(1e9 * (typical(real) - wire) / 2)
    print(
        f"cost of a frame, both ends together: {cost_ns / 1000:.1f} µs, by round trips of "
        f"{asked['message_size_bytes']} bytes: {typical(real) * 1e6:.1f} "
        f"({min(real) * 1e6:.1f} … {max(real) * 1e6:.1f}) µs, of them {wire * 1e6:.1f} µs on the "
        f"wire; late {100 * late_ratio:.2g} %\n"
    )
    return max(0, cost_ns)


def main() -> int:
    """Measure and simulate each case, and print both."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    options.add_argument("--seconds", type=float, default=3.0, help="Measured time of each run.")
    options.add_argument("--runs", type=int, default=5, help="Runs in real time.")
    options.add_argument("--kind", choices=("stream", "echo"), help="Only these cases.")
    options.add_argument("--asleep", action="store_true", help="Let processors sleep.")
    options.add_argument("--least", action="store_true", help="Of echo the least round trips.")
    asked = options.parse_args()
    times = {"time_s": asked.seconds, "warmup_s": _WARMUP_S}
    keep: Callable[[], Any] = nullcontext if asked.asleep else awake
    statistic, typical = ("min", min) if asked.least else ("p50", statistics.median)
    print(
        f"load average before: {os.getloadavg()[0]:.1f}, processors: {os.cpu_count()}, of echo "
        f"{'left to sleep' if asked.asleep else 'kept awake'}"
    )
    worst, left_out = 0.0, 0
    engine = Engine("virtual", [str(engine_path())])
    try:
        cost_ns = frame_cost_ns(engine, asked.runs, times, keep, typical, statistic)
        print(
            f"| case | IP | real: {'of echo least' if asked.least else 'median'} (least … most) "
            "of the runs | late | virtual | virtual/real |\n" + "|---" * 6 + "|"
        )
        for kind, ip_version, case in _CASES:
            if asked.kind not in (None, kind):
                continue
            parameters = case | times
            with keep() if kind == "echo" else nullcontext():
                runs, late_ratio = measured(
                    kind, ip_version, _RATE_BPS, asked.runs, parameters, statistic
                )
            virtual = simulated(engine, kind, ip_version, parameters, cost_ns)
            scale, unit = (1e6, "µs") if kind == "echo" else (1e-6, "Mbit/s")
            real = typical(runs) if kind == "echo" else statistics.median(runs)
            remark = ""
            if kind == "stream" and case.get("transport") != "tcp":
                unpaced = {key: one for key, one in parameters.items() if key != "rate_bps"}
                able = statistics.median(measured(kind, ip_version, None, asked.runs, unpaced)[0])
                if virtual > _MOST_LOAD_RATIO * able:
                    remark = f", not compared: the machine carries {able * 1e-6:.4g} Mbit/s"
                    left_out += 1
            if not remark:
                worst = max(worst, abs(virtual / real - 1))
            print(
                f"| {kind} {' '.join(str(value) for value in case.values())} | {ip_version} "
                f"| {real * scale:.4g} ({min(runs) * scale:.4g} … {max(runs) * scale:.4g}) {unit} "
                f"| {100 * late_ratio:.2g} % | {virtual * scale:.4g} {unit} "
                f"| {virtual / real:.4f}{remark} |",
                flush=True,
            )
    finally:
        engine.close()
    print(
        f"\nlargest difference: {100 * worst:.2f} %, without {left_out} cases that are not "
        f"compared; load average after: {os.getloadavg()[0]:.1f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
