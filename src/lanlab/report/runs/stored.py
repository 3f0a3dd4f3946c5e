"""Queries of the store that reports, comparisons and lists of runs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lanlab.store.labels import label_of
from lanlab.store.shape import reading_records

if TYPE_CHECKING:
    from lanlab.store import RunRecord, Series, Store, TrialRecord

#: Most recent runs of a study used to estimate how much runs differ.
_MOST_OTHERS = 40


def trials_for_page(store: Store, run_id: str) -> list[TrialRecord]:
    """The trials of a run, with the series of file times or streams that the page needs."""
    from lanlab.analysis import file_sizes, loss_over_time, over_time, tcp_over_time

    def series(trial: TrialRecord, name: str) -> Series:
        return store.series(run_id, trial.number, [name])[name]

    sized = file_sizes.with_size_classes(store.trials(run_id), series)
    drawn = over_time.drawn_trials(sized)
    stepped = over_time.with_steps(loss_over_time.with_losses(sized, series), series, drawn)
    return tcp_over_time.with_samples(stepped, series, drawn)


def others_in(store: Store, runs: Sequence[RunRecord]) -> list[tuple[RunRecord, list[TrialRecord]]]:
    """The newest other runs of the same study and scale, with their trials."""
    own = {run.id for run in runs}
    alike = {(run.study_id, run.scale) for run in runs}
    found = [
        run
        for run in store.runs()
        if run.id not in own and (run.study_id, run.scale) in alike and run.status == "done"
    ]
    return [(run, store.trials(run.id)) for run in found[-_MOST_OTHERS:]]


def other_kind_in(store: Store, run: RunRecord) -> list[tuple[RunRecord, list[TrialRecord]]]:
    """The newest finished run of the same study on the other kind of testbed, with its trials."""

    def is_model(one: RunRecord) -> bool:
        return bool(one.study.get("simulation"))

    found = [
        one
        for one in store.runs()
        if one.study_id == run.study_id and one.status == "done" and is_model(one) != is_model(run)
    ]
    return [(one, store.trials(one.id)) for one in found[-1:]]


def is_killed(run: RunRecord, store: Store) -> bool:
    return run.status == "running" and not store.is_executing(run.id)


def unreadable_row(run_id: str, why: str) -> dict[str, Any]:
    """The row of a run whose records do not have lanlab's form."""
    texts = ("measured", "result", "study", "scale", "testbed", "link", "started_at", "name")
    counts = ("trials", "failed_trials", "missing_trials")
    return {
        "run": run_id,
        **dict.fromkeys(texts, ""),
        "status": "unreadable",
        **dict.fromkeys(counts, 0),
        "note": why,
        "tags": [],
        "series": None,
        "turn": None,
        "side": None,
    }


def run_row(run: RunRecord, store: Store) -> dict[str, Any]:
    from lanlab.analysis.alternation import LETTERS, place_of
    from lanlab.analysis.failures import missing_places
    from lanlab.analysis.measured_where import measured_where

    counts = store.statuses(run.id)
    failed = counts.get("failed", 0)
    # The position of trials is read only if it matters: a list of runs is long.
    missing = missing_places(store.outlines(run.id)) if failed else []
    with reading_records(run.id):
        place, label, where = place_of(run), label_of(run), measured_where(run)
        return {
            "run": run.id,
            "study": run.study_id,
            "scale": run.scale,
            "testbed": where.testbed,
            "link": where.link,
            "status": "interrupted" if is_killed(run, store) else run.status,
            "trials": sum(counts.values()),
            "failed_trials": failed,
            # Positions at which every attempt failed: means lack a trial for each.
            "missing_trials": len(missing),
            "started_at": run.started_at,
            "name": label.name,
            "note": label.note,
            "tags": list(label.tags),
            # Turns, counted from 1.
            "series": None if place is None else place.series,
            "turn": None if place is None else place.turn + 1,
            "side": None if place is None else LETTERS[place.side],
        }
