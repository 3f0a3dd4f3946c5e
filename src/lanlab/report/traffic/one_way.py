"""The accuracy of one-way delays if sender and receiver have different clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.clocks_kept import clocks_kept
from lanlab.store import TrialRecord
from lanlab.units import format_time


def one_way_remark(title: str, trials: Sequence[TrialRecord]) -> str | None:
    """
    The error bound of an experiment's one-way delays, in a sentence.

    Returns:
        `None` if no delays were measured, or if both ends had the same clock in every trial.
    """
    measured = [t.metrics for t in counting(trials) if "one_way_delay_p50_ns" in t.metrics]
    error_ns = max((metrics["clock_error_ns"] for metrics in measured), default=0)
    if error_ns == 0:
        return None
    text = (
        f"One-way delays of \N{LEFT DOUBLE QUOTATION MARK}{title}\N{RIGHT DOUBLE QUOTATION MARK} "
        f"compare two clocks, each ± {format_time(error_ns / 1e9)}"
    )
    if min(metrics["one_way_delay_p50_ns"] for metrics in measured) <= error_ns:
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
