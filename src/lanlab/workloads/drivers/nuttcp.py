"""nuttcp (http://nuttcp.net): streams. Options and output as of 6.1.2."""

from __future__ import annotations

import re

from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, rate_bps, required

_KIB = 1024
_MIB = 2**20


class Nuttcp(Driver):
    """The client receives the receiver's figures and prints those of both ends (`-vv`)."""

    name = "nuttcp"
    how_to_get = "apt install nuttcp"
    stream = Abilities(
        # nuttcp's UDP header takes 5 bytes; TCP writes of 1 byte work.
        sizes={"udp": (5, 65_507), "tcp": (1, 2**20)},
        takes=frozenset({"rate_bps", "rate_messages_per_s", "nodelay"}),
        whole_seconds=False,
        buffers="apart",
        most_flows=128,
    )
    ports = 129
    version_arguments = ("-V",)

    def problem(self, workload: str, parameters: Measured) -> str | None:
        """See `Driver.problem`; buffers are in KiB."""
        for key in ("send_buffer_bytes", "receive_buffer_bytes"):
            value = getattr(parameters, key)
            if value is not None and value % _KIB:
                return f"tool `nuttcp`: found {key} {value}; allowed: multiples of {_KIB}"
        return super().problem(workload, parameters)

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, path = parameters, self.path("nuttcp")
        version = f"-{p.ip_version}"
        client = [path, version, f"-P{place.port}", f"-p{place.port + 1}", "-fparse", "-vv"]
        client += [f"-l{p.message_size_bytes}", f"-T{p.time_s:g}", f"-N{p.flows}"]
        if p.transport == "udp":
            client.append("-u")
        elif p.nodelay:
            client.append("-D")
        rate = rate_bps(p)
        # Rate of all flows together, kbit/s; 0 means unlimited.
        client.append("-R0" if rate is None else f"-R{rate / 1e3:g}")
        if p.send_buffer_bytes is not None:
            client.append(f"-w{p.send_buffer_bytes // _KIB}")
        if p.receive_buffer_bytes is not None:
            client.append(f"-ws{p.receive_buffer_bytes // _KIB}")
        client.append(place.target_address)
        # Without a fork, the process that lanlab starts is the one that receives.
        server = [path, version, "-S", "-1", "--nofork", f"-P{place.port}"]
        return Commands(server, client, ("tcp", place.port))

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        size, text = parameters.message_size_bytes, client.text
        sent, received = (
            required(
                rf"^nuttcp-{end}: megabytes=([\d.]+) real_seconds.* rate_Mbps=([\d.]+)", text, end
            )
            for end in ("t", "r")
        )
        lost: int | None = None
        if parameters.transport == "udp":
            drops = required(r"^nuttcp-r: drop=(-?\d+) pkt=(\d+)", text, "nuttcp")
            lost = int(drops[1])
            # The number of packets that the sender reports.
            sent_messages, received_messages = int(drops[2]), int(drops[2]) - lost
        else:
            sent_messages, received_messages = (
                round(float(each[1]) * _MIB / size) for each in (sent, received)
            )
        counts = StreamCounts(
            goodput_bps=1e6 * float(received[2]),
            sent_messages=sent_messages,
            received_messages=received_messages,
            lost_messages=lost,
            sent_bps=1e6 * float(sent[2]),
        )
        metrics = counts.metrics(size, client, server)
        again = re.search(r"^nuttcp-t: retrans=(\d+)", text, re.MULTILINE)
        if again is not None:
            metrics["retransmitted_segments"] = int(again[1])
        return metrics
