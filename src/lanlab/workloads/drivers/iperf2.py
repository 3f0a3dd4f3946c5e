"""iperf 2 (https://sourceforge.net/projects/iperf2/): streams. Options and output as of 2.1.8."""

from __future__ import annotations

import re
import signal

from lanlab.errors import RunError
from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, last_line, rate_bps

#: More UDP than any machine sends, for trials without a rate: iperf 2 refuses 0.
_ALL_THERE_IS = "1000g"

#: One flow's summary: interval, bytes, bit/s, and for a UDP server lost and total.
_FLOW = re.compile(
    r"^\[ *\d+\] +(?P<begin>[\d.]+)-(?P<end>[\d.]+) sec "
    r"+(?P<bytes>\d+) Bytes +(?P<bps>\d+) bits/sec"
    r"(?: +[\d.]+ ms +(?P<lost>\d+)/(?P<total>\d+) \()?"
)
_OUT_OF_ORDER = re.compile(r"^\[ *\d+\] +[\d.]+-[\d.]+ sec +(\d+) datagrams received out-of-order")


class Iperf2(Driver):
    """The receiver's figures are the server's own output, not its report to the client."""

    name = "iperf2"
    how_to_get = "apt install iperf"
    stream = Abilities(
        # Shorter datagrams cannot hold the header of iperf 2, which fails on them.
        sizes={"udp": (16, 65_507), "tcp": (1, 2**20)},
        takes=frozenset({"rate_bps", "rate_messages_per_s", "nodelay", "congestion_control"}),
        whole_seconds=False,
        buffers="apart",
        most_flows=128,
    )

    def programs(self, workload: str, transport: str) -> tuple[str, ...]:
        return ("iperf",)

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, path = parameters, self.path("iperf")
        common = ["-p", str(place.port), "-l", str(p.message_size_bytes), "-e", "-f", "b"]
        if p.ip_version == 6:
            common.append("-V")
        if p.transport == "udp":
            common.append("-u")
        if p.congestion_control is not None:
            common += ["-Z", p.congestion_control]
        client = [path, "-c", place.target_address, *common, "-B", place.source_address]
        client += ["-t", f"{p.time_s:g}", "-P", str(p.flows)]
        rate = rate_bps(p)
        if rate is not None:
            client += ["-b", str(max(1, round(rate / p.flows)))]
        elif p.transport == "udp":
            client += ["-b", _ALL_THERE_IS]
        if p.nodelay and p.transport == "tcp":
            client.append("-N")
        server = [path, "-s", *common, "-B", place.target_address]
        if p.send_buffer_bytes is not None:
            client += ["-w", str(p.send_buffer_bytes)]
        if p.receive_buffer_bytes is not None:
            server += ["-w", str(p.receive_buffer_bytes)]
        if p.transport == "tcp":
            # The read size stays at iperf 2's default.
            at = server.index("-l")
            del server[at : at + 2]
        return Commands(server, client, (p.transport, place.port), signal.SIGINT)

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        size = parameters.message_size_bytes
        # The server's report to the client follows this line.
        own = client.text.partition("Server Report")[0]
        sent, received = _flows(own, "client"), _flows(server.text, "server")
        sent_bytes = sum(int(flow["bytes"]) for flow in sent)
        received_bytes = sum(int(flow["bytes"]) for flow in received)
        lost = [int(flow["lost"]) for flow in received if flow["lost"] is not None]
        counts = StreamCounts(
            goodput_bps=sum(float(flow["bps"]) for flow in received),
            sent_messages=sent_bytes // size,
            received_messages=received_bytes // size,
            lost_messages=sum(lost) if parameters.transport == "udp" and lost else None,
            sent_bps=sum(float(flow["bps"]) for flow in sent),
        )
        metrics = counts.metrics(size, client, server)
        if parameters.transport == "udp":
            reordered = [_OUT_OF_ORDER.match(line) for line in server.text.splitlines()]
            metrics["reordered_messages"] = sum(int(each[1]) for each in reordered if each)
        return metrics


def _flows(text: str, end: str) -> list[re.Match[str]]:
    found = [match for line in text.splitlines() if (match := _FLOW.match(line))]
    if not found:
        raise RunError(f"`iperf2 {end}` printed no summary; its last output: {last_line(text)}")
    return found
