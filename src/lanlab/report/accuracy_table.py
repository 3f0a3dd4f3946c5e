"""How near a simulation comes to what was printed, number by number, and how many are how near."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.simulated import WITHIN_RATIOS, Accuracy, counts
from lanlab.analysis.simulated_run import run_accuracies
from lanlab.figures.wording import BOUNDS, level_text, number, percent, quantity
from lanlab.report.table import Cell, Column, Table, words
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, Study

TITLE = "Simulated values beside the published ones"
_STANDINGS = ("fitted", "held out", "not fitted")


def accuracy_tables(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> list[Table]:
    """Both tables of a run; none without simulated counterparts of printed numbers."""
    found = run_accuracies(run, trials, published)
    if not found:
        return []
    study = Study.model_validate(run.study)
    return [accuracy_table(found, study), accuracy_count_table(found)]


def accuracy_table(found: Sequence[Accuracy], study: Study) -> Table:
    """A row for each printed number that has a simulated counterpart."""
    columns = (
        Column("id", "published value", "value", is_number=False),
        Column("about", "about", "about", is_number=False),
        Column("published"),
        Column("bound", is_number=False),
        Column("", "published", "published"),
        Column("simulated"),
        Column("", "simulated", "simulated"),
        Column("error_ratio", "error", "error"),
        Column("standing", "fitted or held out", "fitted or held out", is_number=False),
        Column("how", "read off as", "", is_number=False),
    )
    return Table("accuracy", TITLE, columns, tuple(_row(one, study) for one in found))


def accuracy_count_table(found: Sequence[Accuracy]) -> Table:
    """How many of the printed numbers are within each error, by what they were to the machines."""
    within = [f"within {100 * ratio:g} %" for ratio in WITHIN_RATIOS]
    columns = (
        Column("standing", "published values", "published values", is_number=False),
        *(
            Column(f"within_{ratio:g}", text, text)
            for ratio, text in zip(WITHIN_RATIOS, within, strict=True)
        ),
        Column("values", "of", "of"),
    )
    rows = []
    for standing in (*_STANDINGS, "all"):
        own = [one for one in found if standing in (one.standing, "all")]
        *near, total = counts(own)
        if total:
            cells = [Cell(count, str(count)) for count in (*near, total)]
            rows.append((words(standing), *cells))
    return Table("accuracy-counts", "How many are how near", columns, tuple(rows))


def accuracy_sentences(found: Sequence[Accuracy], study: Study) -> list[str]:
    """What is to be known of these numbers."""
    if not found:
        return []
    bounds = sum(not one.is_counted for one in found)
    said = [
        "A fitted value is no prediction: a number of a machine was chosen by it. A value held out "
        "was set aside before that."
    ]
    if bounds:
        kept = "1 value is a bound and is" if bounds == 1 else f"{bounds} values are bounds and are"
        said.append(f"{kept} not counted.")
    note = study.simulation.note if study.simulation is not None else None
    return [*said, note] if note else said


def _row(one: Accuracy, study: Study) -> tuple[Cell, ...]:
    value = one.value
    condition = dict(value.condition)
    pair = [condition.pop(key, None) for key in ("numerator", "denominator")]
    about = [" to ".join(map(str, pair))] if all(pair) else []
    about += [level_text(study, key, level) for key, level in condition.items()]
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
        Cell(one.error_ratio, f"{sign}{percent(one.error_ratio, 2)}"),
        words(one.standing),
        words(one.how),
    )


def _shown(one: Accuracy, value: float, study: Study) -> str:
    statistic = one.value.statistic
    if statistic == "share_of_link":
        return f"{percent(value)} of the link"
    if statistic in ("ratio", "gain", "deficit"):
        return f"{number(value, 3)} times"
    return quantity(study, one.value.metric).text(value)
