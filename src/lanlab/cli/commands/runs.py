"""`lanlab runs`: the stored runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lanlab.cli.options import complete
from lanlab.cli.options.shared import JsonOption, StoreOption, flag, option
from lanlab.cli.terminal.remarks import answer, print_json, print_lines
from lanlab.errors import RunError, UsageError

#: The shell does not say which of the two words it completes; the first is a run.
_Pair = tuple[str, str] | None


def runs(
    tagged: str | None = option(
        "--tagged", "TAG", "List only runs with this tag.", autocompletion=complete.tags
    ),
    rename: _Pair = option(
        "--rename",
        "RUN NAME",
        "Name a run; every command accepts the name.",
        autocompletion=complete.runs,
    ),
    note: _Pair = option(
        "--note",
        "RUN TEXT",
        "Set the note of a run; an empty text removes it.",
        autocompletion=complete.runs,
    ),
    tag: _Pair = option("--tag", "RUN TAG", "Add a tag to a run.", autocompletion=complete.runs),
    untag: _Pair = option(
        "--untag", "RUN TAG", "Remove a tag from a run.", autocompletion=complete.runs
    ),
    store: StoreOption = None,
    verbose: bool = flag("--verbose -v", "Show all columns."),
    as_json: JsonOption = False,
) -> None:
    """List the runs in the store: what each measured, and its result.

    Oldest first. --rename, --note and --tag label a run; results never change. `lanlab delete`
    deletes runs.

    Examples: lanlab runs; lanlab runs --rename last before-upgrade;
    lanlab runs --note last "cable replaced"; lanlab runs --tag last lab2;
    lanlab runs --tagged lab2
    """
    changes = {"rename": rename, "note": note, "tag": tag, "untag": untag}
    wanted = {name: pair for name, pair in changes.items() if pair is not None}
    if len(wanted) > 1:
        names = " and ".join(f"--{name}" for name in wanted)
        raise UsageError(f"{names} cannot be used together", hint="use only one of them")
    if tagged is not None and wanted:
        other = next(iter(wanted))
        raise UsageError(
            f"--tagged and --{other} cannot be used together: --tagged filters the list",
            hint=f"name one run after --{other}",
        )
    if wanted:
        ((change, (run_name, text)),) = wanted.items()
        _relabel(change, run_name, text, store, as_json)
        return
    _list(tagged, store, as_json, verbose=verbose)


def _relabel(change: str, name: str, text: str, store: str | None, as_json: bool) -> None:
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


#: Columns of a list of runs by key: the heading, and the column's `rank`.
_COLUMNS = (
    ("run", "run", 0),
    ("name", "name", 0),
    ("measured", "measured", 0),
    ("result", "result", 0),
    ("status", "status", 1),
    ("tags", "tags", 2),
    ("note", "note", 2),
    ("series", "series", 3),
    ("turn", "turn", 3),
    ("side", "side", 3),
    ("failed_trials", "failed", 4),
    ("missing_trials", "missing", 4),
    ("trials", "trials", 5),
    ("scale", "scale", 6),
    ("testbed", "testbed", 7),
    ("link", "link", 7),
)


def _list(tagged: str | None, store: str | None, as_json: bool, *, verbose: bool) -> None:
    from lanlab.report.document.table import Column, table_of_texts
    from lanlab.report.runs.stored import run_row
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
    if not rows:
        which = "" if tagged is None else f" with the tag `{tagged}`"
        raise RunError(f"the store has no run{which}")
    columns = [
        Column("", short=heading, is_number=key.endswith("trials"), rank=0 if verbose else rank)
        for key, heading, rank in _COLUMNS
    ]
    answer().print(table_of_texts("", columns, [_texts(row) for row in rows]))


def _texts(row: dict[str, Any]) -> list[str]:
    # A narrow terminal omits the usual `done`.
    state = "" if row["status"] == "done" else f"{row['status']}; "
    result = f"{state}{row['result']}".removesuffix("; ")
    shown = {**row, "tags": ", ".join(row["tags"]), "result": result}
    return ["" if shown[key] is None else str(shown[key]) for key, _, _ in _COLUMNS]
