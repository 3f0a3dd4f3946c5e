"""`lanlab compare`: runs with each other, levels of a factor, or a run with published values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lanlab.cli.options import complete
from lanlab.cli.options.shared import (
    JsonOption,
    StoreOption,
    argument,
    flag,
    option,
    path_of,
)
from lanlab.cli.terminal.remarks import deliver, print_json, printable, say
from lanlab.errors import StoreError, UsageError
from lanlab.units import parse_share

if TYPE_CHECKING:
    from lanlab.analysis.comparison.sides import Run, Side
    from lanlab.report.comparison.compared import PublishedComparison, RunComparison
    from lanlab.store import RunRecord
    from lanlab.store.database import Store

    _Compared = Callable[[], RunComparison | PublishedComparison]


def compare(
    runs: list[str] | None = argument(
        "RUN",
        "Run ids, unique prefixes of ids, or `last`; the first is the baseline. Or the id "
        "of a series.",
        autocompletion=complete.runs,
    ),
    base: str | None = option(
        "--base",
        "RUN|SIDE|LEVEL",
        "Baseline: a run, a side of a series, or with --by a level. Default: the first.",
    ),
    before: str | None = option("--before", "RUNS", "Baseline runs, comma-separated."),
    after: str | None = option(
        "--after", "RUNS", "Runs to compare with those of --before, comma-separated."
    ),
    by: str | None = option("--by", "FACTOR", "Compare the levels of a factor within one run."),
    published: bool = flag(
        "--published", "Compare one run with the published values of its study."
    ),
    metric: str | None = option(
        "--metric",
        "METRICS",
        "Metrics to compare, comma-separated. Default: the first metric of each "
        "experiment; with --published, all published metrics.",
    ),
    margin: str | None = option(
        "--margin",
        "SHARE",
        "Largest difference that counts as equal, e.g. 2%. Choose it before you see results.",
    ),
    report: str | None = option(
        "--report", "FILE", "Also write a self-contained HTML page with figures."
    ),
    as_csv: bool = flag("--csv", "Print one CSV table instead of text, in SI units."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare runs of one study, condition by condition.

    Each difference has a 95 % confidence interval, an effect size and a p value, corrected for
    multiple comparisons. Two single runs may differ for any reason; to show the effect of a
    setting, alternate several runs of each setting with `lanlab run A B --alternate 5`.

    Examples: lanlab compare 20261121-17 last --margin 2%;
    lanlab compare --before ID1,ID2,ID3 --after ID4,ID5,ID6;
    lanlab compare last --by io; lanlab compare last --published --report published.html
    """
    if as_csv and as_json:
        raise UsageError("--csv and --json cannot be used together", hint="choose one")
    page = path_of(report)
    metrics = [name.strip() for name in metric.split(",")] if metric is not None else None
    margin_ratio = None if margin is None else _share(margin)
    names = runs or []
    if before is not None or after is not None:
        _refuse("--before and --after", {"--by": by, "--base": base, "RUN": names or None})
    elif published:
        _refuse("--published", {"--by": by, "--base": base, "--margin": margin})
    from lanlab.report.comparison.compared import with_published, within_run
    from lanlab.store import open_store

    with open_store(store) as records:
        if before is not None or after is not None:
            read, compared = _sides(before, after, records, metrics, margin_ratio)
        elif published:
            read = [_only(names, records, "--published")]
            compared = partial(with_published, read[0], metrics)
        elif by is not None:
            read = [_only(names, records, "--by")]
            compared = partial(within_run, read[0], by, base, metrics, margin_ratio)
        else:
            read, compared = _between(names, records, base, metrics, margin_ratio)
        with _comparing(read, as_json):
            _answer(compared(), as_json, as_csv, page)


def _share(text: str) -> float:
    """Parse a share in any usual form: `2%`, `2 %` or `0.02`."""
    try:
        share = parse_share(text)
    except UsageError:
        share = 0.0
    # Half is too much for a negligible difference, and 5 probably means 5 %.
    if not 0 < share <= 0.5:
        raise UsageError(
            f"--margin: found `{text}`; allowed: above 0 % and at most 50 %",
            hint="write 2% or 0.02",
        )
    return share


@contextmanager
def _comparing(runs: Sequence[Run], as_json: bool) -> Iterator[None]:
    """Context for an analysis of runs. If the analysis fails, their trials are still printed."""
    from lanlab.store.shape import reading_records

    ids = ", ".join(run.id for run, _ in runs)
    try:
        with reading_records(ids):
            yield
    except StoreError as error:
        cause = error.__cause__
        # Failing to write a page is not a failed analysis.
        if not isinstance(cause, Exception) or isinstance(cause, OSError):
            raise
        with reading_records(ids):
            _show_trials(runs, cause, as_json)
        raise typer.Exit(1) from error


def _show_trials(runs: Sequence[Run], cause: Exception, as_json: bool) -> None:
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.cli.results.printing import run_as_json, warn_of_failed
    from lanlab.report.document.document import Document
    from lanlab.report.trials.analyses import Analyses, FailedAnalysis
    from lanlab.report.trials.trial_table import trial_table

    analyses = Analyses()
    analyses.failed.append(FailedAnalysis("comparison", cause))
    if as_json:
        found = [run_as_json(run, list(trials), analyses) for run, trials in runs]
        failed = [one.to_json() for one in analyses.failed]
        print_json({"comparisons": [], "runs": found, "failed_analyses": failed})
    else:
        for run, trials in runs:
            deliver(Document([f"run {run.id}"], [trial_table(RunData(run, trials))]))
    warn_of_failed(analyses)


def _refuse(option: str, others: dict[str, object]) -> None:
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(
            f"{option} cannot be used with {' and '.join(given)}", hint="use only one of them"
        )


def _between(
    names: list[str],
    records: Store,
    base: str | None,
    metrics: list[str] | None,
    margin_ratio: float | None,
) -> tuple[Sequence[Run], _Compared]:
    from lanlab.analysis.comparison.alternation import series_runs
    from lanlab.report.comparison.compared import between_runs
    from lanlab.report.runs.stored import others_in, run_to_show

    if len(names) == 1 and (series := series_runs(records, names[0])):
        read = [(run, records.trials(run.id)) for run in series]
        return read, partial(compare_series, series, records, metrics, margin_ratio, base)
    found = [run_to_show(records, name) for name in names]
    place = 0
    if base is not None:
        wanted = records.run(base).id
        ids = [run.id for run in found]
        if wanted not in ids:
            raise UsageError(
                f"--base: run {wanted} is not one of the runs to compare",
                hint=f"allowed: {', '.join(ids)}",
            )
        place = ids.index(wanted)
    read = [(run, records.trials(run.id)) for run in found]
    others = others_in(records, found) if len(found) > 1 else ()
    return read, partial(between_runs, read, place, metrics, margin_ratio, others)


def _sides(
    before: str | None,
    after: str | None,
    records: Store,
    metrics: list[str] | None,
    margin_ratio: float | None,
) -> tuple[Sequence[Run], _Compared]:
    from lanlab.analysis.comparison.runs import check_named_once
    from lanlab.report.comparison.compared import between_sides
    from lanlab.report.runs.stored import others_in

    if before is None or after is None:
        lacking = "--before" if before is None else "--after"
        raise UsageError(f"{lacking} is missing", hint="give both --before and --after")
    sides = [named_side("before", before, records), named_side("after", after, records)]
    named = [run for side in sides for run, _ in side.runs]
    check_named_once([run.id for run in named])
    read = [run for side in sides for run in side.runs]
    others = others_in(records, named)
    return read, partial(between_sides, sides, metrics, margin_ratio, others)


def _only(names: list[str], records: Store, option: str) -> Run:
    if len(names) != 1:
        raise UsageError(
            f"{option} takes one run; found {len(names)}", hint="compare them one by one"
        )
    run = records.run(names[0])
    return run, records.trials(run.id)


def _answer(
    found: RunComparison | PublishedComparison, as_json: bool, as_csv: bool, report: Path | None
) -> None:
    if report is not None:
        from lanlab.report.page.own_files import write_file

        write_file(found.page(), report)
    if as_csv:
        # On standard output lines end as usual, not with CSV's carriage return.
        typer.echo("\n".join(map(printable, found.csv().to_csv().split("\r\n"))), nl=False)
    else:
        # Everything is built before printing, so that a failed analysis leaves no partial answer.
        deliver(found.document, as_json)
    if report is not None:
        say(f"wrote {report}")


def sides_of_series(runs: Sequence[RunRecord], store: Store) -> list[Side]:
    from lanlab.analysis.comparison.alternation import LETTERS, place_of
    from lanlab.analysis.comparison.sides import Side

    places = [place_of(run) for run in runs]
    sides = []
    for number, what in enumerate(places[0].sides if places[0] is not None else ()):
        own = [
            (run, store.trials(run.id))
            for run, place in zip(runs, places, strict=True)
            if place is not None and place.side == number
        ]
        if own:
            sides.append(Side(LETTERS[number], tuple(own), what))
    if len(sides) < 2:
        series = places[0].series if places[0] is not None else ""
        raise UsageError(
            f"series {series} has runs of one side only",
            hint=f"continue it with `lanlab run --resume {series}{store.option}`",
        )
    return sides


def compare_series(
    runs: Sequence[RunRecord],
    store: Store,
    metrics: list[str] | None = None,
    margin_ratio: float | None = None,
    base: str | None = None,
) -> RunComparison:
    """The sides of a series, each compared with side A or with the given side."""
    from lanlab.report.comparison.compared import between_sides
    from lanlab.report.runs.stored import others_in

    sides = sides_of_series(runs, store)
    names = [side.name for side in sides]
    if base is not None and base not in names:
        raise UsageError(f"--base: found `{base}`; allowed: {', '.join(names)}")
    others = () if len(runs) > 2 else others_in(store, runs)
    place = 0 if base is None else names.index(base)
    return between_sides(sides, metrics, margin_ratio, others, place)


def named_side(name: str, given: str, store: Store) -> Side:
    """The runs of `--before R1,R2` or `--after R3,R4`."""
    from lanlab.analysis.comparison.sides import Side

    names = [one.strip() for one in given.split(",")]
    if not all(names):
        raise UsageError(
            f"--{name}: found `{given}`; allowed: run ids separated by commas",
            hint="`lanlab runs` lists the runs in the store",
        )
    runs = [store.run(one) for one in names]
    return Side(name, tuple((run, store.trials(run.id)) for run in runs))
