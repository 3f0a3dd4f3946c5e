"""Queries of the store that reports, comparisons and lists of runs share."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lanlab import __version__
from lanlab.errors import LabError, RunError
from lanlab.store import RunRecord, Series, TrialHead, TrialRecord
from lanlab.store.labels import label_of
from lanlab.store.shape import reading_records
from lanlab.trial_data import Summary

if TYPE_CHECKING:
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.store.database import Store

#: Maximum number of a study's newest runs for estimating how much runs differ.
_MOST_OTHERS = 40


def trials_for_page(store: Store, run_id: str) -> list[TrialRecord]:
    """The trials of a run, with the series of file times or streams that its page needs."""
    from lanlab.analysis.copies.file_sizes import SIZE_CLASSES
    from lanlab.analysis.traffic.over_time import STEPS, drawn_trials
    from lanlab.analysis.traffic.tcp_over_time import SAMPLES

    def series(trial: TrialRecord, name: str) -> Series:
        return store.series(run_id, trial.number, [name])[name]

    trials = SIZE_CLASSES.added(store.trials(run_id), series)
    drawn = drawn_trials(trials)
    return SAMPLES.added(STEPS.added(trials, series, drawn), series, drawn)


def others_in(store: Store, runs: Sequence[RunRecord]) -> list[tuple[RunRecord, list[TrialRecord]]]:
    """The newest other runs of the same study and scale, with their trials."""
    own = {run.id for run in runs}
    alike = {(run.study_id, run.scale) for run in runs}
    found = [
        run
        for run in store.runs()
        if run.id not in own and (run.study_id, run.scale) in alike and run.status == "done"
    ]
    return _readable(store, found[-_MOST_OTHERS:])


def other_kind_in(store: Store, run: RunRecord) -> list[RunData]:
    """The newest finished run of the same study on the other kind of testbed, with its trials."""

    from lanlab.analysis.trials.run_data import RunData

    is_model = bool(run.study.get("simulation"))
    done = (one for one in store.runs() if one.study_id == run.study_id and one.status == "done")
    found = [one for one in done if bool(one.study.get("simulation")) != is_model]
    return [RunData(*one) for one in _readable(store, found[-1:])]


def _readable(store: Store, runs: Sequence[RunRecord]) -> list[tuple[RunRecord, list[TrialRecord]]]:
    """Runs with their trials, without malformed ones, which must not hide the results of others."""
    from lanlab.analysis.comparison.run_spread import check_other

    found = []
    for run in runs:
        with contextlib.suppress(LabError), reading_records(run.id):
            check_other(run)
            found.append((run, store.trials(run.id)))
    return found


def is_killed(run: RunRecord, store: Store) -> bool:
    """Whether a run cannot record its end any more. It may have ended since it was read."""
    return (
        run.status == "running"
        and not store.is_executing(run.id)
        and store.run(run.id).status == "running"
    )


def run_to_show(store: Store, name: str) -> RunRecord:
    """
    The run of this name. If it was killed, and so could not record its end, it counts as
    interrupted.

    Raises:
        RunError: It has no trial.
    """
    run = store.run(name)
    if not store.count(run.id):
        raise RunError(f"run {run.id} has no trial: nothing was measured")
    return replace(run, status="interrupted") if is_killed(run, store) else run


def unreadable_row(run_id: str, why: str) -> dict[str, object]:
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


UNREADABLE = "cannot be read"
#: Keys of a run's summary, with their types.
_SUMMARY = {"trials": int, "failed_trials": int, "missing_trials": int, "result": str, "by": str}


def run_row(run: RunRecord, store: Store) -> dict[str, object]:
    """A run in a list, from its summary, which is made when the finished run is first listed."""
    from lanlab.analysis.comparison.alternation import LETTERS, place_of
    from lanlab.analysis.trials.measured_where import measured_where

    summary = run.summary or cast("Summary", {})
    types = {key: type(value) for key, value in summary.items()}
    if types != _SUMMARY or summary["by"] != __version__:
        summary = _summary(run, store)
        if run.status != "running" and summary["result"] != UNREADABLE:
            store.keep_summary(run.id, summary)
    with reading_records(run.id):
        place, label, where = place_of(run), label_of(run), measured_where(run)
        return {
            "run": run.id,
            "study": run.study_id,
            "scale": run.scale,
            "testbed": where.testbed,
            "link": where.link,
            "status": "interrupted" if is_killed(run, store) else run.status,
            "trials": summary["trials"],
            "failed_trials": summary["failed_trials"],
            # Positions at which every attempt failed: each is a trial that a mean lacks.
            "missing_trials": summary["missing_trials"],
            "started_at": run.started_at,
            "name": label.name,
            "note": label.note,
            "tags": list(label.tags),
            # Turns are counted from 1.
            "series": None if place is None else place.series,
            "turn": None if place is None else place.turn + 1,
            "side": None if place is None else LETTERS[place.side],
            "measured": str(run.study.get("title", "")),
            "result": summary["result"],
        }


def _summary(run: RunRecord, store: Store) -> Summary:
    from lanlab.analysis.trials.failures import missing_places
    from lanlab.report.runs.run_result import metrics_of_list, result_text

    trials: Sequence[TrialRecord | TrialHead] = []
    # Malformed records are read whole, for an error that tells which.
    with contextlib.suppress(LabError), reading_records(run.id):
        if (metrics := metrics_of_list(run)) is not None:
            trials = store.trial_heads(run.id, metrics)
    trials = trials or store.outlines(run.id)
    missing = 0
    try:
        with reading_records(run.id):
            result, missing = result_text(run, trials), len(missing_places(trials))
    except LabError:
        # The list shows the other runs; `lanlab show` reports this error.
        result = UNREADABLE
    return {
        "trials": len(trials),
        "failed_trials": sum(trial.status == "failed" for trial in trials),
        "missing_trials": missing,
        "result": result,
        "by": __version__,
    }
