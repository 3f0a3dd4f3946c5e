"""The same conditions with and without a change of the machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.limiting import cause_of
from lanlab.analysis.summary import condition_key, summarise
from lanlab.figures.wording import condition_text, number, quantity
from lanlab.frozen import dataclass
from lanlab.report.table import EMPTY, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study

Run = tuple[RunRecord, Sequence[TrialRecord]]
#: The first metric of each condition, by experiment and `condition_key`: as in the study, changed.
Sides = tuple[Mapping[tuple[str, str], float], Mapping[tuple[str, str], float]]
Ends = tuple[float, float]


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
    #: What the fit leaves open of each, in the metric's unit; `None`: not computed.
    range_before: Ends | None = None
    range_after: Ends | None = None
    range_ratio: Ends | None = None

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
            found.append(
                Predicted(experiment.id, one.factors, metric, one.mean, mean, causes[0], causes[1])
            )
    return found


def with_ranges(
    found: Sequence[Predicted], own: Sides, members: Sequence[Sides]
) -> list[Predicted]:
    """
    The same with what the fit leaves open: the range over machines that agree with print.

    Args:
        found: Means of the runs.
        own: One trial of each condition, on the study's own machines.
        members: The same trials on each of the other machines.
    """
    ranged = []
    for one in found:
        key = one.experiment, condition_key(one.factors)
        pairs = [
            (before[key], after[key])
            for before, after in (own, *members)
            if before.get(key, 0) > 0 and after.get(key, 0) > 0
        ]
        if len(pairs) <= len(members):
            # Of some machine there is nothing: what it leaves open is not known.
            ranged.append(one)
            continue
        (own_before, own_after), *_ = pairs
        ranged.append(
            replace(
                one,
                range_before=_around(one.before, [before / own_before for before, _ in pairs]),
                range_after=_around(one.after, [after / own_after for _, after in pairs]),
                range_ratio=_around(
                    one.ratio,
                    [after / before * own_before / own_after for before, after in pairs],
                ),
            )
        )
    return ranged


def _around(value: float | None, factors: Sequence[float]) -> Ends | None:
    return None if value is None else (value * min(factors), value * max(factors))


def ranges_sentence(members: int) -> str:
    """What the ranges are over."""
    if not members:
        return (
            "What the fit leaves open was not simulated: no other machines that agree with print "
            "were asked for, or none are known of this study."
        )
    others = "1 other machine" if members == 1 else f"{members} other machines"
    return (
        f"Ranges are over {others} that agree with every fitted value as well: what the fit leaves "
        "open."
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
            *_ranged_columns("before", f"{head}, as in the study", "as in the study"),
            *_ranged_columns("after", f"{head}, changed", "changed"),
            *_ranged_columns("ratio", "ratio", "ratio"),
            Column("limited_by", "limited by", "limited by", is_number=False),
            Column("limited_by_after", "changed: limited by", "changed: limited by", False),
        )
        rows = []
        for one in own:
            cells = [
                *_ranged(one.before, one.range_before, shown.shown),
                *_ranged(one.after, one.range_after, shown.shown),
                *_ranged(one.ratio, one.range_ratio, float),
            ]
            causes = [words(cause or "") for cause in (one.cause_before, one.cause_after)]
            rows.append((words(condition_text(study, one.factors)), *cells, *causes))
        title = f"{titles[experiment]}: {head}"
        tables.append(Table(f"prediction-{experiment}", title, columns, tuple(rows)))
    return tables


def _ranged_columns(name: str, heading: str, short: str) -> tuple[Column, Column, Column]:
    return Column(name, heading, short), Column(f"{name}_low"), Column(f"{name}_high")


def _ranged(
    value: float | None, ends: Ends | None, shown: Callable[[float], float]
) -> tuple[Cell, Cell, Cell]:
    """A value with its range, to three digits: more the model does not know."""
    if value is None:
        return EMPTY, EMPTY, EMPTY
    text = number(shown(value), 3)
    if ends is None:
        return Cell(value, text), EMPTY, EMPTY
    low, high = (number(shown(end), 3) for end in ends)
    text += "" if low == high == text else f" ({low} … {high})"
    return Cell(value, text), Cell(ends[0], ""), Cell(ends[1], "")
