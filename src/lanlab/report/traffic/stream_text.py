"""One trial of a stream in a few lines, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.disturbances.clocks_kept import clocks_kept
from lanlab.analysis.disturbances.detect import medium_lateness
from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.traffic.loss_places import PLACES, not_received, unseen_places
from lanlab.analysis.trials.modes import modes_of
from lanlab.analysis.trials.summary import limit_of
from lanlab.figures.number_text import number
from lanlab.report.traffic.tcp_text import peer_lines, tcp_lines
from lanlab.roles import REVERSE_PREFIX, ROLES, is_one_way
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.large_runs import column
from lanlab.trial_data import Setup
from lanlab.units import format_rate, format_time
from lanlab.workloads.processor_time import shares_a_kernel

Metrics = Mapping[str, float | int]

_LABEL = 12
#: Share of late frames, and length of a gap, from which they can affect results.
_REPORTED_RATIO = 0.001
_REPORTED_GAP_NS = 1_000_000


def stream_lines(run: RunRecord, trial: TrialRecord, *, with_modes: bool = False) -> list[str]:
    """The results of a successful trial; unknown values have no line. Each direction of a
    bidirectional trial is shown separately.
    """
    said = []
    for heading, one in directions(trial):
        said += [heading] if heading else []
        said += _one_direction(run, one)
        said += modes_lines(one) if with_modes else []
    return said


def directions(trial: TrialRecord) -> list[tuple[str, TrialRecord]]:
    """Each direction of a trial with its heading, which is empty if there is only one."""
    back = second_direction(trial)
    if back is None:
        return [("", trial)]
    if trial.parameters.get("peer") is not None:
        return [("to the peer", trial), ("from the peer, at the same time", back)]
    return [
        ("from the first host to the second", trial),
        ("from the second host to the first, at the same time", back),
    ]


def second_direction(trial: TrialRecord) -> TrialRecord | None:
    """The second direction of a trial as a separate trial; `None` if there was only one."""
    ends = {role: trial.raw.get(f"{REVERSE_PREFIX}{role}") for role in ROLES.get("stream", ())}
    # In a stream with a peer only one end has a result.
    if not is_one_way(trial.workload) or not any(ends.values()):
        return None
    metrics = {
        key.removeprefix(REVERSE_PREFIX): value
        for key, value in trial.metrics.items()
        if key.startswith(REVERSE_PREFIX)
    }
    return replace(trial, metrics=metrics, raw={**trial.raw, **ends})


def _one_direction(run: RunRecord, trial: TrialRecord) -> list[str]:
    metrics = trial.metrics
    said: list[tuple[str, str]] = []
    if "goodput_bps" in metrics:
        said.append(("goodput", _goodput(run, trial)))
    said += peer_lines(trial)
    if "outage_ns" in metrics:
        lasted, began = (_time(metrics[key]) for key in ("outage_ns", "outage_from_ns"))
        rest = format_rate(metrics["rate_outside_outage_bps"])
        outage = f"nothing arrived for {lasted}, {began} after the start; otherwise {rest}"
        said.append(("outage", outage))
    said += tcp_lines(trial) if _is_tcp(trial) else _arrival(trial)
    said += _pacing(trial)
    said += _delays(trial)
    said += _flows(trial)
    said += medium_line(trial)
    said += _processor(trial)
    return [line(label, text) for label, text in said]


def _is_tcp(trial: TrialRecord) -> bool:
    return trial.parameters["transport"] == "tcp"


def line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"


def medium_line(trial: TrialRecord) -> list[tuple[str, str]]:
    words = medium_words(trial)
    return [] if words is None else [("medium", words)]


def modes_lines(trial: TrialRecord) -> list[str]:
    modes = modes_of(trial)
    if modes is None:
        return []
    return [line("method", modes.words())]


def limit_share(run: RunRecord, trial: TrialRecord, metric: str, value: float) -> str:
    """Continues a rate with its share of the link's limit; empty if that is unknown."""
    link = wire_of(run)
    limit = limit_of(metric, trial.parameters, link)
    return f", {100 * value / limit:.2f} % of {link.share_name}" if link and limit else ""


def _goodput(run: RunRecord, trial: TrialRecord) -> str:
    goodput_bps = trial.metrics["goodput_bps"]
    share = limit_share(run, trial, "goodput_bps", goodput_bps)
    # TCP carries bytes and does not preserve messages.
    messages = None if _is_tcp(trial) else trial.metrics.get("received_messages_per_s")
    rate = f", {number(messages, 4)} messages/s" if messages is not None else ""
    return f"{format_rate(goodput_bps)}{share}{rate}"


def _arrival(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    metrics = trial.metrics
    offered, received = (metrics.get(f"{what}_messages") for what in ("offered", "received"))
    if offered and received is not None:
        rest = [f"{count} {PLACES[place]}" for place, count in not_received(metrics).items()]
        if "lost_link_messages" not in metrics:
            rest += _unplaced(metrics)
        share = f"{100 * received / offered:.4g} % of {offered} messages"
        yield "received", f"{share} offered" + ("" if rest else ", none lost")
        if rest:
            text = ", ".join(rest)
            unseen = unseen_places(metrics)
            if unseen and metrics.get("lost_link_messages"):
                hidden = " or ".join(PLACES[place] for place in unseen)
                text += f" (or {hidden}, which was not counted)"
            yield "the rest", text
    counts = {"reordered_messages": "out of order", "duplicate_messages": "duplicates"}
    order = [f"{metrics[name]} {words}" for name, words in counts.items() if name in metrics]
    if order:
        yield "order", ", ".join(order)


def _unplaced(metrics: Metrics) -> list[str]:
    """Losses in the report of another program, which names no places."""
    lost = metrics.get("lost_messages", 0)
    unknown = metrics["offered_messages"] - metrics["received_messages"] - lost
    unknown -= sum(not_received(metrics).values())
    counts = {
        "lost": lost,
        "that the program does not report": unknown,
        "more received than sent minus lost, by the program's own counts": -unknown,
    }
    return [f"{count} {words}" for words, count in counts.items() if count > 0]


def _pacing(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    metrics = trial.metrics
    if "back_to_back_messages" not in metrics:
        return
    parts = []
    if "gap_p50_ns" in metrics:
        gaps = (
            f"{name} {_time(metrics[key])}"
            for name in ("p1", "p50", "p99")
            if (key := f"gap_{name}_ns") in metrics
        )
        parts.append(f"gaps {', '.join(gaps)}")
    parts.append(f"{metrics['late_messages']} late by more than 1 ms")
    parts.append(f"{metrics['skipped_messages']} skipped")
    parts.append(f"{metrics['back_to_back_messages']} back to back")
    yield "pacing", ", ".join(parts)


def _delays(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    metrics = trial.metrics
    one_way = one_way_text(metrics, clocks_kept([trial]))
    if one_way is not None:
        yield "one way", one_way
    if "delay_variation_mean_ns" in metrics:
        text = f"varies by {_time(metrics['delay_variation_mean_ns'])} in the mean"
        if "delay_variation_p99_ns" in metrics:
            text += f", {_time(metrics['delay_variation_p99_ns'])} at the 99th percentile"
        yield "delay", text


def _flows(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    metrics = trial.metrics
    if "flow_goodput_min_bps" not in metrics:
        return
    least, most = (format_rate(metrics[f"flow_goodput_{end}_bps"]) for end in ("min", "max"))
    parts = [f"{least} to {most} each"]
    if "jain_index" in metrics:
        parts.append(f"Jain's index {metrics['jain_index']:.3f}")
    if "first_control_share_ratio" in metrics:
        share = 100 * metrics["first_control_share_ratio"]
        control = str(trial.parameters["congestion_control"]).partition(",")[0]
        parts.append(f"{share:.1f} % of the total by flows with {control}")
    yield "flows", ", ".join(parts)


def _processor(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    parts = [
        text
        for name, doing in (("sender", "sending"), ("receiver", "receiving"))
        if (text := _cost(trial.metrics, name, doing))
    ]
    if "interrupt_cpu_s" in trial.metrics:
        parts.append(interrupts(trial.metrics["interrupt_cpu_s"], trial.setup))
    if parts:
        yield "processor", "; ".join(parts)


def _cost(metrics: Metrics, name: str, doing: str) -> str:
    if f"{name}_cpu_s" not in metrics:
        return ""
    parts = [f"{doing} {metrics[f'{name}_cpu_s']:.2f} s"]
    if f"{name}_cpu_ns_per_message" in metrics:
        parts.append(f"{_time(metrics[f'{name}_cpu_ns_per_message'])} a message")
    if f"{name}_cpu_s_per_gb" in metrics:
        parts.append(f"{number(metrics[f'{name}_cpu_s_per_gb'], 3)} s/GB")
    return ", ".join(parts)


def interrupts(interrupt_cpu_s: float, setup: Setup) -> str:
    whose = "of the machine that both hosts share" if shares_a_kernel(setup) else "of both hosts"
    return f"interrupts {interrupt_cpu_s:.2f} s ({whose})"


def _time(time_ns: float) -> str:
    return format_time(time_ns / 1e9)


def medium_words(trial: TrialRecord) -> str | None:
    """The lateness of the medium; `None` without a medium, or if it did not matter."""
    lateness = medium_lateness(trial.raw)
    if lateness is None:
        return None
    late = lateness["late_deliveries"] / lateness["deliveries"]
    if late < _REPORTED_RATIO and lateness["longest_gap_ns"] < _REPORTED_GAP_NS:
        return None
    late_text = f"{number(100 * late, 2)} % of {lateness['deliveries']} frames late"
    times = f"p50 {_time(lateness['p50_ns'])}, p99 {_time(lateness['p99_ns'])}"
    longest, gap = _time(lateness["longest_ns"]), _time(lateness["longest_gap_ns"])
    return f"{late_text}; {times}, longest {longest}; paused for {gap} at most"


def one_way_remark(title: str, trials: Sequence[TrialRecord]) -> str | None:
    """
    The error bound of an experiment's one-way delays, in a sentence.

    Returns:
        `None` if no delays were measured, or if both ends had the same clock in every trial.
    """
    metrics = [trial.metrics for trial in trials]
    delays_ns = column(metrics, "one_way_delay_p50_ns")
    errors_ns = column(metrics, "clock_error_ns")
    measured = [
        (delay, error or 0)
        for delay, error in zip(delays_ns, errors_ns, strict=True)
        if delay is not None
    ]
    error_ns = max((error for _, error in measured), default=0)
    if error_ns == 0:
        return None
    text = (
        f"One-way delays of \N{LEFT DOUBLE QUOTATION MARK}{title}\N{RIGHT DOUBLE QUOTATION MARK} "
        f"compare two clocks, each ± {format_time(error_ns / 1e9)}"
    )
    if min(delay for delay, _ in measured) <= error_ns:
        text += ", which is more than some of the delays: ignore those"
    kept = clocks_kept(trials)
    return f"{text}.{f' Their clocks: {kept}.' if kept else ''}"


def one_way_text(metrics: Mapping[str, float | int], kept: str = "") -> str | None:
    """
    The one-way delays of a trial, with the maximum difference between the clocks.

    Args:
        kept: What synchronises the clocks, from `clocks_kept`.

    Returns:
        `None` if no delays were measured. If a delay is within the bound, the text says that it may
            be zero.
    """
    if "one_way_delay_p50_ns" not in metrics:
        return None
    error_ns = metrics["clock_error_ns"]
    shown = [
        f"{name} {format_time(metrics[f'one_way_delay_{key}_ns'] / 1e9)}"
        for name, key in (("min", "min"), ("p50", "p50"), ("p99", "p99"))
        if f"one_way_delay_{key}_ns" in metrics
    ]
    text = ", ".join(shown)
    if error_ns == 0:
        return f"{text} (one clock)"
    text += (
        f", each ± {format_time(error_ns / 1e9)} (clocks of two hosts{f': {kept}' if kept else ''})"
    )
    if metrics["one_way_delay_p50_ns"] <= error_ns:
        text += "; the delays are smaller than the clock error, so ignore them"
    return text
