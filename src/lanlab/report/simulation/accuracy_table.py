"""The accuracy of a simulation: each published value, and how many are within each error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.model_error import (
    LEAST_HELD_OUT,
    HeldOut,
    by_print_alone,
    cross_validated,
    held_out_values,
    model_error_log,
    with_others,
)
from lanlab.analysis.published import published_numbers
from lanlab.analysis.run_data import RunData
from lanlab.analysis.simulated import (
    PREDICTED,
    STANDINGS,
    WITHIN_RATIOS,
    Accuracy,
    Freedom,
    counts,
    freedoms,
    kept_accuracies,
)
from lanlab.analysis.simulated_run import run_accuracies
from lanlab.figures.number_text import number, percent
from lanlab.figures.wording import BOUNDS, level_text, quantity
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Published, Study

TITLE = "Simulated and published values"


def accuracy_tables(data: RunData) -> list[Table]:
    found = run_accuracies(data.run, data.trials, data.published)
    if not found:
        return []
    return [
        accuracy_table(found, data.study),
        accuracy_count_table(found, data.study, data.published),
    ]


def accuracy_table(found: Sequence[Accuracy], study: Study) -> Table:
    columns = (
        Column("id", "published value", "value", is_number=False),
        Column("about", "about", "about", is_number=False),
        Column("published"),
        Column("bound", is_number=False),
        Column("", "published", "published"),
        Column("simulated"),
        Column("", "simulated", "simulated"),
        Column("simulated_low"),
        Column("simulated_high"),
        Column("", "left open by the fit", "left open by the fit", rank=1),
        Column("interval_low"),
        Column("interval_high"),
        Column("", "interval by the others held out", "by the others held out", rank=1),
        Column("error_ratio", "error", "error"),
        Column("baseline"),
        Column("", "by print alone", "by print alone"),
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
            cells = [Cell(count, str(count)) for count in (*near, total)]
            worth = ""
            skills = [one.skill for one in own if one.skill is not None and one.can_fail]
            if skills:
                worth = f"{sum(skill > 0 for skill in skills)} of {len(skills)} nearer than print"
                checked = cross_validated(held_out_values(own))
                if checked:
                    inside = sum(one.is_inside for one in checked)
                    worth += f"; {inside} of {len(checked)} in the interval by the others"
            elif standing == "fitted" and study.simulation is not None:
                worth = "; ".join(map(_freedom, freedoms(published, study.simulation)))
            rows.append((words(standing), *cells, words(worth)))
    return Table("accuracy-counts", "How many are how near", columns, tuple(rows))


def accuracy_sentences(found: Sequence[Accuracy], study: Study) -> list[str]:
    if not found:
        return []
    bounds = sum(one.is_bound for one in found)
    exact = sum(one.is_counted and not one.can_fail for one in found)
    said = [
        "A fitted value is no prediction: a number of a machine was chosen by it. A value held out "
        "was set aside before that, and is predicted where the simulation comes nearer than print "
        "alone: skill is 1 less the simulation's error over that of print. With no degree of "
        "freedom left a fitted value could not be missed."
    ]
    if any(one.standing == "predicted before the fit" for one in found):
        said.append(
            "A value predicted before the fit has two rows: what was simulated when nothing was "
            "fitted to it, and what the machines give since a fit took it in."
        )
    if exact:
        values = "1 held-out value is" if exact == 1 else f"{exact} held-out values are"
        said.append(f"{values} what print alone has exactly, could not be missed, and not counted.")
    if bounds:
        kept = "1 value is a bound and is" if bounds == 1 else f"{bounds} values are bounds and are"
        said.append(f"{kept} not counted.")
    note = study.simulation.note if study.simulation is not None else None
    return [*said, note] if note else said


def held_out_of(run: RunRecord, trials: Sequence[TrialRecord]) -> list[Accuracy]:
    """The published values that can test the model of a simulated run: the held-out values that are
    stored with its study, and the run's own values that nothing was fitted to.
    """
    simulation, published = Study.model_validate(run.study).simulation, published_numbers(run)
    kept = [] if simulation is None else kept_accuracies(published, simulation)
    return with_others(held_out_values(kept), run_accuracies(run, trials, published))


def missed_in(run: RunRecord, trials: Sequence[TrialRecord]) -> str:
    """`missed_sentence` for the trials of a simulated run."""
    return missed_sentence(held_out_of(run, trials))


def missed_sentence(found: Sequence[Accuracy]) -> str:
    """
    The model's error at values to which nothing was fitted. It shows how certain a simulated value
    is.

    Args:
        found: The result of `held_out_values`.
    """
    if not found:
        return (
            "The model's error is unknown: every published value was fitted, or cannot be missed."
        )
    values = "1 published value" if len(found) == 1 else f"{len(found)} published values"
    worst = percent(max(abs(one.error_ratio) for one in found), 2)
    said = f"At {values} that nothing was fitted to, the model errs by up to {worst}"
    half_log = model_error_log(found)
    if half_log is None:
        return f"{said}. An interval needs {LEAST_HELD_OUT} such values."
    checked = cross_validated(found)
    inside = sum(one.is_inside for one in checked)
    said += (
        f": it is right within a factor of {math.exp(half_log):.2f} (95 %). For {inside} of "
        f"{len(checked)}, the errors at the others predict this."
    )
    by_print = model_error_log(by_print_alone(found))
    if by_print is not None:
        factor = f"{math.exp(by_print):.2f}"
        said += f" Estimates from published values alone are right within a factor of {factor}."
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
    about = [" to ".join(map(str, pair))] if all(pair) else []
    about += [level_text(study, key, level) for key, level in condition.items()]
    held_out = checked.get(value.id) if one.standing in PREDICTED else None
    bound = f"{BOUNDS[value.bound]} " if value.bound else ""
    sign = "+" if one.error_ratio > 0 else ""
    return (
        words(value.id),
        words(", ".join(about)),
        Cell(one.published, ""),
        Cell(BOUNDS[value.bound] if value.bound else None, ""),
        Cell(None, f"{bound}{_shown(one, one.published, study)}"),
        Cell(one.simulated, ""),
        Cell(None, _shown(one, one.simulated, study)),
        Cell(one.low, ""),
        Cell(one.high, ""),
        _ends(one, one.low, one.high, study),
        *_by_others(held_out, study),
        Cell(one.error_ratio, f"{sign}{percent(one.error_ratio, 2)}"),
        Cell(one.baseline, ""),
        EMPTY if one.baseline is None else Cell(None, _shown(one, one.baseline, study)),
        _skill(one),
        words(one.standing if one.repeats is None else f"{one.standing}, as {one.repeats}"),
        words(one.how),
    )


def _by_others(one: HeldOut | None, study: Study) -> tuple[Cell, Cell, Cell]:
    if one is None:
        return EMPTY, EMPTY, EMPTY
    text = _ends(one.accuracy, one.low, one.high, study).text
    outside = "" if one.is_inside else ", printed value outside"
    return Cell(one.low, ""), Cell(one.high, ""), Cell(None, f"{text}{outside}")


def _ends(one: Accuracy, low: float | None, high: float | None, study: Study) -> Cell:
    if low is None or high is None:
        return EMPTY
    return Cell(None, f"{_shown(one, low, study)} … {_shown(one, high, study)}")


def _skill(one: Accuracy) -> Cell:
    if one.skill is None:
        return EMPTY if one.baseline is None else Cell(None, "print alone is exact")
    text = number(one.skill, 2) if one.skill > 0 else "no prediction"
    return Cell(one.skill, text)


def _shown(one: Accuracy, value: float, study: Study) -> str:
    statistic = one.value.statistic
    if statistic == "share_of_link":
        return f"{percent(value)} of the link"
    if statistic in ("ratio", "gain", "deficit"):
        return f"{number(value, 3)} times"
    return quantity(study, one.value.metric).text(value)
