"""Alternating runs from the command line: `lanlab run A B --alternate 5`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from lanlab.cli.terminal import answer, print_json, talk, typed_command
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.run import Watcher
    from lanlab.run.alternate import Step
    from lanlab.store import RunRecord, Store
    from lanlab.studies import LoadedStudy, Study


@dataclass(frozen=True)
class RunOptions:
    """Options for every side, unless --with overrides them."""

    scale: str
    testbed: str
    link: str | None
    seed: int | None


def as_recorded(loaded: LoadedStudy) -> Study:
    from lanlab.studies import known_studies

    chosen = loaded.study
    if chosen.id in known_studies():
        return chosen
    # Store findings of a `findings.toml` next to the study with the run.
    return chosen.model_copy(update={"finding": loaded.findings})


def begin_series(
    names: Sequence[str],
    settings: Sequence[str],
    turns: int,
    options: RunOptions,
    store: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    from lanlab.run import RunRequest
    from lanlab.run.alternate import SideRequest, new_series, with_settings
    from lanlab.store import open_store
    from lanlab.studies import load_study

    sides = []
    for name in names:
        study = as_recorded(load_study(name))
        request = RunRequest(
            study, options.scale, options.testbed, options.link, command=typed_command()
        )
        sides.append(SideRequest(name, request))
    if len(sides) == 1 and not settings:
        raise UsageError(
            "--alternate needs a second side to compare",
            hint="add --with KEY=VALUE, or a second study; repeat the study to see how much runs "
            "vary",
        )
    if settings:
        if len(sides) != 1:
            raise UsageError(
                f"--with needs exactly one study, found {len(sides)}; lanlab runs it with and "
                "without the setting",
                hint="put the difference into the study files",
            )
        sides.append(with_settings(sides[0], settings))
    with open_store(store) as records:
        runs = new_series(sides, turns, options.seed, records, _watching)
        _answer(runs, records, verbose, as_json)


def go_on_with_series(name: str, store: str | None, verbose: bool, as_json: bool) -> bool:
    """
    Resume a series by its id or the id of one of its runs. Returns whether the name matches one.
    """
    from lanlab.analysis.alternation import series_id, series_named
    from lanlab.run.alternate import resume_series
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records

    with open_store(store) as records:
        known = records.runs()
        runs = series_named(known, name)
        if not runs:
            found = series_id(records.run(name))
            runs = series_named(known, found) if found else []
        if not runs:
            return False
        with reading_records(", ".join(run.id for run in runs)):
            done = resume_series(runs, records, _watching)
        _answer(done, records, verbose, as_json)
    return True


def _watching(step: Step) -> AbstractContextManager[Watcher]:
    from lanlab.analysis.alternation import LETTERS
    from lanlab.cli.watch import RunWatch

    talk().print(
        f"turn {step.turn + 1} of {step.turns}, run {step.done + 1} of {step.total}: "
        f"{LETTERS[step.side]}, {step.name}"
    )
    return RunWatch()


def _answer(runs: Sequence[RunRecord], store: Store, verbose: bool, as_json: bool) -> None:
    from lanlab.analysis.alternation import LETTERS, place_of, series_id
    from lanlab.cli.compare import compare_series, print_comparison
    from lanlab.cli.results import warn_of_disturbances
    from lanlab.store.shape import reading_records

    ids, series = ", ".join(run.id for run in runs), series_id(runs[0])
    failed = sum(run.status != "done" for run in runs)
    with reading_records(ids):
        found = compare_series(runs, store)
        if as_json:
            rows: list[dict[str, object]] = []
            for run in runs:
                place = place_of(run)
                assert place is not None
                rows.append(
                    {
                        "run": run.id,
                        "turn": place.turn + 1,
                        "side": LETTERS[place.side],
                        "status": run.status,
                    }
                )
            status = "failed" if failed else "done"
            print_json(
                {"series": series, "status": status, "runs": rows, "comparison": found.to_json()}
            )
        else:
            print_comparison(found)
            lacking = f", {failed} with failed conditions" if failed else ""
            answer().print(
                f"done: {len(runs)} runs{lacking}; `lanlab compare {series} --report FILE` "
                f"writes a "
                "report with figures",
                soft_wrap=True,
            )
        warn_of_disturbances(
            [trial for run in runs for trial in store.trials(run.id)],
            verbose=verbose,
            summary=as_json,
        )
    if failed:
        raise typer.Exit(1)
