"""What a workload brings to the report. A workload overrides what it shows in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lanlab.analysis.summary import Summary
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study
from lanlab.studies.model import Experiment, Figure
from lanlab.studies.scaling import is_numeric

if TYPE_CHECKING:
    from lanlab.report.document.table import Table
    from lanlab.report.document.trial_columns import TrialColumn


@dataclass(frozen=True)
class SeriesOf:
    study: Study
    summary: Summary
    rest: Mapping[str, Level]
    words: Callable[[Mapping[str, Level]], str]


class Presentation:
    #: Whether its sentences are the whole answer of an experiment, without ranges of a metric.
    answers_alone = False
    #: Whether means of several conditions are said as a range; if not, each is said.
    has_ranges = True

    def sentences(self, study: Study, experiment: str, trials: Sequence[TrialRecord]) -> list[str]:
        """What only this workload answers.

        Args:
            experiment: Its id.
            trials: Trials of the experiment.
        """
        return []

    def remark(self, run: RunRecord, study: Study, trials: Sequence[TrialRecord]) -> str | None:
        """What to know of the results of one experiment; `None` where there is nothing."""
        return None

    def range_factor(self, experiment: Experiment) -> str:
        """The factor along which means are said as a range: the last that is numeric."""
        numbers = numeric_factors(experiment)
        return numbers[-1] if numbers else "message_size_bytes"

    def series_text(self, of: SeriesOf) -> str:
        """What tells a series from the others, to be put behind the name of its metric."""
        return over(of.words(of.rest))

    def first_tables(
        self, trials: Sequence[TrialRecord], study: Study, experiment: str
    ) -> list[Table]:
        return []

    def further_tables(
        self, run: RunRecord, trials: Sequence[TrialRecord], study: Study, experiment: str
    ) -> list[Table]:
        return []

    def with_more_columns(
        self,
        table: Table,
        run: RunRecord,
        trials: Sequence[TrialRecord],
        experiment: str,
        metric: str,
    ) -> Table:
        return table

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        """The figures of an experiment for which the study names none: each metric against each
        factor that is a number."""
        if numeric_factors(experiment):
            for metric in experiment.metrics:
                name = quantity(None, metric).name
                title = f"{name[0].upper()}{name[1:]}"
                yield figure(experiment, "against_factor", title, metric=metric)

    def to_json(self, trial: TrialRecord) -> dict[str, Any]:
        return {}

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        """All that one trial of a single measurement found.

        Args:
            with_modes: Whether to say how it was measured, and why.
        """
        return []

    def common_lines(self, trials: Sequence[TrialRecord]) -> list[str]:
        return []

    def columns(self, trial: TrialRecord) -> Sequence[TrialColumn]:
        return ()

    def directions(self, trial: TrialRecord) -> list[tuple[str, TrialRecord]]:
        """Each direction of a trial with its heading; that of a trial with only one is empty."""
        return [("", trial)]


def numeric_factors(experiment: Experiment) -> list[str]:
    return [key for key in experiment.factors if is_numeric(experiment.workload, key)]


def figure(experiment: Experiment, name: str, title: str, **more: Any) -> Figure:
    return Figure(figure=name, title=title, experiments=(experiment.id,), **more)


def over(*parts: str) -> str:
    return " ".join(filter(None, ["over", *parts]))
