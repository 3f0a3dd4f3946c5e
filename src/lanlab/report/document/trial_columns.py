"""A column of the rows that single measurements have, one for each trial."""

from __future__ import annotations

from collections.abc import Callable

from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_time


@dataclass(frozen=True)
class TrialColumn:
    """What the row of a trial says at one place; empty where it is not known."""

    heading: str
    text: Callable[[TrialRecord], str]


def rate_of(key: str) -> Callable[[TrialRecord], str]:
    """Says a metric that is a rate, bit/s."""
    return lambda trial: format_rate(trial.metrics[key]) if key in trial.metrics else ""


def time_of(key: str) -> Callable[[TrialRecord], str]:
    """Says a metric that is a time, in s or ns as its key ends."""
    scale = 1e9 if key.endswith("_ns") else 1.0

    def text(trial: TrialRecord) -> str:
        return format_time(trial.metrics[key] / scale) if key in trial.metrics else ""

    return text


GOODPUT = TrialColumn("goodput", rate_of("goodput_bps"))
