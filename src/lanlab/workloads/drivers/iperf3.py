"""iperf3 (https://software.es.net/iperf/): streams. Options and JSON as of 3.12 and 3.21."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from lanlab.errors import RunError, UnmetNeed
from lanlab.outside import BadValue, json_of
from lanlab.pipes import run_briefly
from lanlab.workloads.drivers.abilities import Abilities, Measured
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.counts import StreamCounts, rate_bps

_WITHIN_S = 5.0


class Iperf3(Driver):
    """The receiver's figures are the server's own."""

    name = "iperf3"
    how_to_get = "apt install iperf3"
    runs_by_ssh = True
    stream = Abilities(
        # iperf3's own limits.
        sizes={"udp": (16, 65_507), "tcp": (1, 2**20)},
        takes=frozenset(
            {"rate_bps", "rate_messages_per_s", "nodelay", "congestion_control", "dscp"}
        ),
        values={"io": ("auto", "single", "segment"), "receive": ("auto", "block")},
        warmup_whole_s=60,
        default_warmup_s=1.0,
        buffers="alike",
        most_flows=128,
    )

    def check_found(self, workload: str, parameters: Measured) -> None:
        """See `Driver.check_found`; segmentation needs 3.21."""
        super().check_found(workload, parameters)
        if parameters.sends_by_segmentation and "--gsro" not in _help(self.path("iperf3")):
            raise UnmetNeed(
                f"tool `iperf3`: io `segment` needs `--gsro`, which {self.version('iperf3')} "
                "does not have",
                hint="install iperf3 3.21 or newer, or use io `single`",
            )

    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        path, port = self.path("iperf3"), str(place.port)
        p = parameters
        client: list[str] = [path, "--client", place.target_address, "--port", port, "--json"]
        client += ["--bind", place.source_address, f"--version{p.ip_version}"]
        client += ["--time", str(int(p.time_s)), "--omit", str(int(p.warmup_s))]
        client += ["--length", str(p.message_size_bytes), "--parallel", str(p.flows)]
        if p.transport == "udp":
            client += ["--udp", "--udp-counters-64bit"]
        rate = rate_bps(p)
        # Per flow; 0 means unlimited.
        client += ["--bitrate", "0" if rate is None else str(max(1, round(rate / p.flows)))]
        if p.send_buffer_bytes is not None:
            client += ["--window", str(p.send_buffer_bytes)]
        if p.nodelay and p.transport == "tcp":
            client.append("--no-delay")
        if p.congestion_control is not None:
            client += ["--congestion", p.congestion_control]
        if p.dscp:
            client += ["--dscp", str(p.dscp)]
        if p.io == "segment":
            client.append("--gsro")
        server = [path, "--server", "--one-off", "--port", port, "--json"]
        server += ["--bind", place.target_address]
        return Commands(server, client, ("tcp", place.port))

    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        sent_run, received_run = _run(client.text, "client"), _run(server.text, "server")
        size = parameters.message_size_bytes
        sent, received = sent_run["end"]["sum_sent"], received_run["end"]["sum_received"]
        if not received.get("seconds"):
            raise RunError("`iperf3 server` reported no measured time")
        counts = StreamCounts(
            goodput_bps=8 * received["bytes"] / received["seconds"],
            sent_messages=sent["bytes"] // size,
            received_messages=received["bytes"] // size,
            # Counted by the sequence numbers that arrived, so losses at the end are missed.
            lost_messages=received["lost_packets"] if parameters.transport == "udp" else None,
            sent_bps=8 * sent["bytes"] / sent["seconds"] if sent["seconds"] else None,
            all_sent_messages=_all_bytes(sent_run) // size,
            all_received_messages=_all_bytes(received_run) // size,
        )
        metrics = counts.metrics(size, client, server)
        if parameters.transport == "udp":
            # The summary at the end has no total over flows.
            streams = [stream["udp"] for stream in received_run["end"]["streams"]]
            metrics["reordered_messages"] = sum(stream["out_of_order"] for stream in streams)
        elif "retransmits" in sent:
            metrics["retransmitted_segments"] = sent["retransmits"]
        return metrics


def _run(text: str, end: str) -> dict[str, Any]:
    try:
        run = json_of(text)
    except BadValue as error:
        said = text.strip()[:200] or "nothing"
        raise RunError(f"`iperf3 {end}` wrote invalid JSON ({error}): {said}") from None
    if not isinstance(run, dict):
        raise RunError(f"`iperf3 {end}` wrote no JSON object")
    if "error" in run:
        raise RunError(f"`iperf3 {end}` failed: {run['error']}")
    return run


def _all_bytes(run: dict[str, Any]) -> int:
    return sum(int(interval["sum"]["bytes"]) for interval in run["intervals"])


@lru_cache(maxsize=8)
def _help(path: str) -> str:
    argv: Sequence[str] = (path, "--help")
    done = run_briefly(argv, _WITHIN_S)
    return done.stdout + done.stderr
