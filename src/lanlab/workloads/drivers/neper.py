"""neper (https://github.com/google/neper): streams, round trips. As of 1.1.0."""

from __future__ import annotations

from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, assignments, echo_cpu, number


class Neper(Driver):
    """Four programs, one for each transport and kind of test. They count no messages of a stream:
    the only result is the server's throughput, over its own samples.
    """

    name = "neper"
    how_to_get = "build it from https://github.com/google/neper"
    stream = echo = Abilities(takes=frozenset({"nodelay", "congestion_control"}), most_flows=128)

    #: Without this option it writes a log file into the working folder.
    version_arguments = ("--nolog", "--version")

    def programs(self, workload: str, transport: str) -> tuple[str, ...]:
        return (f"{transport}_{'rr' if workload == 'echo' else 'stream'}",)

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        p, tcp = parameters, parameters.transport == "tcp"
        size = str(p.message_size_bytes)
        path = self.path(self.programs(workload, p.transport)[0])
        common = ["-C", str(place.port), "-P", str(place.port + 1), f"-{p.ip_version}"]
        common += ["-l", str(int(p.time_s)), "--logtostderr"]
        if workload == "echo":
            common += ["-Q", size, "-R", size, "-p", "50,90,99,99.9"]
        else:
            common += ["-F", str(p.flows)]
        if p.nodelay and tcp:
            common.append("--no-delay")
        if p.congestion_control is not None:
            common += ["--congestion-control", p.congestion_control]
        server, client = [path, *common], [path, *common, "-c", "-H", place.target_address]
        client += ["-L", place.source_address]
        if workload == "stream":
            # The read size over TCP stays at neper's default.
            server += [] if tcp else ["-B", size]
            # By default its writes set MSG_MORE, which is another condition.
            client += ["-B", size, *(["--no-cork"] if tcp else [])]
        return Commands(server, client, ("tcp", place.port))

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        sent, heard = assignments(client.text), assignments(server.text)
        if workload == "echo":
            return _echo(sent, client, server)
        counts = StreamCounts(goodput_bps=number(heard, "local_throughput", "neper server"))
        return counts.metrics(parameters.message_size_bytes, client, server)


def _echo(values: dict[str, str], client: Output, server: Output) -> Metrics:
    metrics: Metrics = {
        "replies": int(number(values, "num_transactions", "neper")),
        "replies_per_s": number(values, "throughput", "neper"),
    }
    for key, name in (
        ("mean", "mean"),
        ("sd", "stddev"),
        ("min", "min"),
        ("p50", "p50"),
        ("p90", "p90"),
        ("p99", "p99"),
        ("p999", "p99.9"),
        ("max", "max"),
    ):
        metrics[f"rtt_{key}_ns"] = 1e9 * number(values, f"latency_{name}", "neper")
    return metrics | echo_cpu(client, server)
