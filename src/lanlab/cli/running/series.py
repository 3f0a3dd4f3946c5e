"""Alternating runs from the command line: `lanlab run A B --alternate 5`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

import typer

from lanlab.cli.options import complete
from lanlab.cli.options import shared as options
from lanlab.cli.options.shared import flag, option
from lanlab.cli.terminal.remarks import answer, deliver, print_json, talk, typed_command
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.run import RunRequest, Watcher
    from lanlab.run.alternate import Step
    from lanlab.store import RunRecord
    from lanlab.store.database import Store
    from lanlab.studies.load import LoadedStudy
    from lanlab.studies.model import Study


@dataclass(frozen=True)
class RunOptions:
    """Options of `lanlab run`, in the order of `--help`. In a series, `--with` overrides them."""

    scale: options.ScaleOption = "quick"
    testbed: options.TestbedOption = options.DEFAULT_TESTBED
    link: options.LinkOption = None
    seed: options.SeedOption = None
    resume: str | None = option(
        "--resume",
        "RUN",
        "Continue an interrupted run or series (its id, a unique prefix, or `last`).",
        autocompletion=complete.runs,
    )
    allow_commands: bool = flag(
        "--allow-commands",
        "Run the programs that a record or study names (shell commands, server files, engines), "
        "and send the password in LANLAB_PASSWORD to its servers.",
    )
    alternate: int | None = option(
        "--alternate",
        "TURNS",
        "Compare settings: run each side once per turn, in reverse order every second turn. "
        "Needs two or more studies, or --with.",
    )
    settings: list[str] | None = option(
        "--with",
        "KEY=VALUE",
        "With --alternate: setting of side B: scale, testbed, link, engine (a path), or a study "
        "parameter, e.g. io=batch.",
    )
    check: bool = flag(
        "--check",
        "Check the study's findings: exit with 1 if one does not hold, 3 if one is undecided or "
        "none is tested.",
    )
    undecided: Literal["pass", "warn", "fail"] | None = option(
        "--undecided",
        "pass|warn|fail",
        "With --check: exit code for undecided findings: pass 0, warn 3, fail 1 (also for untested "
        "ones). Default: warn.",
    )
    store: options.StoreOption = None
    verbose: options.VerboseOption = False
    as_json: options.JsonOption = False

    def request(self, study: Study, seed: int | None = None) -> RunRequest:
        from lanlab.run import RunRequest

        return RunRequest(
            study,
            self.scale,
            self.testbed,
            self.link,
            seed,
            command=typed_command(),
            allows_commands=self.allow_commands,
        )


def as_recorded(loaded: LoadedStudy) -> Study:
    from lanlab.studies.load import known_studies

    chosen = loaded.study
    if chosen.id in known_studies():
        return chosen
    # Store findings of a `findings.toml` next to the study with the run.
    return chosen.model_copy(update={"finding": loaded.findings})


def begin_series(names: Sequence[str], wanted: RunOptions, turns: int) -> None:
    from lanlab.run.alternate import SideRequest, new_series, with_settings
    from lanlab.store import open_store
    from lanlab.studies.load import load_study

    sides, settings = [], wanted.settings or []
    for name in names:
        study = as_recorded(load_study(name))
        sides.append(SideRequest(name, wanted.request(study)))
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
    with open_store(wanted.store) as records:
        runs = new_series(sides, turns, wanted.seed, records, _watching)
        _answer(runs, records, wanted)


def go_on_with_series(name: str, wanted: RunOptions) -> bool:
    """
    Resume a series by its id or the id of one of its runs. Returns whether the name matches one.
    """
    from lanlab.analysis.comparison.alternation import series_runs
    from lanlab.run.alternate import resume_series
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records

    with open_store(wanted.store) as records:
        runs = series_runs(records, name)
        if not runs:
            return False
        with reading_records(", ".join(run.id for run in runs)):
            allows = wanted.allow_commands
            done = resume_series(runs, records, _watching, allows_commands=allows)
        _answer(done, records, wanted)
    return True


def _watching(step: Step) -> AbstractContextManager[Watcher]:
    from lanlab.analysis.comparison.alternation import LETTERS
    from lanlab.cli.running.watch import RunWatch

    talk().print(
        f"turn {step.turn + 1} of {step.turns}, run {step.done + 1} of {step.total}: "
        f"{LETTERS[step.side]}, {step.name}"
    )
    return RunWatch()


def _answer(runs: Sequence[RunRecord], store: Store, wanted: RunOptions) -> None:
    from lanlab.analysis.comparison.alternation import LETTERS, place_of, series_id
    from lanlab.cli.commands.compare import compare_series
    from lanlab.cli.results.printing import warn_of_disturbances
    from lanlab.store.shape import reading_records

    ids, series = ", ".join(run.id for run in runs), series_id(runs[0])
    failed = sum(run.status != "done" for run in runs)
    with reading_records(ids):
        found = compare_series(runs, store)
        if wanted.as_json:
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
            compared = found.document.to_json()
            print_json({"series": series, "status": status, "runs": rows, "comparison": compared})
        else:
            deliver(found.document)
            lacking = f", {failed} with failed conditions" if failed else ""
            answer().print(
                f"done: {len(runs)} runs{lacking}; `lanlab compare {series}{store.option} --report "
                "FILE` writes a report with figures",
                wrap=False,
            )
        warn_of_disturbances(
            [trial for run in runs for trial in store.trials(run.id)],
            verbose=wanted.verbose,
            summary=wanted.as_json,
        )
    if failed:
        raise typer.Exit(1)
