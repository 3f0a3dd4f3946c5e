"""`lanlab runs`: what has been run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanlab.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from lanlab.store import RunRecord


def _series(run: RunRecord) -> dict[str, Any]:
    """Where a run stands in a series; turns as people count them."""
    from lanlab.analysis.alternation import LETTERS, place_of

    place = place_of(run)
    return {
        "series": None if place is None else place.series,
        "turn": None if place is None else place.turn + 1,
        "side": None if place is None else LETTERS[place.side],
    }


def runs(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the runs in the store, oldest first.

    Example: lanlab runs --store lanlab-results/store.sqlite
    """
    from lanlab.analysis.failures import missing_places
    from lanlab.cli.terminal import answer, print_json
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records

    rows = []
    with open_store(store) as records:
        for run in records.runs():
            trials = records.trials(run.id)
            killed = run.status == "running" and not records.is_executing(run.id)
            with reading_records(run.id):
                rows.append(
                    {
                        "run": run.id,
                        "study": run.study_id,
                        "scale": run.scale,
                        "testbed": run.testbed["name"],
                        "link": run.testbed["link"],
                        "status": "interrupted" if killed else run.status,
                        "trials": len(trials),
                        "failed_trials": sum(trial.status == "failed" for trial in trials),
                        # Places at which every trial failed: means lack so many trials.
                        "missing_trials": len(missing_places(trials)),
                        "started_at": run.started_at,
                        **_series(run),
                    }
                )
    if as_json:
        print_json({"runs": rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    counts = ("trials", "failed", "missing")
    in_turns = any(row["series"] for row in rows)
    headings = ("series", "turn", "side") if in_turns else ()
    for heading in ("run", "scale", "testbed", "link", "status", *counts, *headings):
        table.add_column(heading, justify="right" if heading in counts else "left")
    for row in rows:
        values = (row["run"], row["scale"], row["testbed"], row["link"], row["status"])
        numbers = (row["trials"], row["failed_trials"], row["missing_trials"])
        places = (row["series"] or "", row["turn"] or "", row["side"] or "") if in_turns else ()
        table.add_row(*map(str, (*values, *numbers, *places)))
    answer().print(table)
