"""`lanlab runs`: what has been run."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, StoreOption
from lanlab.errors import UsageError

_Pair = tuple[str, str] | None


def _pair(name: str, metavar: str, help: str) -> Any:
    # The shell does not say which of the two it completes; runs are the first.
    return typer.Option(name, metavar=metavar, help=help, autocompletion=complete.runs)


def runs(
    tagged: Annotated[
        str | None,
        typer.Option(
            "--tagged",
            metavar="TAG",
            help="Only runs with this tag.",
            autocompletion=complete.tags,
        ),
    ] = None,
    rename: Annotated[
        _Pair,
        _pair("--rename", "RUN NAME", "Give a run a name, by which any command finds it."),
    ] = None,
    note: Annotated[
        _Pair, _pair("--note", "RUN TEXT", "Note something on a run; an empty text removes it.")
    ] = None,
    tag: Annotated[_Pair, _pair("--tag", "RUN TAG", "Add a tag to a run.")] = None,
    untag: Annotated[_Pair, _pair("--untag", "RUN TAG", "Remove a tag from a run.")] = None,
    delete: Annotated[
        str | None,
        typer.Option(
            "--delete",
            metavar="RUN",
            help="Delete a run with its trials, as `lanlab delete`.",
            autocompletion=complete.runs,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs in the store, oldest first; name them, note something on them, tag them.

    Names, notes and tags can be changed at any time. What was measured cannot.

    Examples: lanlab runs; lanlab runs --rename last before-upgrade;
    lanlab runs --note last "cable replaced"; lanlab runs --tag last lab2;
    lanlab runs --tagged lab2
    """
    changes = {"rename": rename, "note": note, "tag": tag, "untag": untag}
    wanted = {name: pair for name, pair in changes.items() if pair is not None}
    if len(wanted) + (delete is not None) > 1:
        names = [*(f"--{name}" for name in wanted), *(["--delete"] if delete else [])]
        raise UsageError(f"{' and '.join(names)} exclude each other", hint="give one of them")
    if tagged is not None and (wanted or delete is not None):
        other = next(iter(wanted), "delete")
        raise UsageError(
            f"--tagged and --{other} exclude each other: --tagged is for the list",
            hint=f"name one run after --{other}",
        )
    if yes and delete is None:
        raise UsageError("--yes needs --delete", hint="leave it out")
    if delete is not None:
        from lanlab.cli.delete import delete as delete_runs

        delete_runs([delete], yes, store, as_json)
        return
    if wanted:
        ((change, (run_name, text)),) = wanted.items()
        _relabel(change, run_name, text, store, as_json)
        return
    _list(tagged, store, as_json)


def _relabel(change: str, name: str, text: str, store: str | None, as_json: bool) -> None:
    """Change the label of a run, and say what it is now."""
    from lanlab.cli.terminal import print_json, print_lines
    from lanlab.store import open_store
    from lanlab.store.labels import label_of

    with open_store(store) as records:
        run = records.run(name)
        label = label_of(run)
        if change == "rename":
            label = replace(label, name=text.strip() or None)
        elif change == "note":
            label = replace(label, note=text.strip() or None)
        elif change == "tag":
            label = replace(label, tags=tuple(dict.fromkeys((*label.tags, text))))
        elif text not in label.tags:
            raise UsageError(
                f"run {run.id} has no tag `{text}`",
                hint=f"its tags: {', '.join(label.tags) or 'none'}",
            )
        else:
            label = replace(label, tags=tuple(tag for tag in label.tags if tag != text))
        records.label_run(run.id, label)
    if as_json:
        print_json({"run": run.id, **(label.to_json() or {})})
        return
    said = {"name": label.name, "note": label.note, "tags": ", ".join(label.tags)}
    parts = [f"{key} {value}" for key, value in said.items() if value]
    print_lines(f"{run.id}: {'; '.join(parts) or 'no name, note or tag'}")


def _list(tagged: str | None, store: str | None, as_json: bool) -> None:
    from lanlab.cli.terminal import answer, print_json
    from lanlab.report.stored import run_row
    from lanlab.store import open_store
    from lanlab.store.labels import label_of

    rows = []
    with open_store(store) as records:
        for run in records.runs():
            if tagged is not None and tagged not in label_of(run).tags:
                continue
            rows.append(run_row(run, records))
    if as_json:
        print_json({"runs": rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    counts = ("trials", "failed", "missing")
    in_turns = any(row["series"] for row in rows)
    headings = ("series", "turn", "side") if in_turns else ()
    called = [key for key in ("name", "tags", "note") if any(row[key] for row in rows)]
    for heading in ("run", "scale", "testbed", "link", "status", *counts, *headings, *called):
        table.add_column(heading, justify="right" if heading in counts else "left")
    for row in rows:
        values = (row["run"], row["scale"], row["testbed"], row["link"], row["status"])
        numbers = (row["trials"], row["failed_trials"], row["missing_trials"])
        places = (row["series"] or "", row["turn"] or "", row["side"] or "") if in_turns else ()
        words = [", ".join(row["tags"]) if key == "tags" else row[key] or "" for key in called]
        table.add_row(*map(str, (*values, *numbers, *places, *words)))
    answer().print(table)
