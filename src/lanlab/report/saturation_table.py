"""Where the searches of a run have ended."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.saturation import saturations
from lanlab.figures.wording import percent, plain, quantity
from lanlab.report.table import EMPTY, Cell, Column, Table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study


def saturation_table(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> Table:
    """Where each search has ended."""
    columns = (
        Column("experiment", "experiment", "search", is_number=False),
        Column("unit", is_number=False),
        Column("result", "result", "", is_number=False),
        Column("", "highest rate", "highest rate"),
        Column("level", ""),
        Column("passed up to", ""),
        Column("failed from", ""),
        Column("", "between", ""),
        Column("limit", ""),
        Column("", "limit", ""),
        Column("share of limit (ratio)", "of limit", "of limit"),
        Column("", "asked for", "asked for"),
        Column("confirmed mean", "seen there", "seen there"),
        Column("trials", "trials", "trials"),
    )
    titles = {experiment.id: experiment.title for experiment in study.experiment}
    rows = []
    for found in saturations(run, trials):
        factor = next(iter(found.steps[0].factors), "rate_bps") if found.steps else "rate_bps"
        shown, asked = quantity(study, factor), quantity(study, found.metric)
        low, high = found.bracket or (None, None)
        share = found.level / found.limit if found.level is not None and found.limit else None
        seen = found.confirmed.mean if found.confirmed is not None else None
        ends = [shown.text(end) if end is not None else "no such" for end in (low, high)]
        rows.append(
            (
                Cell(found.experiment, titles.get(found.experiment, found.experiment)),
                Cell(shown.si_unit, ""),
                Cell(found.kind, found.kind.replace("_", " ")),
                Cell(None, "" if found.level is None else shown.text(found.level)),
                Cell(found.level, ""),
                Cell(low, ""),
                Cell(high, ""),
                Cell(None, " and ".join(ends)),
                Cell(found.limit, ""),
                Cell(None, "" if found.limit is None else shown.text(found.limit)),
                EMPTY if share is None else Cell(share, percent(share)),
                Cell(
                    None, f"{asked.name} at least {plain(asked.shown(found.at_least))} {asked.unit}"
                ),
                Cell(seen, "" if seen is None else asked.text(seen)),
                Cell(len(found.steps), str(len(found.steps))),
            )
        )
    return Table("saturation", "Saturation, found by search", columns, tuple(rows))
