"""One trial of an echo in a few lines, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lanlab.report.traffic.stream_text import interrupts, line, medium_line, modes_lines
from lanlab.store import TrialRecord
from lanlab.units import format_time

_STATISTICS = ("mean", "min", "p50", "p90", "p99", "p999", "max")


def echo_lines(trial: TrialRecord, *, with_modes: bool = False) -> list[str]:
    """The results of a successful trial; unknown values have no line.

    Args:
        with_modes: Whether to include how replies were waited for, and why.
    """
    metrics = trial.metrics
    said = []
    if "rtt_mean_ns" in metrics:
        said.append(line("round trip", _distribution(metrics, "rtt")))
    if "kernel_rtt_mean_ns" in metrics:
        said.append(line("in kernel", _distribution(metrics, "kernel_rtt")))
    replies = (
        f"{metrics['replies']} of {metrics['requests']} requests, "
        f"{metrics['timeouts']} time-outs, {metrics['late_replies']} late replies, "
        f"{metrics['duplicate_replies']} duplicates"
    )
    said.append(line("replies", replies))
    said += [line(label, text) for label, text in (*peer_lines(trial), *medium_line(trial))]
    parts = [
        f"{doing} {metrics[f'{name}_cpu_s']:.2f} s"
        for name, doing in (("requester", "requesting"), ("responder", "responding"))
        if f"{name}_cpu_s" in metrics
    ]
    if "interrupt_cpu_s" in metrics:
        parts.append(interrupts(metrics["interrupt_cpu_s"], trial.raw.get("setup") or {}))
    if parts:
        said.append(line("processor", "; ".join(parts)))
    return said + (modes_lines(trial) if with_modes else [])


def _distribution(metrics: Mapping[str, float | int], prefix: str) -> str:
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
    socket = trial.raw.get("requester", {}).get("icmp_socket")
    by = f", by a {socket} socket" if socket else ""
    yield "counted", f"by this end alone{by}, with {clock}; the peer counts nothing"
