"""Which conditions of several runs can be held against each other, and which cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lanlab.analysis.attempts import counting
from lanlab.analysis.comparison import Compared, Sample, compared
from lanlab.analysis.failures import missing_places
from lanlab.errors import UnknownName, UsageError
from lanlab.plan import Condition, expand
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study, at_scale

Run = tuple[RunRecord, Sequence[TrialRecord]]

#: Parameters that say how much of a condition is measured, not what: trials that differ in them
#: alone are held against each other, and the difference is told.
_AMOUNTS = frozenset({"time_s", "warmup_s", "messages", "requests", "bytes", "silence_s"})


@dataclass(frozen=True)
class Unlike:
    """A condition that only some runs have, or that is another thing in each."""

    experiment: str
    factors: Mapping[str, Level]
    #: Names of the runs that have it, and of those that lack it.
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    #: Parameters that differ, with each run's value; empty where a run lacks the condition.
    differing: Mapping[str, tuple[Level | None, ...]]


@dataclass(frozen=True)
class Paired:
    """What can be compared of several runs, and what cannot."""

    comparisons: tuple[Compared, ...]
    unlike: tuple[Unlike, ...]
    #: Amounts (`time_s` and the like) that differ at conditions that were compared, by parameter.
    amounts: Mapping[str, tuple[Level | None, ...]]
    #: Experiments that search along a load, which have no conditions in common.
    searches: tuple[str, ...]


def run_names(count: int) -> tuple[str, ...]:
    """`RUN1`, `RUN2` and so on, as sentences call them."""
    return tuple(f"RUN{place + 1}" for place in range(count))


def check_comparable(runs: Sequence[Run]) -> None:
    """
    Refuse runs that nothing can be compared of.

    Raises:
        UsageError: Fewer than two, one twice, or of different studies.
    """
    ids = [run.id for run, _ in runs]
    if len(ids) < 2:
        raise UsageError(
            f"nothing to compare {ids[0]} with" if ids else "no run named",
            hint="name a second run, or add --by FACTOR or --published",
        )
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(
            f"run {twice} is named twice", hint="`lanlab runs` lists the runs in the store"
        )
    studies = dict.fromkeys(run.study_id for run, _ in runs)
    if len(studies) > 1:
        whose = ", ".join(f"{run.id} is of `{run.study_id}`" for run, _ in runs)
        raise UsageError(
            f"runs of different studies have no condition in common: {whose}",
            hint="compare runs of one study; `lanlab report RUN…` shows others side by side",
        )


def pair_runs(runs: Sequence[Run], base: int = 0, metrics: Sequence[str] | None = None) -> Paired:
    """
    Every common condition, each other run against the base.

    Args:
        runs: Runs of one study with all their trials.
        base: Place of the run that the others are held against.
        metrics: Keys of trials' results; by default the first metric of each experiment.

    Raises:
        UsageError: As `check_comparable`, or no condition in common.
        UnknownName: No trial of any run has a metric that was asked for.
    """
    check_comparable(runs)
    names = run_names(len(runs))
    by_run = [_conditions(run) for run, _ in runs]
    check_metrics([trial for _, trials in runs for trial in trials], metrics)
    studies = [Study.model_validate(run.study) for run, _ in runs]
    comparisons, unlike = [], []
    amounts: dict[str, tuple[Level | None, ...]] = {}
    keys = list(dict.fromkeys(key for conditions in by_run for key in conditions))
    order = [base, *(place for place in range(len(runs)) if place != base)]
    for key in keys:
        have = [place for place in order if key in by_run[place]]
        any_one = by_run[have[0]][key]
        if len(have) < len(runs):
            lacks = tuple(name for place, name in enumerate(names) if place not in have)
            has = tuple(names[place] for place in sorted(have))
            unlike.append(Unlike(any_one.experiment, dict(any_one.factors), has, lacks, {}))
        if base not in have:
            continue
        mine = by_run[base][key]
        for place in have[1:]:
            theirs = by_run[place][key]
            differing = _differing(mine, theirs)
            real = {name: pair for name, pair in differing.items() if name not in _AMOUNTS}
            if real:
                both = (names[base], names[place])
                unlike.append(Unlike(mine.experiment, dict(mine.factors), both, (), real))
                continue
            amounts |= differing
            for metric in metrics or _first_metrics(studies[base], mine.experiment):
                found = compared(
                    sample_of(runs[base][1], mine, metric),
                    sample_of(runs[place][1], theirs, metric),
                    experiment=mine.experiment,
                    metric=metric,
                    factors=mine.factors,
                    parameters=_common(mine, theirs),
                    names=(names[base], names[place]),
                    by_block=False,
                )
                if found.base.n or found.other.n:
                    comparisons.append(found)
    if not comparisons:
        raise UsageError(
            "the runs have no condition in common that was measured in both",
            hint=_why_none(unlike),
        )
    searches = tuple(
        scaled.experiment.title
        for scaled in at_scale(studies[base], runs[base][0].scale)
        if scaled.search is not None
    )
    return Paired(tuple(comparisons), tuple(unlike), amounts, searches)


def pair_levels(
    run: Run,
    factor: str,
    base: str | None = None,
    metrics: Sequence[str] | None = None,
    name: Callable[[Level], str] = str,
) -> tuple[Compared, ...]:
    """
    The levels of a factor of one run against its base level, at each combination of the others, by
    the blocks that have both.

    Args:
        run: The run with all its trials.
        factor: That an experiment varies.
        base: The base's level as it is written; by default the first.
        metrics: As for `pair_runs`.
        name: What a level is called.

    Raises:
        UnknownName: No experiment varies the factor, no such level, or no such metric.
        UsageError: Nothing was measured at two levels.
    """
    record, trials = run
    conditions = list(_conditions(record).values())
    varied = dict.fromkeys(name for condition in conditions for name in condition.factors)
    if factor not in varied:
        raise UnknownName("factor", factor, varied)
    check_metrics(trials, metrics)
    own = [condition for condition in conditions if factor in condition.factors]
    levels = list(dict.fromkeys(condition.factors[factor] for condition in own))
    written = {str(level): level for level in levels}
    if base is not None and base not in written:
        raise UnknownName("level", base, written)
    first = written[base] if base is not None else levels[0]
    study = Study.model_validate(record.study)
    found = []
    for condition in own:
        if condition.factors[factor] == first:
            continue
        rest = {name: level for name, level in condition.factors.items() if name != factor}
        against = next(
            (
                other
                for other in own
                if other.experiment == condition.experiment
                and other.factors == {**condition.factors, factor: first}
            ),
            None,
        )
        if against is None:
            continue
        for metric in metrics or _first_metrics(study, condition.experiment):
            one = compared(
                sample_of(trials, against, metric),
                sample_of(trials, condition, metric),
                experiment=condition.experiment,
                metric=metric,
                factors=rest,
                parameters=_common(against, condition),
                names=(name(first), name(condition.factors[factor])),
                by_block=True,
            )
            if one.base.n or one.other.n:
                found.append(one)
    if not found:
        raise UsageError(
            f"no condition of {record.id} was measured at two levels of `{factor}`",
            hint="run a scale of the study that has several",
        )
    return tuple(found)


def sample_of(trials: Sequence[TrialRecord], condition: Condition, metric: str) -> Sample:
    """What a run has of a metric at a condition."""
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
        polluted=sum(trial.is_polluted for trial in measured),
        mean_trial_s=sum(took) / len(took) if took else 0.0,
    )


def check_metrics(trials: Sequence[TrialRecord], metrics: Sequence[str] | None) -> None:
    """
    Refuse a metric that nobody measured.

    Raises:
        UnknownName: Naming what there is.
    """
    known = dict.fromkeys(key for trial in trials for key in trial.metrics)
    for metric in metrics or ():
        if metric not in known:
            raise UnknownName("metric of these runs", metric, known)


def _conditions(run: RunRecord) -> dict[tuple[str, str], Condition]:
    """The conditions of a run, by what identifies them."""
    study = Study.model_validate(run.study)
    return {
        (condition.experiment, repr(sorted(condition.factors.items()))): condition
        for condition in expand(study, run.scale)
    }


def _first_metrics(study: Study, experiment: str) -> tuple[str, ...]:
    return next(one.metrics[:1] for one in study.experiment if one.id == experiment)


def _differing(a: Condition, b: Condition) -> dict[str, tuple[Level | None, ...]]:
    keys = dict.fromkeys((*a.parameters, *b.parameters))
    pairs = {key: (a.parameters.get(key), b.parameters.get(key)) for key in keys}
    found: dict[str, tuple[Level | None, ...]] = {
        key: pair for key, pair in pairs.items() if pair[0] != pair[1]
    }
    if a.workload != b.workload:
        found["workload"] = (a.workload, b.workload)
    return found


def _common(a: Condition, b: Condition) -> dict[str, Level]:
    return {key: level for key, level in a.parameters.items() if b.parameters.get(key) == level}


def _why_none(unlike: Sequence[Unlike]) -> str:
    for one in unlike:
        if one.differing:
            what = ", ".join(
                f"{key} {pair[0]} in {one.has[0]} and {pair[1]} in {one.has[1]}"
                for key, pair in one.differing.items()
            )
            return f"they differ in what is measured: {what}"
    return "`lanlab report RUN…` shows what each has measured"
