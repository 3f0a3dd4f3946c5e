"""
How true lanlab's own medium is: round trips, goodput, a hub's share and its counts, against theory,
the same medium on virtual time, tshark and iperf3.

    .venv/bin/python bench/medium.py [--parts idle,goodput,frame,few,tcp,hub,counts,scale]

Run it on a quiet machine: what others take of its processors is late frames here. `--precise` spins
before each deadline. `--awake` keeps the processors from sleeping: a virtual machine's take tens of
microseconds to wake, which a round trip waits for and no medium can help.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from awake import awake
from medium_lan import Lan, Watch

from lanlab.performers import metrics_of, perform_between
from lanlab.testbeds import medium, testbed
from lanlab.testbeds.tools import tool
from lanlab.workloads import CounterChanges, workload

_LEAD_S = 0.05
#: Preamble with start delimiter, header, check sequence; gap.
_FRAME_BYTES, _GAP_BYTES = 8 + 14 + 4, 12
_SHORTEST_BYTES = 72
_HEADERS = {4: 20, 6: 40}
_UDP_BYTES = 8
#: A header of 20 bytes and time stamps of 12.
_TCP_BYTES = 32
_PROPAGATION_NS = 500


def wire_bytes(packet_bytes: int) -> int:
    """What an IP packet takes on the wire, without the gap."""
    return max(_SHORTEST_BYTES, packet_bytes + _FRAME_BYTES)


def trial(lan: Lan, name: str, ip_version: int, **parameters: object) -> dict[str, float]:
    """The figures of one trial from the first host to the second."""
    kind = workload(name)
    chosen: Any = kind.Parameters.model_validate({"ip_version": ip_version, **parameters})
    source, target = lan.ends(ip_version)
    exchange = perform_between(kind, chosen, source, target, _LEAD_S)
    if exchange.error is not None:
        raise exchange.error
    return {**metrics_of(kind, chosen, exchange, CounterChanges())}


def idle(asked: argparse.Namespace) -> None:
    """Round trips one at a time: how much longer than on the wire and by the same interfaces."""
    print(
        "\n| link | bytes | p50, µs | wire and interfaces, µs | beyond, µs |\n" + "|---" * 5 + "|"
    )
    rates = (None, 10_000_000, 100_000_000)
    lans = {rate: Lan(2, rate, precise=asked.precise) for rate in rates}
    try:
        sizes = (64, 512, 1472)
        times: dict[tuple[int | None, int], list[float]] = {}
        for _ in range(asked.runs):
            for size in sizes:
                for rate, lan in lans.items():
                    figures = trial(lan, "echo", 4, message_size_bytes=size,
                                    time_s=0.5, receive="block")  # fmt: skip
                    times.setdefault((rate, size), []).append(figures["rtt_p50_ns"])
        for rate in rates[1:]:
            assert rate is not None
            for size in sizes:
                frame = wire_bytes(size + _HEADERS[4] + _UDP_BYTES)
                wire_ns = 2 * (frame * 8e9 / rate + _PROPAGATION_NS)
                # Blocks: what the machine does at the time is in both.
                pairs = zip(times[rate, size], times[None, size], strict=True)
                beyond = statistics.median(with_rate - wire_ns - base for with_rate, base in pairs)
                p50 = statistics.median(times[rate, size])
                print(
                    f"| {rate // 10**6}M | {size} | {p50 / 1e3:.1f} | {(p50 - beyond) / 1e3:.1f} "
                    f"| {beyond / 1e3:.1f} |"
                )
        for rate in rates[1:]:
            report(f"{rate} idle", lans[rate])
    finally:
        for lan in lans.values():
            lan.close()


def report(what: str, lan: Lan) -> None:
    """How late the medium was since it was last asked, and what it took of a processor."""
    read = lan.read()
    late = read["lateness"]
    frames = max(1, sum(port["frames"] for port in read["ports"]))
    print(
        f"{what}: late p50 {late['p50_ns'] / 1e3:.1f} µs, p99 {late['p99_ns'] / 1e3:.1f} µs, "
        f"longest {late['longest_ns'] / 1e3:.0f} µs, too late {late['late_deliveries']} of "
        f"{late['deliveries']}; processor {(read['cpu_ns'] - read['spun_ns']) / frames / 1e3:.2f} "
        f"µs a frame, and {read['spun_ns'] / frames / 1e3:.2f} µs waiting; queue drops "
        f"{lan.interface_drops()}"
    )


def goodput(asked: argparse.Namespace) -> None:
    """UDP as fast as it goes, against the wire's arithmetic."""
    print("\n| link | IP | bytes | Mbit/s | theory | ratio | lost |\n|---|---|---|---|---|---|---|")
    for rate in (10_000_000, 100_000_000):
        for ip_version in (4, 6):
            for size in (18, 500, 1472 if ip_version == 4 else 1452):
                lan = Lan(2, rate, precise=asked.precise)
                try:
                    got = [
                        trial(lan, "stream", ip_version, message_size_bytes=size, time_s=2.0)
                        for _ in range(asked.runs)
                    ]
                    frame = wire_bytes(size + _HEADERS[ip_version] + _UDP_BYTES) + _GAP_BYTES
                    theory = rate * size / frame
                    measured = statistics.median(each["goodput_bps"] for each in got)
                    lost = sum(each["lost_messages"] for each in got)
                    print(
                        f"| {rate // 10**6}M | {ip_version} | {size} | {measured / 1e6:.4f} | "
                        f"{theory / 1e6:.4f} | {measured / theory:.4f} | {lost:.0f} |"
                    )
                    report(f"{rate} {ip_version} {size}", lan)
                finally:
                    lan.close()


def frame(asked: argparse.Namespace) -> None:
    """What a frame takes of a processor where frames are many, and how many system calls."""
    frame_costs(asked, 100_000_000, [{"message_size_bytes": 18}])


def few(asked: argparse.Namespace) -> None:
    """The same where frames are few."""
    ways = [{"message_size_bytes": 500, "rate_messages_per_s": n} for n in (100, 200, 400, 800)]
    frame_costs(asked, 10_000_000, ways)


def frame_costs(asked: argparse.Namespace, rate: int, ways: list[dict[str, int]]) -> None:
    """A line for each way to send."""
    print(
        "\n| frames/s | processor, µs a frame | waiting | in the kernel | reads a frame | "
        "writes a frame | late p50, p99, µs |\n" + "|---" * 7 + "|"
    )
    lan = Lan(2, rate, precise=asked.precise)
    try:
        # What happens once is not a frame's.
        trial(lan, "stream", 4, **ways[0], time_s=0.5)
        for way in ways * asked.runs:
            before, thread = lan.read(), lan.thread()
            trial(lan, "stream", 4, **way, time_s=3.0)
            after, then = lan.read(), lan.thread()
            frames = sum(
                late["frames"] - early["frames"]
                for early, late in zip(before["ports"], after["ports"], strict=True)
            )
            spun_us = (after["spun_ns"] - before["spun_ns"]) / frames / 1e3
            cpu_us = (after["cpu_ns"] - before["cpu_ns"]) / frames / 1e3
            system = (then.system_ticks - thread.system_ticks) / (then.ticks - thread.ticks)
            late = after["lateness"]
            print(
                f"| {way.get('rate_messages_per_s', 'most')} | {cpu_us - spun_us:.2f} | "
                f"{spun_us:.2f} | {system:.0%} | "
                f"{(then.reads - thread.reads) / frames:.3f} | "
                f"{(then.writes - thread.writes) / frames:.3f} | "
                f"{late['p50_ns'] / 1e3:.1f}, {late['p99_ns'] / 1e3:.0f} |"
            )
    finally:
        lan.close()


def tcp(asked: argparse.Namespace) -> None:
    """The kernel's TCP in bulk, by lanlab and by iperf3."""
    print("\n| link | IP | lanlab, Mbit/s | iperf3 | theory | ratio |\n|---|---|---|---|---|---|")
    for rate in (10_000_000, 100_000_000):
        for ip_version in (4, 6):
            lan = Lan(2, rate, precise=asked.precise)
            try:
                got = [
                    trial(lan, "stream", ip_version, transport="tcp", time_s=4.0, warmup_s=1.0,
                          message_size_bytes=131_072)["goodput_bps"]
                    for _ in range(asked.runs)
                ]  # fmt: skip
                payload = 1500 - _HEADERS[ip_version] - _TCP_BYTES
                theory = rate * payload / (1500 + _FRAME_BYTES + _GAP_BYTES)
                measured = statistics.median(got)
                print(
                    f"| {rate // 10**6}M | {ip_version} | {measured / 1e6:.4f} | "
                    f"{iperf3(lan, ip_version) / 1e6:.4f} | {theory / 1e6:.4f} | "
                    f"{measured / theory:.4f} |"
                )
                report(f"{rate} TCP", lan)
            finally:
                lan.close()


def iperf3(lan: Lan, ip_version: int) -> float:
    """Goodput by iperf3, bit/s at its receiver."""
    server = subprocess.Popen(
        [*lan.prefix(1), tool("iperf3"), "-s", "-1", "-B", lan.address(1, ip_version)],
        stdout=subprocess.DEVNULL,
    )
    # It does not say when it listens.
    time.sleep(0.5)
    done = subprocess.run(
        [*lan.prefix(0), tool("iperf3"), "-J", "-c", lan.address(1, ip_version),
         "-t", "4", "-O", "1"],
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    server.wait(10)
    return float(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"])


_FLOOD = """
import socket, sys, time
size, to, begin, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("0.0.0.0", 9))
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
message = bytes(size)
time.sleep(max(0.0, begin - time.monotonic()))
while time.monotonic() < begin + seconds:
    peer.sendto(message, (to, 9))
"""


def hub(asked: argparse.Namespace) -> None:
    """Hosts that always have a frame, against the same hub on virtual time."""
    print("\n| hosts | frame, bytes | utilisation | on virtual time | ratio |\n" + "|---" * 5 + "|")
    for hosts in (2, 5, 15):
        for payload in (466, 1472):
            frame = payload + 46
            seconds, warmup = 12.0, 2.0
            lan = Lan(hosts, 10_000_000, topology="hub", precise=asked.precise)
            try:
                begin = time.monotonic() + 0.5 + 0.1 * hosts
                senders = [
                    subprocess.Popen(
                        [*lan.prefix(i), sys.executable, "-c", _FLOOD, str(payload),
                         lan.address((i + 1) % hosts, 4), str(begin), str(seconds)]
                    )
                    for i in range(hosts)
                ]  # fmt: skip
                # Queues and the senders' rates settle first.
                time.sleep(max(0.0, begin + warmup - time.monotonic()))
                before, then = lan.read(), time.monotonic()
                time.sleep(seconds - warmup - 0.5)
                after, now = lan.read(), time.monotonic()
                for sender in senders:
                    sender.wait(30)
                delivered = sum(
                    late["delivered_copies"] - early["delivered_copies"]
                    for early, late in zip(before["ports"], after["ports"], strict=True)
                )
                measured = delivered * frame * 8 / 10e6 / (now - then)
                virtual = lan.saturated_on_virtual_time(hosts, frame)
                cpu_s = (after["cpu_ns"] - before["cpu_ns"]) / 1e9
                spun_s = (after["spun_ns"] - before["spun_ns"]) / 1e9
                late_p99_us = after["lateness"]["p99_ns"] / 1e3
                print(
                    f"| {hosts} | {frame} | {measured:.4f} | {virtual:.4f} | "
                    f"{measured / virtual:.4f} |\n  processor {cpu_s / (now - then):.2f}, of it "
                    f"waiting {spun_s / (now - then):.2f}; late p99 {late_p99_us:.1f} µs"
                )
            finally:
                lan.close()


def counts(asked: argparse.Namespace) -> None:
    """Frames by the medium, by the hosts' kernels and by tshark at both ends."""
    lan = Lan(2, 10_000_000, precise=asked.precise, loss_ratio=0.02)
    try:
        judges = lan.watch(0, 1)
        # What tshark counts has no warm-up.
        figures = trial(lan, "stream", 4, message_size_bytes=500, time_s=3.0, warmup_s=0.0)
        with ThreadPoolExecutor() as pool:
            seen = list(pool.map(Watch.end, judges))
        port = lan.read()["ports"][0]
        offered, delivered = port["offered_copies"], port["delivered_copies"]
        sent = figures["sent_messages"]
        print(
            f"\nsent {sent:.0f} messages; tshark at the sender {seen[0]} frames of them, at the "
            f"receiver {seen[1]}; medium: offered {offered}, delivered {delivered}, lost by chance "
            f"{port['lost_chance']}, on their way {port['in_flight_copies']}; received "
            f"{figures['received_messages']:.0f}, lost {figures['lost_messages']:.0f}"
        )
        assert offered == delivered + port["lost_chance"] + port["in_flight_copies"]
    finally:
        lan.close()


def scale(_: argparse.Namespace) -> None:
    """How long many hosts take to be made, looked at and removed."""

    def look(bed: Any) -> None:
        bed.counters()
        bed.damage()

    def timed(do: Callable[[], Any]) -> tuple[float, Any]:
        begin = time.monotonic()
        made = do()
        return time.monotonic() - begin, made

    print("\n| link | hosts | made, s | looked at, s | removed, s |\n|---|---|---|---|---|")
    for link in ("10M:hub", "100M:switch", "unshaped:switch"):
        for hosts in (2, 15, 64, 256):
            made_s, bed = timed(functools.partial(testbed, "virtual", hosts, link))
            # As before and after each trial.
            looked_s, _ = timed(functools.partial(look, bed))
            removed_s, _ = timed(bed.close)
            print(f"| {link} | {hosts} | {made_s:.2f} | {looked_s:.3f} | {removed_s:.2f} |")


_PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "idle": idle,
    "goodput": goodput,
    "frame": frame,
    "few": few,
    "tcp": tcp,
    "hub": hub,
    "counts": counts,
    "scale": scale,
}


def main() -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description="How true lanlab's own medium is.")
    parser.add_argument("--parts", default=",".join(_PARTS), help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--runs", type=int, default=5, help="how often each (5)")
    parser.add_argument("--precise", action="store_true", help="spin before each deadline")
    parser.add_argument("--awake", action="store_true", help="keep the processors from sleeping")
    parser.add_argument(
        "--packet-sockets", action="store_true", help="as where /dev/net/tun cannot be opened"
    )
    asked = parser.parse_args()
    parts = asked.parts.split(",")
    for part in parts:
        if part not in _PARTS:
            parser.error(f"--parts: found `{part}`; allowed: {', '.join(_PARTS)}")
    if asked.packet_sockets:
        medium.TUN_DEVICE = Path("/dev/no-such-device")
    with awake() if asked.awake else nullcontext():
        for part in parts:
            _PARTS[part](asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
