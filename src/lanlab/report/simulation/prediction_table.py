"""Compares the same conditions with unchanged and with changed machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.analysis.simulation.limiting import cause_of
from lanlab.analysis.simulation.model_error import (
    model_error_log,
    of_metric,
    ratio_error_log,
    widened,
)
from lanlab.analysis.trials.attempts import condition_key
from lanlab.analysis.trials.summary import conditions_of, greatest_possible
from lanlab.figures.number_text import counted, number
from lanlab.figures.wording import condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.model import Study

Run = tuple[RunRecord, Sequence[TrialRecord]]
#: The first metric of each condition, by experiment and `condition_key`: unchanged and changed.
Sides = tuple[Mapping[tuple[str, str], float], Mapping[tuple[str, str], float]]
Ends = tuple[float, float]
#: Intervals whose ends differ by more than this factor are printed with two digits.
_TWO_DIGITS_FROM = 1.1


@dataclass(frozen=True)
class Predicted:
    experiment: str
    factors: dict[str, Level]
    metric: str
    #: Means, in the metric's unit; `None` if no trial has it.
    before: float | None
    after: float | None
    cause_before: str | None
    cause_after: str | None
    #: The range that the fit leaves open, in the metric's unit; `None` if not computed.
    range_before: Ends | None = None
    range_after: Ends | None = None
    range_ratio: Ends | None = None
    #: The range including the model's error; `None` if unknown, or for a ratio that does not
    #: change.
    interval_before: Ends | None = None
    interval_after: Ends | None = None
    interval_ratio: Ends | None = None
    #: Upper bounds by the link and the offered load; `None` without a bound.
    most_before: float | None = None
    most_after: float | None = None

    @property
    def ratio(self) -> float | None:
        if self.before is None or self.after is None or not self.before:
            return None
        return self.after / self.before


def predictions(before: Run, after: Run) -> list[Predicted]:
    study = Study.model_validate(before[0].study)
    found = []
    for experiment in study.experiment:
        if experiment.search is not None:
            continue
        metric = experiment.metrics[0]
        sides = [
            {condition_key(one.factors): one for one in conditions_of(*run, experiment.id)}
            for run in (before, after)
        ]
        for key, first in sides[0].items():
            second = sides[1].get(key)
            one, other = first.summary(metric), None if second is None else second.summary(metric)
            found.append(
                Predicted(
                    experiment.id,
                    one.factors,
                    metric,
                    one.mean,
                    None if other is None else other.mean,
                    cause_of(first.trials),
                    cause_of(second.trials if second else []),
                    most_before=greatest_possible(one.metric, one.parameters, one.limit),
                    most_after=None
                    if other is None
                    else greatest_possible(other.metric, other.parameters, other.limit),
                )
            )
    return found


def with_ranges(
    found: Sequence[Predicted], own: Sides, members: Sequence[Sides]
) -> list[Predicted]:
    """
    Add the range that the fit leaves open: the values over all machines that fit the published
    values.

    Args:
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
            # One of the machines has no result, so the range is unknown.
            ranged.append(one)
            continue
        (own_before, own_after), *_ = pairs
        ranged.append(
            replace(
                one,
                range_before=_around(one.before, [before / own_before for before, _ in pairs]),
                range_after=_around(one.after, [after / own_after for _, after in pairs]),
                range_ratio=_around(
                    one.ratio, [after / before * own_before / own_after for before, after in pairs]
                ),
            )
        )
    return ranged


def _around(value: float | None, factors: Sequence[float]) -> Ends | None:
    return None if value is None else (value * min(factors), value * max(factors))


def with_intervals(found: Sequence[Predicted], held_out: Sequence[Accuracy]) -> list[Predicted]:
    """
    Add intervals that include the model's error and the range that the fit leaves open. Conditions
    of a metric whose error is unknown get none. The interval of a ratio assumes that both values
    have independent errors, which is too wide if the change affects little of the machine.

    Args:
        held_out: The result of `lanlab.analysis.simulation.run.held_out_of`.
    """
    logs = {
        metric: model_error_log(of_metric(held_out, metric))
        for metric in {one.metric for one in found}
    }
    return [
        one if (half_log := logs[one.metric]) is None else _with_interval(one, half_log)
        for one in found
    ]


def _with_interval(one: Predicted, half_log: float) -> Predicted:
    # A change that does not affect the condition gives the same result twice.
    is_alike = one.ratio == 1.0
    ratio_log = ratio_error_log(half_log)
    return replace(
        one,
        interval_before=_widened(one.before, half_log, one.range_before, one.most_before),
        interval_after=_widened(one.after, half_log, one.range_after, one.most_after),
        interval_ratio=None if is_alike else _widened(one.ratio, ratio_log, one.range_ratio),
    )


def _widened(
    value: float | None, half_log: float, fit: Ends | None, most: float | None = None
) -> Ends | None:
    if value is None or value <= 0:
        return None
    low, high = widened(value, half_log, fit)
    return low, high if most is None else max(value, min(high, most))


def prediction_sentence(found: Sequence[Predicted], study: Study, change: str) -> str:
    """The effects of a change beyond the model's error, in one sentence."""
    change = change[:1].upper() + change[1:]
    known = [one for one in found if one.before is not None and one.after is not None]
    ratios = [one.ratio for one in known if one.ratio is not None]
    if not known:
        return f"{change}: no condition has results of both sides."
    if all(one.before == one.after for one in known):
        return f"{change}: changes no simulated result."
    if ratios and all(one.interval_ratio is None for one in found):
        return (
            f"{change}: simulated results are {_times(ratios)} those of the study; the model's "
            "error is not known, so no difference is shown."
        )
    said, unknown = [], []
    for experiment in dict.fromkeys(one.experiment for one in found):
        own = [one for one in found if one.experiment == experiment]
        shown = quantity(study, own[0].metric)
        changed = [one for one in own if one.ratio and one.ratio != 1.0]
        if changed and all(one.interval_ratio is None for one in changed):
            unknown.append(shown.name)
        beyond = [
            one
            for one in own
            # A result of zero has no interval.
            if one.ratio == 0
            or ((ends := one.interval_ratio) is not None and not ends[0] <= 1 <= ends[1])
        ]
        if beyond:
            times = _times([one.ratio for one in beyond if one.ratio is not None])
            said.append(f"{shown.name} {times} ({_where(beyond, own, study)})")
        risen = [one for one in own if one.before == 0 and one.after]
        if risen:
            shown = shown.readable(one.after for one in risen)
            values = _ends([shown.shown(one.after) for one in risen if one.after])
            text = f"{values} {shown.unit}".rstrip()
            said.append(f"{shown.name} {text} instead of 0 ({_where(risen, own, study)})")
    lacking = len(found) - len(known)
    without = f"; {counted(lacking, 'condition')} without a result" if lacking else ""
    if unknown:
        named = " and ".join(dict.fromkeys(unknown))
        without = f"; the model's error of {named} is not known{without}"
    if not said:
        return f"{change}: everything stays within the model's error{without}."
    rest = f"everything else stays within the model's error{without}"
    return f"{change}: {'; '.join(said)}; {rest}."


def _where(some: Sequence[Predicted], own: Sequence[Predicted], study: Study) -> str:
    title = study.titles[own[0].experiment]
    if len(some) == 1:
        return f"{title}, {condition_text(study, some[0].factors)}"
    return f"in {len(some)} of {len(own)} conditions of {title}"


def _times(ratios: Sequence[float]) -> str:
    return f"{_ends(ratios)} \N{MULTIPLICATION SIGN}"


def _ends(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(number(one, 2) for one in (min(values), max(values))))


def intervals_sentence(members: int) -> str:
    fit = "; what the fit leaves open was not simulated"
    if members:
        fit = f" and on {counted(members, 'other set')} of machine numbers that also fit"
    return (
        f"Intervals, 95 %, rest on the model's errors at held-out values{fit}. A ratio takes both "
        "errors as independent. For another adapter, clock or disk they are too narrow."
    )


def prediction_tables(found: Sequence[Predicted], study: Study) -> list[Table]:
    tables = []
    for experiment in dict.fromkeys(one.experiment for one in found):
        own = [one for one in found if one.experiment == experiment]
        shown = quantity(study, own[0].metric).readable(
            value for one in own for value in (one.before, one.after)
        )
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
                *_ranged(one.before, one.interval_before, shown.shown),
                *_ranged(one.after, one.interval_after, shown.shown),
                *_ranged(one.ratio, one.interval_ratio, float),
            ]
            causes = [words(cause or "") for cause in (one.cause_before, one.cause_after)]
            rows.append((words(condition_text(study, one.factors)), *cells, *causes))
        title = f"{study.titles[experiment]}: {head}"
        tables.append(Table(f"prediction-{experiment}", title, columns, tuple(rows)))
    return tables


def _ranged_columns(name: str, heading: str, short: str) -> tuple[Column, Column, Column]:
    return Column(name, heading, short), Column(f"{name}_low"), Column(f"{name}_high")


def _ranged(
    value: float | None, ends: Ends | None, shown: Callable[[float], float]
) -> tuple[Cell, Cell, Cell]:
    if value is None:
        return EMPTY, EMPTY, EMPTY
    digits = 2 if ends is not None and ends[1] > _TWO_DIGITS_FROM * ends[0] else 3

    def text_of(one: float) -> str:
        # Round digits before the decimal point, too.
        return number(float(f"{shown(one):.{digits}g}"), digits)

    text = text_of(value)
    if ends is None:
        return Cell(value, text), EMPTY, EMPTY
    low, high = map(text_of, ends)
    text += "" if low == high == text else f" ({low} … {high})"
    return Cell(value, text), Cell(ends[0], ""), Cell(ends[1], "")
