"""Sides of a comparison: the runs of one setting, and their values for a condition."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lanlab.analysis.comparison.alternation import place_of
from lanlab.analysis.comparison.compare import Basis, Sample
from lanlab.analysis.links.wires import wire_at
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.failures import missing_places
from lanlab.analysis.trials.summary import greatest_possible, limit_of
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition
from lanlab.store import RunRecord, TrialRecord

Run = tuple[RunRecord, Sequence[TrialRecord]]


@dataclass(frozen=True)
class Side:
    name: str
    runs: tuple[Run, ...]
    #: Description in words; empty if the ids of its runs are enough.
    what: str = ""

    @property
    def middle_s(self) -> float:
        """Mean start time of its runs, seconds."""
        return math.fsum(started_s(run) for run, _ in self.runs) / len(self.runs)


def started_s(run: RunRecord) -> float:
    """Start of a run, seconds since 1970."""
    return datetime.fromisoformat(run.started_at).timestamp()


def basis_of(base: Side, other: Side) -> Basis:
    if len(base.runs) == len(other.runs) == 1:
        return "single"
    turns = [{turn_of(run) for run, _ in side.runs} for side in (base, other)]
    if None not in turns[0] | turns[1] and len(turns[0] & turns[1]) >= 2:
        return "turns"
    order = sorted(
        (started_s(run), place) for place, side in enumerate((base, other)) for run, _ in side.runs
    )
    changes = sum(one[1] != two[1] for one, two in itertools.pairwise(order))
    # The order A, A, B, B changes sides once; A, B, A, B three times; A, B, B, A twice.
    fewest = min(len(base.runs), len(other.runs))
    return "mixed" if fewest >= 2 and changes >= fewest else "after"


def turn_of(run: RunRecord) -> tuple[str, int] | None:
    """The series and turn of a run; `None` if it is not part of a series."""
    place = place_of(run)
    return None if place is None else (place.series, place.turn)


def side_sample(side: Side, condition: Condition, metric: str, basis: Basis, scale: str) -> Sample:
    """A side's values of a metric at a condition: trials of a single run, else runs."""
    if basis == "single":
        run, trials = side.runs[0]
        return sample_of(trials, condition, metric, run)
    samples: list[Sample] = []
    turns: list[int] = []
    for run, trials in side.runs:
        one = sample_of(trials, condition, metric, run)
        samples.append(replace(one, mean_unit_s=_took_s(run, trials)))
        place = place_of(run)
        turns.append(len(turns) if place is None else place.turn)
    have = [(one, turn) for one, turn in zip(samples, turns, strict=True) if one.n]
    return Sample(
        values=tuple(one.mean or 0.0 for one, _ in have),
        blocks=tuple(turn for _, turn in have),
        failed=sum(one.failed for one in samples),
        missing=sum(one.missing for one in samples),
        disturbed=sum(one.disturbed for one in samples),
        # Median, because a run that was interrupted for a night would distort the mean.
        mean_unit_s=statistics.median(one.mean_unit_s for one in samples),
        centres=tuple(centre(one.values, scale) for one, _ in have),
        trials=sum(one.n for one in samples),
        limit=samples[0].limit,
    )


def _took_s(run: RunRecord, trials: Sequence[TrialRecord]) -> float:
    if run.ended_at is None:
        return math.fsum(trial.elapsed_s for trial in trials)
    return datetime.fromisoformat(run.ended_at).timestamp() - started_s(run)


def centre(values: Sequence[float], scale: str) -> float:
    """The mean on a scale, in the values' unit: geometric for `log`."""
    if scale == "log" and min(values) > 0:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return 0.0 if scale == "log" else math.fsum(values) / len(values)


def sample_of(
    trials: Sequence[TrialRecord], condition: Condition, metric: str, run: RunRecord | None = None
) -> Sample:
    """The trials of a condition. Give `run` if the limit of its link is needed."""
    parameters = dict(condition.parameters)
    limit = None if run is None else limit_of(metric, parameters, wire_at(run, parameters))
    own = [
        trial
        for trial in trials
        if trial.experiment == condition.experiment
        and trial.purpose == "trial"
        and trial.factors == dict(condition.factors)
    ]
    measured = [trial for trial in counting(own) if metric in trial.metrics]
    took = [trial.elapsed_s for trial in own]
    return Sample(
        values=tuple(float(trial.metrics[metric]) for trial in measured),
        blocks=tuple(trial.block for trial in measured),
        failed=sum(trial.status == "failed" for trial in own),
        missing=len(missing_places(own)),
        disturbed=sum(trial.is_disturbed for trial in measured),
        mean_unit_s=sum(took) / len(took) if took else 0.0,
        limit=greatest_possible(metric, parameters, limit),
    )
