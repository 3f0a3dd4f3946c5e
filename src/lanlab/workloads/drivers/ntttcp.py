"""ntttcp for Linux (https://github.com/microsoft/ntttcp-for-linux): streams. As of 1.4.3."""

from __future__ import annotations

import signal

from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, required

_PREFIX = {"": 1e0, "K": 1e3, "M": 1e6, "G": 1e9}


class Ntttcp(Driver):
    """One thread and one connection, as in all drivers. Each end prints its own totals."""

    name = "ntttcp"
    how_to_get = "build it from https://github.com/microsoft/ntttcp-for-linux"
    stream = Abilities(takes=frozenset({"nodelay"}))
    version_arguments = ("-h",)

    def problem(self, workload: str, parameters: Measured) -> str | None:
        """See `Driver.problem`; it does not implement UDP over IPv6."""
        if parameters.transport == "udp" and parameters.ip_version == 6:
            return "tool `ntttcp`: found ip_version 6; allowed over udp: 4"
        return super().problem(workload, parameters)

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, path = parameters, self.path("ntttcp")
        # The control connection uses the port before the data port.
        common = ["-m", f"1,*,{place.target_address}", "-p", str(place.port + 1)]
        common += ["-t", str(int(p.time_s))]
        if p.ip_version == 6:
            common.append("-6")
        if p.transport == "udp":
            common.append("-u")
        elif p.nodelay:
            common.append("--no-delay")
        size = ["-b", str(p.message_size_bytes)]
        server = [path, "-r", *common, *(size if p.transport == "udp" else [])]
        client = [path, "-s", *common, *size, "-n", "1", "-l", "1", "-a", place.source_address]
        # Sometimes ntttcp has all results, and waits for its own reading thread forever.
        ended = "cpu busy (all)"
        return Commands(server, client, ("tcp", place.port), signal.SIGTERM, ended)

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        size = parameters.message_size_bytes
        (sent_bytes, sent_bps), (received_bytes, received_bps) = (
            _total(output.text, f"ntttcp {end}")
            for end, output in (("sender", client), ("receiver", server))
        )
        sent, received = sent_bytes // size, received_bytes // size
        counts = StreamCounts(
            goodput_bps=received_bps,
            sent_messages=sent,
            received_messages=received,
            # Totals: data in flight at the end counts as lost.
            lost_messages=max(0, sent - received) if parameters.transport == "udp" else None,
            sent_bps=sent_bps,
        )
        return counts.metrics(size, client, server)


def _total(text: str, program: str) -> tuple[int, float]:
    """Bytes, and bit/s, which ntttcp computes from a finer time than the printed one."""
    found = required(r"total bytes\s*:(\d+)", text, program)
    rate = required(r"\t throughput\s*:([\d.]+)([KMG]?)bps", text, program)
    return int(found[1]), float(rate[1]) * _PREFIX[rate[2]]
