"""Compares the same conditions with unchanged and with changed machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.attempts import condition_key
from lanlab.analysis.limiting import cause_of
from lanlab.analysis.model_error import widened
from lanlab.analysis.summary import Summary, conditions_of
from lanlab.figures.number_text import counted, number
from lanlab.figures.wording import condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study

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
                    most_before=_most(one),
                    most_after=None if other is None else _most(other),
                )
            )
    return found


def _most(one: Summary) -> float | None:
    parameters = one.parameters
    rate = float(parameters.get("rate_messages_per_s") or 0)
    offered = {
        "goodput_bps": float(parameters.get("rate_bps") or 0)
        or 8 * rate * float(parameters.get("message_size_bytes") or 0),
        "received_messages_per_s": rate,
    }.get(one.metric)
    return min((bound for bound in (one.limit, offered) if bound), default=None)


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


def with_intervals(found: Sequence[Predicted], half_log: float | None) -> list[Predicted]:
    """
    Add intervals that include the model's error and the range that the fit leaves open.

    Args:
        half_log: The result of `lanlab.analysis.model_error.model_error_log`. The interval of a
            ratio assumes that both values have independent errors, which is too wide if the change
            affects little of the machine. `None`: no interval is known.
    """
    if half_log is None:
        return list(found)
    return [
        replace(
            one,
            interval_before=_widened(one.before, half_log, one.range_before, one.most_before),
            interval_after=_widened(one.after, half_log, one.range_after, one.most_after),
            # A change that does not affect the condition gives the same result twice.
            interval_ratio=None
            if one.ratio == 1.0
            else _widened(one.ratio, math.sqrt(2) * half_log, one.range_ratio),
        )
        for one in found
    ]


def _widened(
    value: float | None, half_log: float, fit: Ends | None, most: float | None = None
) -> Ends | None:
    if value is None or value <= 0:
        return None
    low, high = widened(value, half_log, fit)
    return low, high if most is None else max(value, min(high, most))


def prediction_sentence(found: Sequence[Predicted], study: Study, change: str) -> str:
    """The effects of a change beyond the model's error, in one sentence."""
    ratios = [one.ratio for one in found if one.ratio is not None]
    if not ratios:
        return f"{change}: no condition has results of both sides."
    if all(ratio == 1.0 for ratio in ratios):
        return f"{change}: changes no simulated result."
    if all(one.interval_ratio is None for one in found):
        return (
            f"{change}: simulated results are {_times(ratios)} those of the study; the model's "
            "error is not known, so no difference is shown."
        )
    said = []
    for experiment in dict.fromkeys(one.experiment for one in found):
        own = [one for one in found if one.experiment == experiment]
        beyond = [
            one
            for one in own
            # A result of zero has no interval.
            if one.ratio == 0
            or ((ends := one.interval_ratio) is not None and not ends[0] <= 1 <= ends[1])
        ]
        if beyond:
            times = _times([one.ratio for one in beyond if one.ratio is not None])
            where = f"in {len(beyond)} of {len(own)} conditions of {study.titles[experiment]}"
            if len(beyond) == 1:
                where = f"{study.titles[experiment]}, {condition_text(study, beyond[0].factors)}"
            said.append(f"{quantity(study, own[0].metric).name} {times} ({where})")
    lacking = len(found) - len(ratios)
    without = f"; {counted(lacking, 'condition')} without a result" if lacking else ""
    if not said:
        return f"{change}: everything stays within the model's error{without}."
    rest = f"everything else stays within the model's error{without}"
    return f"{change}: {'; '.join(said)}; {rest}."


def _times(ratios: Sequence[float]) -> str:
    ends = dict.fromkeys(number(one, 2) for one in (min(ratios), max(ratios)))
    return f"{' to '.join(ends)} \N{MULTIPLICATION SIGN}"


def intervals_sentence(members: int) -> str:
    if not members:
        return (
            "Intervals are of what the model misses, 95 %. What the fit leaves open was not "
            "simulated: no other machines that agree with print were asked for, or none are known "
            "of this study."
        )
    return (
        "Intervals are of what the model misses, 95 %, and of what its fit leaves open: the range "
        f"over {counted(members, 'other machine')} that agree with every fitted value as well. "
        "Those of a ratio take both sides as missed independently. For another adapter, clock or "
        "disk they are too narrow."
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
