"""What one-way delays are worth where sender and receiver have two clocks."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.attempts import counting
from lanlab.store import TrialRecord
from lanlab.units import format_time


def one_way_remark(title: str, trials: Sequence[TrialRecord]) -> str | None:
    """
    The bound of an experiment's one-way delays, in a sentence.

    Args:
        title: Of the experiment.
        trials: Its trials.

    Returns:
        `None` where none was measured, or where every trial had one clock.
    """
    measured = [t.metrics for t in counting(trials) if "one_way_delay_p50_ns" in t.metrics]
    error_ns = max((metrics["clock_error_ns"] for metrics in measured), default=0)
    if error_ns == 0:
        return None
    text = (
        f"One-way delays of \N{LEFT DOUBLE QUOTATION MARK}{title}\N{RIGHT DOUBLE QUOTATION MARK} "
        f"are of two clocks, each ± {format_time(error_ns / 1e9)}"
    )
    if min(metrics["one_way_delay_p50_ns"] for metrics in measured) <= error_ns:
        text += ", which is more than some of them: those tell nothing"
    return text + "."
