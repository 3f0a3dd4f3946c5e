"""One trial of a run: what it measured, what disturbed it, and how it went over its time."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from lanlab.analysis.modes import modes_of
from lanlab.analysis.over_time import Step, steps_of, with_steps
from lanlab.analysis.pollution import judgement_of
from lanlab.analysis.pollution_words import warning
from lanlab.errors import StoreError
from lanlab.figures.wording import condition_text, number, quantity
from lanlab.report.table import Cell, Column, Table, words
from lanlab.store import RunRecord, Series, Store, TrialRecord
from lanlab.studies import Study

#: Size of the drawing, in its own units.
_WIDTH, _HEIGHT = 640, 160


@dataclass(frozen=True)
class OverTime:
    """How much arrived in each step of a trial's time."""

    title: str
    #: Points of a line in a box of 640 by 160, as SVG has them.
    points: str
    #: Greatest rate and whole time, as texts for the axes.
    top: str
    end: str
    table: Table


@dataclass(frozen=True)
class TrialOnPage:
    """Everything that the page says of one trial."""

    record: TrialRecord
    experiment: str
    condition: str
    metrics: Table
    disturbances: tuple[str, ...]
    modes: str
    over_time: OverTime | None


def trial_on_page(run: RunRecord, trial: TrialRecord, store: Store) -> TrialOnPage:
    """Gather what the page says of a trial."""
    study = Study.model_validate(run.study)
    titles = {experiment.id: experiment.title for experiment in study.experiment}
    judgement = judgement_of(trial.raw)
    modes = modes_of(trial)
    return TrialOnPage(
        record=trial,
        experiment=titles.get(trial.experiment, trial.experiment),
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

    steps: Sequence[Step] = ()
    # A series that is lost or damaged leaves the rest of the trial to be seen.
    with contextlib.suppress(StoreError):
        (told,) = with_steps([trial], read)
        steps = steps_of(told)
    if not steps:
        return None
    shown = quantity(study, "goodput_bps")
    rates = [8e9 * step.octets / step.width_ns for step in steps]
    end_ns = steps[-1].start_ns + steps[-1].width_ns
    top = max(rates) or 1.0
    points = []
    for step, rate in zip(steps, rates, strict=True):
        y = _HEIGHT * (1 - rate / top)
        for at_ns in (step.start_ns, step.start_ns + step.width_ns):
            points.append(f"{_WIDTH * at_ns / end_ns:.1f},{y:.1f}")
    columns = (
        Column("start (s)", "from (s)"),
        Column("width (s)", "for (s)"),
        Column(f"{shown.name} ({shown.unit})", f"{shown.name} ({shown.unit})"),
    )
    rows = tuple(
        (
            Cell(step.start_ns / 1e9, f"{step.start_ns / 1e9:.3f}"),
            Cell(step.width_ns / 1e9, f"{step.width_ns / 1e9:.3f}"),
            Cell(shown.shown(rate), number(shown.shown(rate))),
        )
        for step, rate in zip(steps, rates, strict=True)
    )
    title = f"{shown.name[0].upper()}{shown.name[1:]} over the time of the trial"
    table = Table("over-time", title, columns, rows)
    return OverTime(title, " ".join(points), shown.text(top), f"{end_ns / 1e9:.3g} s", table)
