"""The same conditions with and without a change of the machines."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.limiting import cause_of
from lanlab.analysis.published import published_numbers
from lanlab.analysis.simulated import PREDICTED
from lanlab.analysis.simulated_run import run_accuracies
from lanlab.analysis.summary import condition_key, summarise
from lanlab.figures.wording import condition_text, number, percent, quantity
from lanlab.frozen import dataclass
from lanlab.report.table import Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study

Run = tuple[RunRecord, Sequence[TrialRecord]]


@dataclass(frozen=True)
class Predicted:
    """A metric at a condition, as the study has its machines and with them changed."""

    experiment: str
    factors: dict[str, Level]
    metric: str
    #: Means, in the metric's unit; `None` where no trial has it.
    before: float | None
    after: float | None
    #: What limits.
    cause_before: str | None
    cause_after: str | None

    @property
    def ratio(self) -> float | None:
        """After by before."""
        if self.before is None or self.after is None or not self.before:
            return None
        return self.after / self.before


def predictions(before: Run, after: Run) -> list[Predicted]:
    """The first metric of each experiment, at every condition of both runs."""
    study = Study.model_validate(before[0].study)
    found = []
    for experiment in study.experiment:
        if experiment.search is not None:
            continue
        metric = experiment.metrics[0]
        sides = [
            {condition_key(one.factors): one for one in summarise(*run, experiment.id, metric)}
            for run in (before, after)
        ]
        for key, one in sides[0].items():
            other = sides[1].get(key)
            causes = [
                cause_of(
                    [
                        trial
                        for trial in trials
                        if trial.experiment == experiment.id and condition_key(trial.factors) == key
                    ]
                )
                for _, trials in (before, after)
            ]
            mean = None if other is None else other.mean
            found.append(Predicted(experiment.id, one.factors, metric, one.mean, mean, *causes))
    return found


def prediction_error_sentence(before: Run) -> str:
    """How far the model missed what it was not fitted to: what a changed number is worth."""
    run, trials = before
    missed = [
        abs(one.error_ratio)
        for one in run_accuracies(run, trials, published_numbers(run))
        if one.standing in PREDICTED and one.can_fail
    ]
    if not missed:
        return (
            "No printed value of these experiments was predicted that the model could have "
            "missed: how far it errs is not known."
        )
    values = "1 value" if len(missed) == 1 else f"{len(missed)} values"
    far = percent(max(missed), 2)
    return (
        f"The model missed {values} of these experiments, predicted before a fit or held out, by "
        f"up to {far}: differences below that are not to be relied on."
    )


def prediction_tables(found: Sequence[Predicted], study: Study) -> list[Table]:
    """A table for each experiment."""
    titles = {one.id: one.title for one in study.experiment}
    tables = []
    for experiment in dict.fromkeys(one.experiment for one in found):
        own = [one for one in found if one.experiment == experiment]
        shown = quantity(study, own[0].metric)
        head = f"{shown.name} ({shown.unit})" if shown.unit else shown.name
        columns = (
            Column("condition", "condition", "condition", is_number=False),
            Column("before", f"{head}, as in the study", "as in the study"),
            Column("after", f"{head}, changed", "changed"),
            Column("ratio", "ratio", "ratio"),
            Column("limited_by", "limited by", "limited by", is_number=False),
            Column("limited_by_after", "changed: limited by", "changed: limited by", False),
        )
        rows = []
        for one in own:
            pair = [
                Cell(value, "" if value is None else number(shown.shown(value)))
                for value in (one.before, one.after)
            ]
            ratio = Cell(one.ratio, "" if one.ratio is None else number(one.ratio, 3))
            causes = [words(cause or "") for cause in (one.cause_before, one.cause_after)]
            rows.append((words(condition_text(study, one.factors)), *pair, ratio, *causes))
        title = f"{titles[experiment]}: {head}"
        tables.append(Table(f"prediction-{experiment}", title, columns, tuple(rows)))
    return tables
