"""
The interface between a workload and the report. Workloads override what differs from the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import Summary
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study
from lanlab.studies.model import Experiment, Figure
from lanlab.studies.scaling import is_numeric
from lanlab.units import format_rate, format_time

if TYPE_CHECKING:
    from lanlab.report.document.table import Table


@dataclass(frozen=True)
class SeriesOf:
    study: Study
    summary: Summary
    rest: Mapping[str, Level]
    words: Callable[[Mapping[str, Level]], str]


class Presentation:
    #: Whether its sentences are the complete answer of an experiment, without ranges of metrics.
    answers_alone = False
    #: Whether means of several conditions are given as a range; if not, each is given.
    has_ranges = True

    def sentences(self, data: RunData, experiment: str) -> list[str]:
        """Answers specific to this workload."""
        return []

    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        """Caveats about the results of an experiment; `None` if there are none."""
        return None

    def range_factor(self, experiment: Experiment) -> str:
        """The factor over which means are given as a range: the last numeric one."""
        numbers = numeric_factors(experiment)
        return numbers[-1] if numbers else "message_size_bytes"

    def series_text(self, of: SeriesOf) -> str:
        """Text that distinguishes the series, to be used after the name of their metric."""
        return over(of.words(of.rest))

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
        """All results of one trial of a single measurement.

        Args:
            with_modes: Whether to include I/O modes and the reasons for them.
        """
        return []

    def common_lines(self, trials: Sequence[TrialRecord]) -> list[str]:
        return []

    def columns(self, trial: TrialRecord) -> Sequence[TrialColumn]:
        return ()

    def directions(self, trial: TrialRecord) -> list[tuple[str, TrialRecord]]:
        """Each direction of a trial with its heading, which is empty if there is only one."""
        return [("", trial)]


def numeric_factors(experiment: Experiment) -> list[str]:
    return [key for key in experiment.factors if is_numeric(experiment.workload, key)]


def figure(experiment: Experiment, name: str, title: str, **more: Any) -> Figure:
    return Figure(figure=name, title=title, experiments=(experiment.id,), **more)


def over(*parts: str) -> str:
    return " ".join(filter(None, ["over", *parts]))


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


class FlowPresentation(Presentation):
    def series_text(self, of: SeriesOf) -> str:
        from lanlab.report.saturation.saturation_text import messages_text

        # The conditions share a message size, which distinguishes experiments.
        parameters = of.summary.parameters
        if "message_size_bytes" not in of.summary.factors:
            others = {key: level for key, level in of.rest.items() if key != "transport"}
            named = f"of {messages_text(parameters)}"
            return f"{named}, {of.words(others)}," if others else named
        # The text of the factors already has this name.
        fixed = "" if "transport" in of.rest else parameters.get("transport", "")
        carrier, condition = str(fixed).upper(), of.words(of.rest)
        if carrier and of.rest.keys() - {"ip_version"}:
            return f"over {carrier}, {condition},"
        return over(carrier, condition)
