"""The page of one trial: its results, disturbances, and values over time."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from lanlab.analysis.disturbances.detect import judgement_of
from lanlab.analysis.disturbances.words import warning
from lanlab.analysis.traffic.over_time import REVERSE_RECEIVER, STEPS, Step, steps_of
from lanlab.analysis.trials.modes import modes_of
from lanlab.errors import StoreError
from lanlab.figures.number_text import number
from lanlab.figures.wording import condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.roles import RECEIVER
from lanlab.store import RunRecord, Series, TrialRecord
from lanlab.store.database import Store
from lanlab.studies.model import Study

#: Size of the drawing, in SVG units.
_WIDTH, _HEIGHT = 640, 160
_WAYS = {RECEIVER: "first to second host", REVERSE_RECEIVER: "second to first host"}


@dataclass(frozen=True)
class OverTime:
    title: str
    #: A line for each direction in a box of 640 by 160: its points in SVG's format.
    lines: tuple[str, ...]
    ways: tuple[str, ...]
    top: str
    end: str
    table: Table


@dataclass(frozen=True)
class TrialOnPage:
    record: TrialRecord
    experiment: str
    condition: str
    metrics: Table
    disturbances: tuple[str, ...]
    modes: str
    over_time: OverTime | None


def trial_on_page(run: RunRecord, trial: TrialRecord, store: Store) -> TrialOnPage:
    study = Study.model_validate(run.study)
    judgement = judgement_of(trial.raw)
    modes = modes_of(trial)
    return TrialOnPage(
        record=trial,
        experiment=study.titles.get(trial.experiment, trial.experiment),
        condition=condition_text(study, trial.factors),
        metrics=_metrics(study, trial),
        disturbances=tuple(warning(one) for one in judgement.findings) if judgement else (),
        modes="" if modes is None else modes.words(),
        over_time=_over_time(study, trial, store),
    )


def _metrics(study: Study, trial: TrialRecord) -> Table:
    columns = (
        Column("metric", "metric", is_number=False),
        Column("value", "value"),
        Column("key", "key", is_number=False),
    )
    rows = []
    for key, value in trial.metrics.items():
        shown = quantity(study, key)
        rows.append((words(shown.name), Cell(value, shown.text(value)), words(key)))
    return Table("metrics", "What was measured", columns, tuple(rows))


def _over_time(study: Study, trial: TrialRecord, store: Store) -> OverTime | None:
    def read(one: TrialRecord, name: str) -> Series:
        return store.series(one.run_id, one.number, [name])[name]

    found: dict[str, list[Step]] = {}
    # A missing or damaged series does not hide the rest of the trial.
    with contextlib.suppress(StoreError):
        (read_trial,) = STEPS.added([trial], read)
        found = {way: steps_of(read_trial, role) for role, way in _WAYS.items()}
        found = {way: steps for way, steps in found.items() if steps}
    if not found:
        return None
    shown = quantity(study, "goodput_bps")
    every = [step for steps in found.values() for step in steps]
    end_ns = max(step.start_ns + step.width_ns for step in every)
    top = max(map(_rate_bps, every)) or 1.0
    several = len(found) > 1
    columns = (
        *((Column("direction", "direction", is_number=False),) if several else ()),
        Column("start (s)", "from (s)"),
        Column("width (s)", "for (s)"),
        Column(f"{shown.name} ({shown.unit})", f"{shown.name} ({shown.unit})"),
    )
    rows = tuple(
        (
            *((words(way),) if several else ()),
            Cell(step.start_ns / 1e9, f"{step.start_ns / 1e9:.3f}"),
            Cell(step.width_ns / 1e9, f"{step.width_ns / 1e9:.3f}"),
            Cell(shown.shown(_rate_bps(step)), number(shown.shown(_rate_bps(step)))),
        )
        for way, steps in found.items()
        for step in steps
    )
    title = f"{shown.name[0].upper()}{shown.name[1:]} over the time of the trial"
    table = Table("over-time", title, columns, rows)
    lines = tuple(_points(steps, end_ns, top) for steps in found.values())
    ways = tuple(found) if several else ()
    return OverTime(title, lines, ways, shown.text(top), f"{end_ns / 1e9:.3g} s", table)


def _points(steps: Sequence[Step], end_ns: int, top: float) -> str:
    points = []
    for step in steps:
        y = _HEIGHT * (1 - _rate_bps(step) / top)
        for at_ns in (step.start_ns, step.start_ns + step.width_ns):
            points.append(f"{_WIDTH * at_ns / end_ns:.1f},{y:.1f}")
    return " ".join(points)


def _rate_bps(step: Step) -> float:
    return 8e9 * step.octets / step.width_ns
