"""`lanlab compare`: runs against each other, levels of a factor, or a run against print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, StoreOption, path_of
from lanlab.errors import UsageError


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Ids of runs, beginnings of ids, or `last`; the others are held against the "
            "first.",
            autocompletion=complete.runs,
        ),
    ],
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="RUN|LEVEL",
            help="Hold the others against this run; with --by, against this level.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="FACTOR", help="Compare the levels of a factor within one run."
        ),
    ] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Compare one run with what its study printed."),
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="METRICS",
            help="What to compare, with commas between. Default: the first metric of each "
            "experiment; with --published, all that were printed.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            "--margin",
            metavar="SHARE",
            help="Largest difference that is as good as none, as in 2%: decide it before you look.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FILE", help="Also write a page with figures, which opens offline."
        ),
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print one CSV table instead of text, in SI units.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how runs of one study differ, condition by condition, and how sure that is.

    Differences come with 95 % intervals, effect sizes and p corrected for all that is compared.
    Only like conditions are held against each other.

    Examples: lanlab compare 20261121-17 last --margin 2%;
    lanlab compare last --by io; lanlab compare last --published --report beside.html
    """
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other", hint="choose one")
    page = path_of(report)
    metrics = [name.strip() for name in metric.split(",")] if metric is not None else None
    margin_ratio = None if margin is None else _share(margin)
    if published:
        _refuse("--published", {"--by": by, "--base": base, "--margin": margin})
        found = _beside_published(runs, store, metrics)
    elif by is not None:
        found = _within(runs, store, by, base, metrics, margin_ratio)
    else:
        found = _between(runs, store, base, metrics, margin_ratio)
    from lanlab.store.shape import reading_records

    with reading_records(found.run_ids):
        _answer(found, as_json, as_csv, page)


def _share(text: str) -> float:
    """A share as people write it: `2%`, `2 %` or `0.02`."""
    from lanlab.units import parse_share

    try:
        share = parse_share(text)
    except UsageError:
        share = 0.0
    # Half is no difference that is as good as none; 5 for 5 % would be.
    if not 0 < share <= 0.5:
        raise UsageError(
            f"--margin: found `{text}`; allowed: a share above 0 and at most 50 %",
            hint="write 2% or 0.02",
        )
    return share


def _refuse(option: str, others: dict[str, object]) -> None:
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(
            f"{option} does not go with {' and '.join(given)}", hint="leave one of them out"
        )


def _between(
    names: list[str],
    store: str | None,
    base: str | None,
    metrics: list[str] | None,
    margin_ratio: float | None,
) -> Any:
    from lanlab.report.comparison import between_runs
    from lanlab.store import open_store

    with open_store(store) as records:
        found = [records.run(name) for name in names]
        place = 0
        if base is not None:
            wanted = records.run(base).id
            ids = [run.id for run in found]
            if wanted not in ids:
                raise UsageError(
                    f"--base: run {wanted} is none of those to compare",
                    hint=f"name one of {', '.join(ids)}",
                )
            place = ids.index(wanted)
        read = [(run, records.trials(run.id)) for run in found]
    return between_runs(read, place, metrics, margin_ratio)


def _within(
    names: list[str],
    store: str | None,
    factor: str,
    base: str | None,
    metrics: list[str] | None,
    margin_ratio: float | None,
) -> Any:
    from lanlab.report.comparison import within_run

    return within_run(_only(names, store, "--by"), factor, base, metrics, margin_ratio)


def _beside_published(names: list[str], store: str | None, metrics: list[str] | None) -> Any:
    from lanlab.report.comparison import with_published

    return with_published(_only(names, store, "--published"), metrics)


def _only(names: list[str], store: str | None, option: str) -> Any:
    from lanlab.store import open_store

    if len(names) != 1:
        raise UsageError(
            f"{option} takes one run, {len(names)} were named", hint="compare them one by one"
        )
    with open_store(store) as records:
        run = records.run(names[0])
        return run, records.trials(run.id)


def _answer(found: Any, as_json: bool, as_csv: bool, report: Path | None) -> None:
    from lanlab.cli.terminal import answer, print_json, printable, say

    if report is not None:
        from lanlab.report.own_files import write_page

        write_page(found.page(), report)
    if as_json:
        print_json(found.to_json())
    elif as_csv:
        # Each line by itself, as a terminal may have it; here lines end as those of any answer.
        typer.echo("\n".join(map(printable, found.csv().to_csv().split("\r\n"))), nl=False)
    else:
        from lanlab.report.text import rich_table

        console, table_console = answer(), answer(markup=True)
        for table in found.tables:
            table_console.print(rich_table(table, table.title))
            console.print()
        for sentence in found.sentences:
            console.print(sentence)
    if report is not None:
        say(f"written: {report}")
