"""The lateness of a link's medium during one trial, for the terminal."""

from __future__ import annotations

from lanlab.analysis.pollution import medium_lateness
from lanlab.figures.number_text import number
from lanlab.store import TrialRecord
from lanlab.units import format_time

#: Share of late frames, and gap, from which they are reported: smaller ones change no result.
_REPORTED_RATIO = 0.001
_REPORTED_GAP_NS = 1_000_000


def medium_words(trial: TrialRecord) -> str | None:
    """The lateness of the medium; `None` if there is no medium, or it did not matter."""
    lateness = medium_lateness(trial.raw)
    if lateness is None:
        return None
    late = lateness["late_deliveries"] / lateness["deliveries"]
    if late < _REPORTED_RATIO and lateness["longest_gap_ns"] < _REPORTED_GAP_NS:
        return None
    p50, p99, longest, gap = (
        format_time(lateness[f"{name}_ns"] / 1e9)
        for name in ("p50", "p99", "longest", "longest_gap")
    )
    return (
        f"{number(100 * late, 2)} % of {lateness['deliveries']} frames late; p50 {p50}, p99 {p99}, "
        f"longest {longest}; paused for {gap} at most"
    )
