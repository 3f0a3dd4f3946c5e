"""`lanlab predict`: the effect of changing a study's machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from lanlab.cli.options import shared as options
from lanlab.cli.options.hosts import with_fields
from lanlab.cli.options.shared import option
from lanlab.cli.terminal.remarks import deliver, talk, typed_command
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.report.simulation.prediction_table import Sides
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.studies.model import Study
    from lanlab.studies.what_if import Change

_MEMBERS = 6
_MOST_NAMED = 3


@dataclass(frozen=True)
class PredictOptions:
    """In the order of `--help`."""

    settings: list[str] | None = option(
        "--set",
        "KEY=VALUE",
        "Machine parameter to change, e.g. machine.486dx2-nt4.interrupt_us=100; may be repeated.",
    )
    changed_link: str | None = option(
        "--changed-link",
        "LINK",
        "Link on the changed side, e.g. 100M. Default: the same on both sides.",
    )
    ensemble: int | None = option(
        "--ensemble",
        "N",
        "Number of alternative fits to simulate, to widen intervals by the uncertainty of "
        "the fit. Default: 6 if the study has them.",
    )
    scale: options.ScaleOption = "quick"
    link: options.LinkOption = None
    seed: options.SeedOption = None
    report: str | None = option(
        "--report", "FOLDER", "Also write a report with figures to this folder."
    )
    store: options.StoreOption = None
    as_json: options.JsonOption = False

    @property
    def links(self) -> tuple[str | None, str | None]:
        """The link on each side; `None` for the study's."""
        return self.link, self.changed_link or self.link


@with_fields(PredictOptions, "wanted")
def predict(study: options.StudyArgument, *, wanted: PredictOptions) -> None:
    """Simulate a study with changed machine parameters.

    Prints each condition with and without the changes, its bottleneck (wire, processor, ring), and
    all assumptions. Intervals come from the model's errors against published values. Both runs are
    saved. `lanlab show STUDY --only machines` lists the parameters.

    Examples: lanlab predict milanovic-srbljic --set machine.486dx2-nt4.interrupt_us=100;
    lanlab predict milanovic-srbljic --set machine.486dx2-nt4.clock_mhz=33;
    lanlab predict manford-kolahi --changed-link 1G --json
    """
    from lanlab.analysis.simulation.run import held_out_of
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.document.document import Document
    from lanlab.report.runs.build import build_report, check_report_folder
    from lanlab.report.simulation.accuracy_table import missed_sentence
    from lanlab.report.simulation.prediction_table import (
        intervals_sentence,
        prediction_sentence,
        prediction_tables,
        predictions,
        with_intervals,
        with_ranges,
    )
    from lanlab.studies.what_if import change_words, changed_study, members_of

    chosen, changes = _chosen(study, wanted)
    changed, assumed = changed_study(chosen, changes)
    assert chosen.simulation is not None
    members = _members(wanted.ensemble, members_of(chosen.simulation))
    link, changed_link = wanted.links
    if wanted.changed_link is not None:
        assumed.append(f"link: {link or chosen.testbed.link} \N{RIGHTWARDS ARROW} {changed_link}")
    folder = options.path_of(wanted.report)
    if folder is not None:
        check_report_folder(folder)
    both = _both_runs((chosen, changed), wanted)
    found = predictions(*both)
    if members:
        found = with_ranges(found, *_on_members(chosen, changes, members, wanted, both[0][0].seed))
    before = RunData(*both[0])
    held_out = held_out_of(before)
    worth = missed_sentence(held_out, before.published)
    found = with_intervals(found, held_out)
    named = [change_words(chosen.simulation, one) for one in changes]
    named += [f"link {changed_link}"] if wanted.changed_link else []
    change = ", ".join(named) if len(named) <= _MOST_NAMED else f"{len(named)} changes"
    said = prediction_sentence(found, chosen, change)
    if folder is not None:
        build_report(both, folder, answer=said)
    others = "all else is as in the study, fitted numbers included"
    lines = [f"assumed: {line}" for line in (*assumed, others)]
    has_intervals = any(one.interval_before is not None for one in found)
    lines += [intervals_sentence(members)] if has_intervals else []
    deliver(
        Document(
            answer=[said],
            body=prediction_tables(found, chosen),
            more=[*lines, worth],
            next_step=f"saved as {both[0][0].id} and {both[1][0].id}",
            data={
                "study": chosen.id,
                "runs": [run.id for run, _ in both],
                "assumptions": assumed,
                "ensemble": members,
                "model_error": worth,
                "conditions": [{**dataclasses.asdict(one), "ratio": one.ratio} for one in found],
            },
        ),
        wanted.as_json,
    )
    if any(run.status != "done" for run, _ in both):
        raise typer.Exit(1)


def _chosen(study: str, wanted: PredictOptions) -> tuple[Study, list[Change]]:
    """The simulated study of what the changes affect, and the changes."""
    from lanlab.cli.running.series import as_recorded
    from lanlab.studies.load import load_study
    from lanlab.studies.runs_on import study_on
    from lanlab.studies.what_if import affected, changed_study, parse_change

    changes = [parse_change(text) for text in wanted.settings or []]
    if not changes and wanted.changed_link is None:
        raise UsageError(
            "nothing is changed; give --set or --changed-link",
            hint="`lanlab show STUDY --only machines` lists what can be changed",
        )
    chosen = study_on(as_recorded(load_study(study)), "simulated")
    if changes:
        # Check the names first.
        changed_study(chosen, changes)
        chosen = affected(chosen, changes)
    return chosen, changes


def _both_runs(
    sides: Sequence[Study], wanted: PredictOptions
) -> list[tuple[RunRecord, list[TrialRecord]]]:
    from lanlab.cli.running.watch import RunWatch
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store

    both: list[tuple[RunRecord, list[TrialRecord]]] = []
    with open_store(wanted.store) as records:
        for one, link in zip(sides, wanted.links, strict=True):
            seed = both[0][0].seed if both else wanted.seed
            command = typed_command()
            request = RunRequest(one, wanted.scale, "simulated", link, seed, command=command)
            with RunWatch() as watch:
                run = new_run(request, records, watch)
            both.append((run, records.trials(run.id)))
    return both


def _members(wanted: int | None, there: int) -> int:
    """The number of alternative machines to simulate."""
    if wanted is None:
        return min(_MEMBERS, there)
    if not 0 <= wanted <= there:
        raise UsageError(
            f"--ensemble: found {wanted}; allowed: 0 to {there}, the study's number of fits",
            hint="`bench/ensemble.py STUDY` draws them",
        )
    return wanted


def _on_members(
    study: Study, changes: Sequence[Change], members: int, wanted: PredictOptions, seed: int
) -> tuple[Sides, list[Sides]]:
    from lanlab.run.simulated import SimulatedConditions, first_metrics
    from lanlab.studies.what_if import changed_study, with_member
    from lanlab.testbeds.simulated import SimulatedTestbed

    before, after = (one or study.testbed.link for one in wanted.links)
    progress = talk()
    sides: list[Sides] = []
    with SimulatedTestbed(2, before) as bed:
        conditions = SimulatedConditions(bed)
        for place in range(-1, members):
            progress.show(f"what the fit leaves open: machine {place + 2} of {members + 1}")
            one = study if place < 0 else with_member(study, place)
            changed, _ = changed_study(one, changes)
            sides.append(
                (
                    first_metrics(one, wanted.scale, before, seed, conditions),
                    first_metrics(changed, wanted.scale, after, seed, conditions),
                )
            )
        progress.show("")
    return sides[0], sides[1:]
