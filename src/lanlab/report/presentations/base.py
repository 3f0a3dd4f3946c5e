"""
The interface between a workload and the report. Workloads override what differs from the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Experiment, Figure
from lanlab.studies.scaling import is_numeric
from lanlab.units import format_rate, format_time

if TYPE_CHECKING:
    from lanlab.report.document.table import Table


class Presentation:
    #: The fields of a trial's row, unless they depend on the trial.
    trial_columns: Sequence[TrialColumn] = ()

    def sentences(self, data: RunData, experiment: str) -> list[str]:
        return []

    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        return None

    def first_tables(self, data: RunData, experiment: str) -> list[Table]:
        return []

    def further_tables(self, data: RunData, experiment: str) -> list[Table]:
        return []

    def with_more_columns(self, data: RunData, table: Table, experiment: str, metric: str) -> Table:
        return table

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        """Default figures of an experiment, for which the study names none: each metric against
        each numeric factor.
        """
        if numeric_factors(experiment):
            for metric in experiment.metrics:
                name = quantity(None, metric).name
                title = f"{name[0].upper()}{name[1:]}"
                yield figure(experiment, "against_factor", title, metric=metric)

    def to_json(self, trial: TrialRecord) -> dict[str, object]:
        return {}

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        """All results of one trial of a single measurement."""
        return []

    def common_lines(self, trials: Sequence[TrialRecord]) -> list[str]:
        return []

    def columns(self, trial: TrialRecord) -> Sequence[TrialColumn]:
        return self.trial_columns

    def directions(self, trial: TrialRecord) -> list[tuple[str, TrialRecord]]:
        """Each direction of a trial with its heading, which is empty if there is only one."""
        return [("", trial)]


def numeric_factors(experiment: Experiment) -> list[str]:
    return [key for key in experiment.factors if is_numeric(experiment.workload, key)]


def figure(experiment: Experiment, name: str, title: str, **more: Any) -> Figure:
    return Figure(figure=name, title=title, experiments=(experiment.id,), **more)


@dataclass(frozen=True)
class TrialColumn:
    """One field of a trial's row; empty if unknown."""

    heading: str
    text: Callable[[TrialRecord], str]


def rate_of(key: str) -> Callable[[TrialRecord], str]:
    return text_of(key, format_rate)


def time_of(key: str) -> Callable[[TrialRecord], str]:
    """A column for a time in s or ns, depending on how its key ends."""
    scale = 1e9 if key.endswith("_ns") else 1.0
    return text_of(key, lambda time: format_time(time / scale))


def text_of(key: str, write: Callable[[float], str]) -> Callable[[TrialRecord], str]:
    """A column for any metric."""
    return lambda trial: write(trial.metrics[key]) if key in trial.metrics else ""


GOODPUT = TrialColumn("goodput", rate_of("goodput_bps"))
