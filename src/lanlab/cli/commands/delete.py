"""`lanlab delete`: remove runs from the store."""

from __future__ import annotations

import typer

from lanlab.cli.options.shared import JsonOption, RunsArgument, StoreOption, flag
from lanlab.cli.terminal.remarks import answer, can_ask, print_json, talk
from lanlab.errors import StoreError, UsageError
from lanlab.figures.number_text import counted


def delete(
    runs: RunsArgument,
    yes: bool = flag("--yes -y", "Delete without asking."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete runs with their trials and series.

    Reports are kept. The store file does not shrink, but its free space is reused. lanlab asks
    first; without a terminal, add --yes. Nothing is deleted while one of the runs is still running.

    Examples: lanlab delete last; lanlab delete 20261121-081500-small-4f2a --yes
    """
    from lanlab.store import open_store

    with open_store(store) as records:
        found = list({run.id: run for run in map(records.run, runs)}.values())
        for run in found:
            if records.is_executing(run.id):
                raise StoreError(
                    f"run {run.id} is still running in another process",
                    hint="wait until it ends, or stop it; nothing was deleted",
                )
        if not yes:
            if not can_ask():
                raise UsageError(
                    f"deleting {counted(len(found), 'run')} needs --yes without a terminal",
                    hint="add --yes",
                )
            for run in found:
                count = records.count(run.id)
                talk().print(f"{run.id}  {run.status}, {counted(count, 'trial')}")
            if not typer.confirm(f"Delete {counted(len(found), 'run')}?", err=True):
                raise typer.Exit(1)
        deleted = [records.delete_run(run.id) for run in found]
    if as_json:
        rows = [{"run": one.run_id, "trials": one.trials, "series": one.series} for one in deleted]
        print_json({"deleted": rows})
        return
    for one in deleted:
        answer().print(f"deleted {one.run_id}: {counted(one.trials, 'trial')}, {one.series} series")
