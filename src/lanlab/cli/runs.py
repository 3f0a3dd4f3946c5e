"""`lanlab runs`: what has been run."""

from __future__ import annotations

from lanlab.cli.options import JsonOption, StoreOption


def runs(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the runs in the store, newest last.

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
                    }
                )
    if as_json:
        print_json({"runs": rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    counts = ("trials", "failed", "missing")
    for heading in ("run", "scale", "testbed", "link", "status", *counts):
        table.add_column(heading, justify="right" if heading in counts else "left")
    for row in rows:
        values = (row["run"], row["scale"], row["testbed"], row["link"], row["status"])
        numbers = (row["trials"], row["failed_trials"], row["missing_trials"])
        table.add_row(*map(str, (*values, *numbers)))
    answer().print(table)
