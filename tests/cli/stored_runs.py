"""A store of runs that were never measured, so that what is printed of them never changes."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from copy_runs import copy_run
from kept_runs import Run, keep
from synthetic_runs import synthetic_run
from test_single_measurements import stations

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.plan.plan import PlannedTrial
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.load import load_study

_WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)
_HPET = Finding("clock_source", "sender", "hpet", "tsc, kvm-clock", False)
#: Seconds a byte, a file and a trial, by service.
_COSTS = dict.fromkeys(
    ("smb1", "smb1+nbf", "smb1+ipx", "smb1+nbipx", "smb", "nfs", "ftp", "webdav", "sftp"),
    (9e-8, 1e-3, 0.0),
)
_TURNS = 3


def make_store(place: Path) -> None:
    keep(place, (*_runs(), *_series()))


def _runs() -> list[Run]:
    found = synthetic_run(
        "manford-kolahi",
        "quick",
        link_rate_bps=100_000_000,
        fails=lambda trial: trial.block == 1 and trial.factors.get("message_size_bytes") == 384,
        judged=_judged,
    )
    faster = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    searched = synthetic_run("milanovic-srbljic", "quick")
    half = synthetic_run("milanovic-srbljic", most_trials=7)
    return [
        _named("20261121-080000-disturbed-0001", found.run, found.trials),
        _scaled(_named("20261121-090000-faster-0002", faster.run, faster.trials), 1.04),
        _named("20261121-100000-search-0003", searched.run, searched.trials),
        _named("20261121-110000-interrupted-0004", half.run, half.trials),
        _named(
            "20261121-120000-copies-0005",
            *copy_run(load_study("schomer-claason").study, _COSTS, 0.01),
        ),
        _named("20261121-130000-stations-0006", *stations()[:2]),
    ]


def _judged(trial: PlannedTrial) -> Judgement:
    """The first attempt of one block is disturbed; the clock source is slow in all."""
    disturbed = (_WORK,) if trial.repeats == 0 and trial.block == 0 else ()
    return Judgement((*disturbed, _HPET), ("steal",) if trial.block == 2 else ())


def _series() -> list[Run]:
    found = synthetic_run("manford-kolahi", link_rate_bps=100_000_000)
    rng = random.Random(5)
    sides = [{"name": "a.toml", "engine": None}, {"name": "b.toml", "engine": None}]
    runs = []
    for turn in range(_TURNS):
        for side in (0, 1):
            place = {"id": "20261122-080000-series-77aa", "turn": turn, "side": side}
            alternation = {**place, "turns": _TURNS, "seed": 1, "sides": sides}
            name = f"20261122-0{turn}{side}000-turn-{turn}{side}ab"
            at = f"2026-11-22T0{turn}:{side}0:00.000000+00:00"
            run = replace(found.run, started_at=at, ended_at=at, alternation=alternation)
            factor = (1 - 0.03 * side) * rng.gauss(1, 0.002)
            runs.append(_scaled(_named(name, run, found.trials), factor))
    return runs


def _named(name: str, run: RunRecord, trials: Sequence[TrialRecord]) -> Run:
    return replace(run, id=name), trials


def _scaled(run: Run, factor: float) -> Run:
    trials = [
        replace(trial, metrics={key: value * factor for key, value in trial.metrics.items()})
        for trial in run[1]
    ]
    return run[0], trials
