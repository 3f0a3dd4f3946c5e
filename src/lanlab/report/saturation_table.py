"""Where the searches of a run have ended, a row for each loss goal."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.saturation import GoalFound, Saturation, saturations
from lanlab.figures.wording import Quantity, percent, plain, quantity
from lanlab.report.table import EMPTY, Cell, Column, Table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study

#: Ends of a search in a few words.
ENDS = {
    "found": "found",
    "at_least_high": "beyond the range",
    "sender_limited": "sender limited",
    "below_low": "below the range",
    "undecided": "undecided",
}


def saturation_table(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> Table:
    """Where each search has ended, for each of its goals."""
    columns = (
        Column("experiment", "experiment", "search", is_number=False),
        Column("unit", is_number=False),
        Column("lost at most (ratio)", "lost at most", "lost at most"),
        Column("result", "result", "result", is_number=False),
        Column("lower bound", "highest rate", "highest rate"),
        Column("upper bound", "more lost at", "more lost at"),
        Column("arrives there", "arrives there", ""),
        Column("limit", "limit", ""),
        Column("share of limit (ratio)", "of limit", "of limit"),
        Column("highest load offered", "sender offered", ""),
        Column("confirmed mean (ratio)", "seen there", "seen there"),
        Column("trials", "trials", "trials"),
    )
    titles = {experiment.id: experiment.title for experiment in study.experiment}
    rows = []
    for found in saturations(run, trials):
        title = titles.get(found.experiment, found.experiment)
        for goal in found.goals:
            rows.append(_row(found, goal, title, quantity(study, found.factor)))
    return Table("saturation", "Saturation, found by search", columns, tuple(rows))


def goal_text(loss_ratio: float) -> str:
    """A loss goal for people.

    Examples:
        >>> goal_text(0), goal_text(0.001)
        ('nothing', '0.1 %')
    """
    return f"{plain(100 * loss_ratio)} %" if loss_ratio else "nothing"


def _row(found: Saturation, goal: GoalFound, title: str, shown: Quantity) -> tuple[Cell, ...]:
    result = goal.result

    def load(value: float | None) -> Cell:
        return EMPTY if value is None else Cell(value, shown.text(value))

    share = result.lower / found.limit if result.lower is not None and found.limit else None
    seen = None if goal.confirmed is None else goal.confirmed.mean
    return (
        Cell(found.experiment, title),
        Cell(shown.si_unit, ""),
        Cell(result.loss_ratio, goal_text(result.loss_ratio)),
        Cell(result.kind, ENDS[result.kind]),
        load(result.lower),
        load(result.upper),
        load(result.throughput),
        load(found.limit),
        EMPTY if share is None else Cell(share, percent(share)),
        load(found.sender_limit),
        EMPTY if seen is None else Cell(seen, percent(seen, 4)),
        Cell(len(found.steps), str(len(found.steps))),
    )
