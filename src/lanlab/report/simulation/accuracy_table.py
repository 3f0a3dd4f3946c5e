"""The accuracy of a simulation: each published value, and how many are within each error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.simulation.accuracy import (
    PAIRED,
    PREDICTED,
    STANDINGS,
    WITHIN_RATIOS,
    Accuracy,
    Freedom,
    counts,
    freedoms,
)
from lanlab.analysis.simulation.model_error import (
    LEAST_HELD_OUT,
    HeldOut,
    by_metric,
    by_print_alone,
    cross_validated,
    held_out_values,
    model_error_log,
    ratio_error_log,
)
from lanlab.analysis.simulation.run import run_accuracies
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted, number, percent
from lanlab.figures.published_values import levels_text
from lanlab.figures.wording import BOUNDS, level_text, quantity
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell, words
from lanlab.store import Level
from lanlab.studies.model import Study
from lanlab.studies.published import Published

TITLE = "Simulated and published values"
_EXTREMES = {"minimum": "smallest ", "maximum": "largest "}


def accuracy_tables(data: RunData) -> list[Table]:
    found = data.once(run_accuracies)
    if not found:
        return []
    return [
        accuracy_table(found, data.study),
        accuracy_count_table(found, data.study, data.published),
    ]


def accuracy_table(found: Sequence[Accuracy], study: Study) -> Table:
    columns = (
        Column("id", is_number=False),
        Column("about", "published value", "published value", is_number=False),
        Column("published"),
        Column("bound", is_number=False),
        Column("", "published", "published"),
        Column("simulated"),
        Column("", "simulated", "simulated"),
        *map(Column, ("simulated_low", "simulated_high")),
        Column("", "left open by the fit", "left open by the fit", rank=1),
        *map(Column, ("interval_low", "interval_high")),
        Column("", "interval by the others held out", "by the others held out", rank=1),
        Column("error_ratio", "error", "error"),
        Column("baseline"),
        Column("", "estimated from the publication", "estimated"),
        Column("skill", "skill", "skill"),
        Column("standing", "predicted or fitted", "predicted or fitted", is_number=False),
        Column("how", "read off as", "", is_number=False),
    )
    checked = {one.accuracy.value.id: one for one in cross_validated(held_out_values(found))}
    # If the publication names the condition of a maximum, the simulated value is taken there.
    at = {one.repeats: one.value.condition for one in found if one.repeats is not None}
    rows = tuple(_row(one, study, checked, at.get(one.value.id, {})) for one in found)
    return Table("accuracy", TITLE, columns, rows)


def accuracy_count_table(found: Sequence[Accuracy], study: Study, published: Published) -> Table:
    """The number of published values within each error, by their role in the fit."""
    within = [f"within {100 * ratio:g} %" for ratio in WITHIN_RATIOS]
    columns = (
        Column("standing", "published values", "published values", is_number=False),
        *(
            Column(f"within_{ratio:g}", text, text)
            for ratio, text in zip(WITHIN_RATIOS, within, strict=True)
        ),
        Column("values", "of", "of"),
        Column("worth", "what that is worth", "what that is worth", is_number=False),
    )
    rows = []
    for standing in STANDINGS:
        own = [one for one in found if one.standing == standing]
        *near, total = counts(own)
        if total:
            cells = map(cell, (*near, total))
            worth = ""
            skills = [one.skill for one in own if one.skill is not None and one.can_fail]
            if skills:
                worth = f"{sum(skill > 0 for skill in skills)} of {len(skills)} nearer than print"
                if checked := cross_validated(held_out_values(own)):
                    inside = sum(one.is_inside for one in checked)
                    worth += f"; {inside} of {len(checked)} in the interval by the others"
            elif standing == "fitted" and study.simulation is not None:
                worth = "; ".join(map(_freedom, freedoms(published, study.simulation)))
            rows.append((words(standing), *cells, words(worth)))
    return Table("accuracy-counts", "How many are how near", columns, tuple(rows))


def missed_sentence(found: Sequence[Accuracy], published: Published | None = None) -> str:
    """The model's error at values to which nothing was fitted. It shows how certain a simulated
    value is.

    Args:
        published: The study's published values, to name the levels that all of a metric share.
    """
    if not found:
        return (
            "The model's error is unknown: every published value was fitted, or cannot be missed."
        )
    groups = by_metric(found)
    names = [quantity(None, own[0].value.metric).name if groups[1:] else "" for own in groups]
    shared = [_shared(own, published) if published else "" for own in groups]
    return " ".join(map(_missed, groups, names, shared))


def _shared(found: Sequence[Accuracy], published: Published) -> str:
    """The levels that all values share of factors with several."""
    first = found[0].value.condition
    keys = [factor.name for factor in published.factor if len(factor.levels) > 1]
    own = [
        key for key in keys if all(one.value.condition.get(key) == first.get(key) for one in found)
    ]
    return levels_text(published, first, own)


def _missed(found: Sequence[Accuracy], name: str, shared: str) -> str:
    are_paired = all(one.value.statistic in PAIRED for one in found)
    of = " ".join(filter(None, (f"of {name}" if name else "", f"({shared})" if shared else "")))
    values = f"{counted(len(found), 'published ratio' if are_paired else 'published value')} {of}"
    worst = percent(max(abs(one.error_ratio) for one in found), 2)
    said = f"The simulation misses {values.rstrip()} that had no part in the fit by up to {worst}"
    half_log = model_error_log(found)
    if half_log is None:
        return f"{said}: too few for an interval, which needs {LEAST_HELD_OUT}."
    checked = cross_validated(found)
    inside = sum(one.is_inside for one in checked)
    either = (
        f"{math.exp(half_log):.2f}, a ratio of two within {math.exp(ratio_error_log(half_log)):.2f}"
    )
    said += (
        f". {'If single values err alike, a' if are_paired else 'A'} value is right within a "
        f"factor of {either} (95 %). {inside} of {len(checked)} lie in the interval that the "
        "others give."
    )
    by_print = model_error_log(by_print_alone(found))
    if by_print is not None:
        factor = f"{math.exp(by_print):.2f}"
        said += f" Estimates from published values alone are right within a factor of {factor}"
        said += ": the simulation is no better." if by_print <= half_log else "."
    return said


def _freedom(one: Freedom) -> str:
    left = one.left if one.left > 0 else "no"
    degrees = "degrees" if one.left > 1 else "degree"
    return (
        f"{one.free} free numbers for {one.values} values of {quantity(None, one.metric).name}: "
        f"{left} {degrees} of freedom left"
    )


def _row(
    one: Accuracy, study: Study, checked: Mapping[str, HeldOut], at: Mapping[str, Level]
) -> tuple[Cell, ...]:
    value = one.value
    condition = {**value.condition, **at}
    pair = [condition.pop(key, None) for key in ("numerator", "denominator")]
    about = [_EXTREMES.get(value.statistic, "") + quantity(study, value.metric).name]
    about += [" to ".join(map(str, pair))] if all(pair) else []
    about += [level_text(study, key, level) for key, level in condition.items()]
    held_out = checked.get(value.id) if one.standing in PREDICTED else None
    bound = f"{BOUNDS[value.bound]} " if value.bound else ""
    sign = "+" if one.error_ratio > 0 else ""
    return (
        Cell(value.id, ""),
        words(", ".join(about)),
        Cell(one.published, ""),
        Cell(BOUNDS[value.bound] if value.bound else None, ""),
        Cell(None, f"{bound}{_shown(one, one.published, study)}"),
        Cell(one.simulated, ""),
        Cell(None, _shown(one, one.simulated, study)),
        *(Cell(end, "") for end in (one.low, one.high)),
        _ends(one, one.low, one.high, study),
        *_by_others(held_out, study),
        Cell(one.error_ratio, f"{sign}{percent(one.error_ratio, 2)}"),
        Cell(one.baseline, ""),
        EMPTY if one.baseline is None else Cell(None, _shown(one, one.baseline, study)),
        _skill(one),
        words(one.standing)
        if one.repeats is None
        else Cell(f"{one.standing}, as {one.repeats}", f"{one.standing}, follows from another"),
        words(one.how),
    )


def _by_others(one: HeldOut | None, study: Study) -> tuple[Cell, Cell, Cell]:
    if one is None:
        return (EMPTY,) * 3
    text = _ends(one.accuracy, one.low, one.high, study).text
    outside = "" if one.is_inside else ", published value outside"
    return Cell(one.low, ""), Cell(one.high, ""), Cell(None, f"{text}{outside}")


def _ends(one: Accuracy, low: float | None, high: float | None, study: Study) -> Cell:
    if low is None or high is None:
        return EMPTY
    return Cell(None, f"{_shown(one, low, study)} … {_shown(one, high, study)}")


def _skill(one: Accuracy) -> Cell:
    if one.skill is None:
        return EMPTY if one.baseline is None else Cell(None, "the estimate is exact")
    return Cell(one.skill, number(one.skill, 2) if one.skill > 0 else "no better than the estimate")


def _shown(one: Accuracy, value: float, study: Study) -> str:
    statistic = one.value.statistic
    if statistic == "share_of_link":
        return f"{percent(value)} of the link"
    if statistic in PAIRED:
        return f"{number(value, 3)} times"
    return quantity(study, one.value.metric).text(value)
