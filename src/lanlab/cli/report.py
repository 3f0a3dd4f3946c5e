"""`lanlab report`: a run as one page, with figures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, OutOption, StoreOption, path_of

if TYPE_CHECKING:
    from lanlab.store import Series, Store, TrialRecord


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run ids, the first characters of ids, or `last`.",
            autocompletion=complete.runs,
        ),
    ],
    out: OutOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report of runs: one HTML page that opens offline, figures as SVG and PDF, tables as
    CSV.

    Example: lanlab report last --out my-report
    """
    from lanlab.cli.terminal import print_json, talk
    from lanlab.report.build import build_report
    from lanlab.store import open_store
    from lanlab.store.place import results_folder

    named = path_of(out)
    with open_store(store) as records:
        found = [records.run(name) for name in runs]
        read = [(run, _trials(records, run.id)) for run in found]
    folder = named or results_folder(store) / (found[0].id if len(found) == 1 else "report")
    paths = build_report(read, folder)
    if as_json:
        print_json(
            {
                "html": str(paths.html),
                "figures": [str(path) for path in paths.figures],
                "tables": [str(path) for path in paths.tables],
            }
        )
        return
    talk().print(f"{len(paths.figures)} figures and {len(paths.tables)} tables in {folder}")
    typer.echo(paths.html)


def _trials(records: Store, run_id: str) -> list[TrialRecord]:
    """The trials of a run, with what a page needs of the times of their files, or of a stream."""
    from lanlab.analysis import file_sizes, over_time, tcp_over_time

    def series(trial: TrialRecord, name: str) -> Series:
        return records.series(run_id, trial.number, [name])[name]

    sized = file_sizes.with_size_classes(records.trials(run_id), series)
    drawn = over_time.drawn_trials(sized)
    return tcp_over_time.with_samples(over_time.with_steps(sized, series, drawn), series, drawn)
