"""sockperf (https://github.com/Mellanox/sockperf): streams, round trips. As of 3.7."""

from __future__ import annotations

import re
import signal

from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, echo_cpu, required

_SIZES = (14, 65_507)
#: Time that sockperf omits from a ping-pong, before and after the part that it evaluates.
_WARMUP_S = 0.4
#: Added to the requested time, so that the evaluated part (all but 0.45 s) is long enough.
_LEFT_OUT_WHOLE_S = 1
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Sockperf(Driver):
    """Streams: the server's total of messages, over the client's time. Round trips: whole ones
    (`--full-rtt`), not halves.
    """

    name = "sockperf"
    how_to_get = "apt install sockperf"
    stream = Abilities(
        sizes={"udp": _SIZES, "tcp": _SIZES},
        ip_versions=(4,),
        takes=frozenset({"rate_messages_per_s", "rate_bps", "nodelay"}),
        values={"io": ("auto", "single"), "receive": ("auto", "block", "spin")},
        buffers="alike",
    )
    echo = Abilities(
        sizes={"udp": _SIZES, "tcp": _SIZES},
        ip_versions=(4,),
        takes=frozenset({"nodelay"}),
        values={"receive": ("auto", "block", "spin")},
        warmup_fixed_s=_WARMUP_S,
        default_warmup_s=_WARMUP_S,
        buffers="alike",
    )

    def problem(self, workload: str, parameters: Measured) -> str | None:
        """See `Driver.problem`; a rate is a whole number of messages per second."""
        found = super().problem(workload, parameters)
        if found is None and workload == "stream":
            rate = _messages_per_s(parameters)
            if rate is not None and (rate < 1 or rate != int(rate)):
                whole_bps = 8 * parameters.message_size_bytes * max(1, round(rate))
                return (
                    f"tool `sockperf`: found a rate of {rate:g} messages/s; "
                    f"allowed: whole messages/s, e.g. rate_bps {whole_bps}"
                )
        return found

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, path = parameters, self.path("sockperf")
        common = ["-i", place.target_address, "-p", str(place.port)]
        if p.transport == "tcp":
            common.append("--tcp")
        if p.receive == "spin":
            common.append("--nonblocked")
        if p.send_buffer_bytes is not None:
            common += ["--buffer-size", str(p.send_buffer_bytes)]
        server = [path, "server", *common]
        asked = ["--client_ip", place.source_address, "-m", str(p.message_size_bytes)]
        if workload == "echo":
            time_s = int(p.time_s) + _LEFT_OUT_WHOLE_S
            client = [path, "ping-pong", *common, *asked, "-t", str(time_s), "--full-rtt"]
            switches_nodelay = not p.nodelay
        else:
            rate = _messages_per_s(p)
            mps = "max" if rate is None else str(int(rate))
            client = [path, "throughput", *common, *asked, "-t", str(int(p.time_s)), "--mps", mps]
            switches_nodelay = p.nodelay
        # A toggle, which is on by default only in one kind of test.
        if p.transport == "tcp" and switches_nodelay:
            client.append("--tcp-avoid-nodelay")
        return Commands(server, client, (p.transport, place.port), signal.SIGINT)

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        client = Output(_COLOUR.sub("", client.text), client.cpu_s)
        server = Output(_COLOUR.sub("", server.text), server.cpu_s)
        if workload == "echo":
            return _echo(client, server)
        return _stream(parameters, client, server)


def _messages_per_s(parameters: Measured) -> float | None:
    if parameters.rate_bps is not None:
        return float(parameters.rate_bps / 8 / parameters.message_size_bytes)
    found: float | None = parameters.rate_messages_per_s
    return found


def _stream(parameters: Measured, client: Output, server: Output) -> Metrics:
    sent = required(r"Total of (\d+) messages sent in ([\d.]+) sec", client.text, "sockperf")
    received = required(r"Total (\d+) messages received", server.text, "sockperf server")
    size, messages, time_s = parameters.message_size_bytes, int(received[1]), float(sent[2])
    counts = StreamCounts(
        # The server reports no time, so the client's is used.
        goodput_bps=8 * size * messages / time_s,
        sent_messages=int(sent[1]),
        received_messages=messages,
        lost_messages=int(sent[1]) - messages if parameters.transport == "udp" else None,
        sent_bps=8 * size * int(sent[1]) / time_s,
    )
    return counts.metrics(size, client, server)


def _echo(client: Output, server: Output) -> Metrics:
    text = client.text
    total = required(r"\[Total Run\].*SentMessages=(\d+)", text, "sockperf")
    valid = required(
        r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)",
        text,
        "sockperf",
    )
    mean = required(r"avg-rtt=([\d.]+) \(std-dev=([\d.]+)\)", text, "sockperf")
    counted = required(
        r"dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)",
        text,
        "sockperf",
    )
    sent, received = int(valid[2]), int(valid[3])
    metrics: Metrics = {
        "requests": sent,
        "replies": received,
        "timeouts": sent - received,
        "duplicate_replies": int(counted[2]),
        "replies_per_s": received / float(valid[1]),
        "rtt_mean_ns": 1e3 * float(mean[1]),
        "rtt_sd_ns": 1e3 * float(mean[2]),
    }
    for key, name in (
        ("min", "<MIN> observation"),
        ("p50", "percentile 50.000"),
        ("p90", "percentile 90.000"),
        ("p99", "percentile 99.000"),
        ("p999", "percentile 99.900"),
        ("max", "<MAX> observation"),
    ):
        found = required(rf"---> {re.escape(name)} = +([\d.]+)", text, "sockperf")
        metrics[f"rtt_{key}_ns"] = 1e3 * float(found[1])
    return metrics | echo_cpu(client, server, sent / int(total[1]) if int(total[1]) else 1.0)
