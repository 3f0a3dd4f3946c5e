"""qperf (https://github.com/linux-rdma/qperf): streams, mean round trips. As of 0.4.11."""

from __future__ import annotations

import re
import signal

from lanlab.errors import RunError
from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, echo_cpu

_VALUE = re.compile(r"^ +(\w+) += +([\d.]+) *(\S*)", re.MULTILINE)


class Qperf(Driver):
    """
    The client receives the totals of both ends. A latency is half a round trip, and only a mean.
    """

    name = "qperf"
    how_to_get = "apt install qperf"
    stream = echo = Abilities(buffers="alike")

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, path = parameters, self.path("qperf")
        client = [path, place.target_address, "-lp", str(place.port), "-ip", str(place.port + 1)]
        # Full precision, in bytes and nanoseconds, with the counts of both ends.
        client += ["-e", "9", "-uu", "-vvs", "-vvt"]
        client += ["-t", str(int(p.time_s)), "-m", str(p.message_size_bytes)]
        if p.send_buffer_bytes is not None:
            client += ["-sb", str(p.send_buffer_bytes)]
        client.append(f"{p.transport}_{'lat' if workload == 'echo' else 'bw'}")
        server = [path, "-lp", str(place.port)]
        return Commands(server, client, ("tcp", place.port), signal.SIGTERM)

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        values = {key: float(value) for key, value, _ in _VALUE.findall(client.text)}
        try:
            if workload == "echo":
                return _echo(values, client, server)
            return _stream(parameters, values, client, server)
        except KeyError as missing:
            raise RunError(f"`qperf` wrote no {missing}: {client.text.strip()[-200:]}") from None


def _stream(
    parameters: Measured, values: dict[str, float], client: Output, server: Output
) -> Metrics:
    udp = parameters.transport == "udp"
    sent, received = int(values["send_msgs"]), int(values["recv_msgs"])
    counts = StreamCounts(
        goodput_bps=8 * values["recv_bw" if udp else "bw"],
        sent_messages=sent,
        received_messages=received,
        # Totals: data in flight at the end counts as lost.
        lost_messages=max(0, sent - received) if udp else None,
        sent_bps=8 * values["send_bw"] if udp else None,
    )
    return counts.metrics(parameters.message_size_bytes, client, server)


def _echo(values: dict[str, float], client: Output, server: Output) -> Metrics:
    metrics: Metrics = {
        "requests": int(values["loc_send_msgs"]),
        "replies": int(values["loc_recv_msgs"]),
        "rtt_mean_ns": 2 * values["latency"],
        "replies_per_s": 1e9 * values["loc_recv_msgs"] / values["loc_real_time"],
    }
    return metrics | echo_cpu(client, server)
