"""`lanlab runs`: what has been run."""

from __future__ import annotations

from lanlab.cli.options import JsonOption, StoreOption


def runs(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the runs in the store, oldest first.

    Example: lanlab runs --store lanlab-results/store.sqlite
    """
    from lanlab.cli.terminal import answer, print_json
    from lanlab.report.stored import run_row
    from lanlab.store import open_store

    with open_store(store) as records:
        rows = [run_row(run, records) for run in records.runs()]
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
