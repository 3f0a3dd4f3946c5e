"""How echoes are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.wording import quantity
from lanlab.report.presentations.base import Presentation, TrialColumn, figure, time_of
from lanlab.report.traffic.stream_columns import share_text
from lanlab.report.traffic.stream_text import interrupts, line, medium_line, modes_lines
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.model import Experiment, Figure
from lanlab.units import format_time


def _unanswered(trial: TrialRecord) -> str:
    asked = trial.metrics.get("requests")
    return share_text(1 - trial.metrics["replies"] / asked) if asked else ""


_COLUMNS: Sequence[TrialColumn] = (
    TrialColumn("mean", time_of("rtt_mean_ns")),
    TrialColumn("median", time_of("rtt_p50_ns")),
    TrialColumn("p99", time_of("rtt_p99_ns")),
    TrialColumn("longest", time_of("rtt_max_ns")),
    TrialColumn("no reply", _unanswered),
)

_COUNTS = {
    "requests": "requests",
    "timeouts": "time-outs",
    "late_replies": "late replies",
    "duplicate_replies": "duplicates",
}
_STATISTICS = ("mean", "min", "p50", "p90", "p99", "p999", "max")


class EchoPresentation(Presentation):
    trial_columns = _COLUMNS

    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        # Single measurements load no figures.
        from lanlab.figures.against_factor import refill_ns

        link = wire_of(data.run)
        if link is None or not link.has_token_bucket or not trials:
            return None
        text = (
            "The link of this testbed is a token bucket. A lone frame passes it at once, without "
            "the transmission time of a wire, so round trips on an idle link show the hosts' "
            "software only."
        )
        closed = [t.parameters for t in trials if "rate_requests_per_s" not in t.parameters]
        if closed and all(p.get("transport") == "udp" for p in closed):
            largest: Mapping[str, Level] = max(closed, key=lambda p: int(p["message_size_bytes"]))
            size, ip_version = int(largest["message_size_bytes"]), int(largest["ip_version"])
            shown = quantity(data.study, "rtt_mean_ns")
            tokens = shown.text(refill_ns(link.rate_bps, size, ip_version), 3)
            wire = shown.text(link.idle_round_trip_ns(size, ip_version), 3)
            text += (
                " Here each request leaves as soon as the reply arrives, which empties the bucket. "
                "A round trip then lasts at least until there are tokens for one frame: "
                f"{tokens} for {size} bytes over IPv{ip_version}. On a wire, both frames would "
                f"take {wire}."
            )
        return text

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        yield figure(experiment, "round_trip_percentiles", "Round-trip times")

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        metrics = trial.metrics
        said = []
        if "rtt_mean_ns" in metrics:
            said.append(line("round trip", _distribution(metrics, "rtt")))
        if "kernel_rtt_mean_ns" in metrics:
            said.append(line("in kernel", _distribution(metrics, "kernel_rtt")))
        if "replies" in metrics:
            # Other programs do not report all counts.
            known = [f"{metrics[key]} {what}" for key, what in _COUNTS.items() if key in metrics]
            of = f"{metrics['replies']} of " if "requests" in metrics else f"{metrics['replies']}"
            said.append(line("replies", f"{of}{', '.join(known)}"))
        said += [line(label, text) for label, text in (*peer_lines(trial), *medium_line(trial))]
        parts = [
            f"{doing} {metrics[f'{name}_cpu_s']:.2f} s"
            for name, doing in (("requester", "requesting"), ("responder", "responding"))
            if f"{name}_cpu_s" in metrics
        ]
        if "interrupt_cpu_s" in metrics:
            parts.append(interrupts(metrics["interrupt_cpu_s"], trial.setup))
        if parts:
            said.append(line("processor", "; ".join(parts)))
        return said + (modes_lines(trial) if with_modes else [])


PRESENTATION = EchoPresentation()


def _distribution(metrics: Mapping[str, float], prefix: str) -> str:
    return ", ".join(
        f"{name} {format_time(metrics[key] / 1e9)}"
        for name in _STATISTICS
        if (key := f"{prefix}_{name}_ns") in metrics
    )


def peer_lines(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    """With a peer at the other end: which end counted, and by which clock. Also replies that differ
    from the request.
    """
    if trial.parameters.get("peer") is None:
        return
    if foreign := trial.metrics.get("foreign_datagrams"):
        yield "others", f"{foreign} answers were not what was sent"
    clock = "its own clock"
    if "kernel_rtt_mean_ns" in trial.metrics:
        clock += " and its kernel's time stamps"
    socket = trial.result("requester").get("icmp_socket")
    by = f", by a {socket} socket" if socket else ""
    yield "counted", f"by this end alone{by}, with {clock}; the peer counts nothing"
