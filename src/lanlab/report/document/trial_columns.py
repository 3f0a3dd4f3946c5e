"""Columns of tables that have one row per trial."""

from __future__ import annotations

from collections.abc import Callable

from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_time


@dataclass(frozen=True)
class TrialColumn:
    """One field of a trial's row; empty if unknown."""

    heading: str
    text: Callable[[TrialRecord], str]


def rate_of(key: str) -> Callable[[TrialRecord], str]:
    """A column for a rate in bit/s."""
    return lambda trial: format_rate(trial.metrics[key]) if key in trial.metrics else ""


def time_of(key: str) -> Callable[[TrialRecord], str]:
    """A column for a time in s or ns, depending on how its key ends."""
    scale = 1e9 if key.endswith("_ns") else 1.0

    def text(trial: TrialRecord) -> str:
        return format_time(trial.metrics[key] / scale) if key in trial.metrics else ""

    return text


GOODPUT = TrialColumn("goodput", rate_of("goodput_bps"))
