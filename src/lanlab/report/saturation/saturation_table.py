"""The results of the searches of a run, a row for each loss goal."""

from __future__ import annotations

from lanlab.analysis.run_data import RunData
from lanlab.analysis.saturation import GoalFound, Saturation, saturations
from lanlab.figures.number_text import number, percent, plain
from lanlab.figures.wording import Quantity, quantity
from lanlab.report.document.table import EMPTY, Cell, Column, Table

ENDS = {
    "found": "found",
    "not_steady": "not steady",
    "random_loss": "random loss",
    "at_least_high": "beyond the range",
    "sender_limited": "sender limited",
    "below_low": "below the range",
    "undecided": "undecided",
    "refuted": "refuted by a sweep",
}
OF_HOST = "at least: host disturbed"


def saturation_table(data: RunData) -> Table:
    columns = (
        Column("experiment", "experiment", "search", is_number=False),
        Column("unit", is_number=False),
        Column("lost at most (ratio)", "lost at most", "lost at most"),
        Column("result", "result", "result", is_number=False),
        Column("median load", "highest rate", "highest rate"),
        Column("interval low", "from", "from"),
        Column("interval high", "to", "to"),
        Column("spread (ratio)", "varies by", "varies by"),
        Column("random loss (ratio)", "random loss", "random loss"),
        Column("lower bound", "lower bound", ""),
        Column("upper bound", "upper bound", ""),
        Column("arrives there", "arrives there", ""),
        Column("limit", "limit", ""),
        Column("share of limit (ratio)", "of limit", "of limit"),
        Column("highest load offered", "sender offered", ""),
        Column("confirmed mean (ratio)", "seen there", ""),
        Column("trials", "trials", "trials"),
        Column("disturbed", "disturbed", "disturbed"),
        Column("drift (correlation)", "", ""),
    )
    every = saturations(data.run, data.trials)
    # If there is only one search, its title is printed once, above its rows.
    only = data.titles.get(every[0].experiment, "") if len(every) == 1 else ""
    rows = []
    for found in every:
        title = "" if only else data.titles.get(found.experiment, found.experiment)
        for goal in found.goals:
            rows.append(_row(found, goal, title, quantity(data.study, found.factor)))
    said = f"{only[:1].upper()}{only[1:]}" or "Saturation, found by search"
    return Table("saturation", said, columns, tuple(rows))


def goal_text(loss_ratio: float) -> str:
    """Format a loss goal.

    Examples:
        >>> goal_text(0), goal_text(0.001)
        ('nothing', '0.1 %')
    """
    return f"{plain(100 * loss_ratio)} %" if loss_ratio else "nothing"


def highest(goal: GoalFound) -> float | None:
    """The highest load at which a goal is met, as far as known."""
    if goal.load is not None:
        return goal.load.median
    if goal.sweep is not None:
        return goal.sweep.load
    return None if goal.verdict == "random_loss" else goal.result.lower


def _percent(ratio: float) -> Cell:
    return Cell(ratio, percent(ratio))


def _row(found: Saturation, goal: GoalFound, title: str, shown: Quantity) -> tuple[Cell, ...]:
    result = goal.result

    def load(value: float | None) -> Cell:
        return EMPTY if value is None else Cell(value, shown.text(value))

    loss, median = found.random_loss, highest(goal)
    met = None if goal.sweep is None else goal.sweep.load
    share = min(median / found.limit, 1.0) if median is not None and found.limit else None
    seen = None if goal.confirmed is None else goal.confirmed.mean
    end = ENDS[goal.verdict] if found.drift is None else f"{ENDS[goal.verdict]}, drifts"
    order = found.drift and found.drift.correlation
    return (
        Cell(found.experiment, title),
        Cell(shown.si_unit, ""),
        Cell(result.loss_ratio, goal_text(result.loss_ratio)),
        Cell(goal.verdict, OF_HOST if found.is_of_host else end),
        load(median),
        load(goal.load.low if goal.load is not None else met),
        load(goal.load.high if goal.load is not None else None),
        EMPTY if goal.load is None else _percent(goal.load.spread_ratio),
        EMPTY if loss is None else Cell(loss.ratio, f"{number(100 * loss.ratio, 2)} %"),
        # The search's own result, unless a later trial contradicts it.
        *(
            load(None if met is not None else own)
            for own in (result.lower, result.upper, result.throughput)
        ),
        load(found.limit),
        EMPTY if share is None else _percent(share),
        load(found.sender_limit),
        EMPTY if seen is None else Cell(seen, percent(seen, 4)),
        Cell(len(found.steps), str(len(found.steps))),
        Cell(found.disturbed, str(found.disturbed or "")),
        EMPTY if order is None else Cell(order, number(order, 2)),
    )
