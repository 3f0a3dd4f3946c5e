"""netperf (https://github.com/HewlettPackard/netperf): streams, round trips. As of 2.7.1."""

from __future__ import annotations

import signal

from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, assignments, echo_cpu, number

_STREAM_KEYS = (
    "LOCAL_SEND_CALLS,LOCAL_BYTES_SENT,LOCAL_SEND_THROUGHPUT,REMOTE_RECV_CALLS,"
    "REMOTE_BYTES_RECVD,REMOTE_RECV_SIZE,THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,"
    "LOCAL_CONG_CONTROL,LOCAL_NODELAY,LSS_SIZE_END,RSR_SIZE_END,LOCAL_TRANSPORT_RETRANS"
)
_ECHO_KEYS = (
    "MIN_LATENCY,MEAN_LATENCY,STDDEV_LATENCY,P50_LATENCY,P90_LATENCY,P99_LATENCY,MAX_LATENCY,"
    "TRANSACTION_RATE,ELAPSED_TIME,LOCAL_SEND_CALLS,LOCAL_RECV_CALLS,LOCAL_NODELAY"
)


class Netperf(Driver):
    """The omni tests, by key and value. Times have a resolution of 10 ms, latencies of 1 µs; there
    are no sequence numbers.
    """

    name = "netperf"
    how_to_get = (
        "apt install netperf where the distribution has it, else build it from "
        "https://github.com/HewlettPackard/netperf"
    )
    stream = echo = Abilities(takes=frozenset({"nodelay", "congestion_control"}), buffers="apart")
    ports = 3
    version_arguments = ("-V",)

    def programs(self, workload: str, transport: str) -> tuple[str, ...]:
        return ("netperf", "netserver")

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, control = parameters, str(place.port)
        # Without a fork, the process that lanlab starts is the one that receives.
        server = [self.path("netserver"), "-D", "-f", "-N", "-p", control]
        server += ["-L", place.target_address, f"-{p.ip_version}"]
        stream = workload == "stream"
        test = f"{p.transport.upper()}_{'STREAM' if stream else 'RR'}"
        client = [self.path("netperf"), "-H", f"{place.target_address},{p.ip_version}"]
        client += ["-L", f"{place.source_address},{p.ip_version}", "-p", control, "-P", "0"]
        # kbit/s give more digits. `-j` keeps the latency histogram.
        client += ["-t", test, "-l", str(int(p.time_s)), *(["-f", "k"] if stream else ["-j"])]
        client += ["--", "-P", f"{place.port + 1},{place.port + 2}"]
        size = str(p.message_size_bytes)
        if stream:
            # Over UDP, the read size must be one message.
            client += ["-m", size, *(["-M", size] if p.transport == "udp" else [])]
        else:
            client += ["-r", f"{size},{size}"]
        if p.transport == "udp":
            client += ["-R", "1", "-n", "-N"]
        elif p.nodelay:
            client += ["-D", "L,R"]
        if p.congestion_control is not None:
            client += ["-K", f"{p.congestion_control},{p.congestion_control}"]
        buffers = _buffers(p.send_buffer_bytes, p.receive_buffer_bytes)
        if buffers:
            client += ["-s", buffers, "-S", buffers]
        client += ["-k", _STREAM_KEYS if stream else _ECHO_KEYS]
        return Commands(server, client, ("tcp", place.port), signal.SIGTERM)

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        values = assignments(client.text)
        if workload == "echo":
            return _echo(values, client, server)
        return _stream(parameters, values, client, server)


def _buffers(send: int | None, receive: int | None) -> str:
    if send is None and receive is None:
        return ""
    return f"{'' if send is None else send},{'' if receive is None else receive}"


def _stream(
    parameters: Measured, values: dict[str, str], client: Output, server: Output
) -> Metrics:
    def of(key: str) -> float:
        return number(values, key, "netperf")

    size, udp = parameters.message_size_bytes, parameters.transport == "udp"
    sent = int(of("LOCAL_BYTES_SENT")) // size
    received = int(of("REMOTE_BYTES_RECVD")) // size
    counts = StreamCounts(
        # In a sending test, the receiver's count.
        goodput_bps=1e3 * of("THROUGHPUT"),
        sent_messages=sent,
        received_messages=received,
        # Totals: data in flight at the end counts as lost.
        lost_messages=max(0, sent - received) if udp else None,
        sent_bps=1e3 * of("LOCAL_SEND_THROUGHPUT"),
    )
    metrics = counts.metrics(size, client, server)
    if not udp and of("LOCAL_TRANSPORT_RETRANS") >= 0:
        metrics["retransmitted_segments"] = int(of("LOCAL_TRANSPORT_RETRANS"))
    return metrics


def _echo(values: dict[str, str], client: Output, server: Output) -> Metrics:
    def of(key: str) -> float:
        return number(values, key, "netperf")

    metrics: Metrics = {
        "requests": int(of("LOCAL_SEND_CALLS")),
        "replies": int(of("LOCAL_RECV_CALLS")),
        "replies_per_s": of("TRANSACTION_RATE"),
        "rtt_mean_ns": 1e3 * of("MEAN_LATENCY"),
        "rtt_sd_ns": 1e3 * of("STDDEV_LATENCY"),
    }
    for name in ("min", "p50", "p90", "p99", "max"):
        metrics[f"rtt_{name}_ns"] = 1e3 * of(f"{name.upper()}_LATENCY")
    return metrics | echo_cpu(client, server)
