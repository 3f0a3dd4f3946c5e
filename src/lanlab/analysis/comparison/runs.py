"""Which conditions of several runs can be compared, and which cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from lanlab.analysis.comparison.compare import Basis, Compared, compared
from lanlab.analysis.comparison.run_spread import Others, conditions_of, others_for
from lanlab.analysis.comparison.sides import Run, Side, basis_of, sample_of, side_sample
from lanlab.errors import UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition
from lanlab.store import Level, TrialRecord
from lanlab.store.labels import label_of
from lanlab.studies.model import Study
from lanlab.studies.scaling import at_scale
from lanlab.workloads.option_words import option_word

#: Parameters that only set how much is measured. Trials that differ in them are compared, and the
#: difference is reported.
_AMOUNTS = frozenset({"time_s", "warmup_s", "messages", "requests", "bytes", "silence_s"})


@dataclass(frozen=True)
class Unlike:
    """A condition that only some runs have, or that differs between them."""

    experiment: str
    factors: Mapping[str, Level]
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    #: Parameters that differ, with each run's value; empty if a run lacks the condition.
    differing: Mapping[str, tuple[Level | None, ...]]


@dataclass(frozen=True)
class Paired:
    comparisons: tuple[Compared, ...]
    unlike: tuple[Unlike, ...]
    #: Amounts (such as `time_s`) that differ between compared conditions, by parameter.
    amounts: Mapping[str, tuple[Level | None, ...]]
    searches: tuple[str, ...]
    settings: Mapping[str, tuple[Level | None, ...]] = field(default_factory=dict)
    #: For runs that do not alternate: other runs, which show how much runs differ by chance.
    yardsticks: tuple[Others, ...] = ()


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Labels of runs in sentences and figures: the name of each, or `RUN1`, `RUN2` and so on."""
    plain = tuple(f"RUN{place}" for place, _ in enumerate(runs, 1))
    named = tuple(label_of(run).name or own for (run, _), own in zip(runs, plain, strict=True))
    return named if len(set(named)) == len(runs) else plain


def sides_of(runs: Sequence[Run]) -> list[Side]:
    """
    Each run as a side.

    Raises:
        UsageError: Fewer than two runs, a repeated run, or runs of different studies.
    """
    ids = [run.id for run, _ in runs]
    if len(ids) < 2:
        raise UsageError(
            f"nothing to compare {ids[0]} with" if ids else "no run named",
            hint="name two runs, or one with --by FACTOR or --published",
        )
    check_named_once(ids)
    studies = dict.fromkeys(run.study_id for run, _ in runs)
    if len(studies) > 1:
        whose = ", ".join(f"{run.id} is of `{run.study_id}`" for run, _ in runs)
        raise UsageError(
            f"runs of different studies have no condition in common: {whose}",
            hint="compare runs of one study; `lanlab report RUN…` shows others side by side",
        )
    return [Side(name, (run,)) for name, run in zip(run_names(runs), runs, strict=True)]


def check_named_once(ids: Sequence[str]) -> None:
    """
    Refuse a repeated run.

    Raises:
        UsageError: A run is named twice.
    """
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(
            f"run {twice} is listed twice", hint="`lanlab runs` lists the runs in the store"
        )


def pair_sides(
    sides: Sequence[Side],
    base: int = 0,
    metrics: Sequence[str] | None = None,
    others: Sequence[Run] = (),
    *,
    settings_differ: bool = True,
) -> Paired:
    """
    Compare every common condition of each other side with the base.

    Args:
        base: Index of the side to compare the others with.
        metrics: Keys of trials' results; by default the first metric of each experiment.
        others: Other runs of the study, which may show how much runs differ.
        settings_differ: Whether parameters may differ between sides, because they are the subject
            of the comparison.

    Raises:
        UsageError: No common condition, or different conditions among the runs of one side.
        UnknownName: No trial of any run has a requested metric.
    """
    names = tuple(side.name for side in sides)
    by_side = [_conditions_of_side(side) for side in sides]
    check_metrics([t for side in sides for _, trials in side.runs for t in trials], metrics)
    record = sides[base].runs[0][0]
    study = Study.model_validate(record.study)
    comparisons, unlike = [], []
    amounts: dict[str, tuple[Level | None, ...]] = {}
    settings: dict[str, tuple[Level | None, ...]] = {}
    keys = list(dict.fromkeys(key for conditions in by_side for key in conditions))
    order = [base, *(place for place in range(len(sides)) if place != base)]
    bases = {place: basis_of(sides[base], sides[place]) for place in order[1:]}
    yardsticks = {
        place: others_for(sides[base], sides[place], others)
        for place, basis in bases.items()
        if basis in ("single", "after")
    }
    for key in keys:
        have = [place for place in order if key in by_side[place]]
        any_one = by_side[have[0]][key]
        if len(have) < len(sides):
            lacks = tuple(name for place, name in enumerate(names) if place not in have)
            has = tuple(names[place] for place in sorted(have))
            unlike.append(Unlike(any_one.experiment, dict(any_one.factors), has, lacks, {}))
        if base not in have:
            continue
        mine = by_side[base][key]
        for place in have[1:]:
            theirs = by_side[place][key]
            differing = _differing(mine, theirs)
            real = {name: pair for name, pair in differing.items() if name not in _AMOUNTS}
            if real and (not settings_differ or "workload" in real):
                both = (names[base], names[place])
                unlike.append(Unlike(mine.experiment, dict(mine.factors), both, (), real))
                continue
            settings |= real
            amounts |= {name: pair for name, pair in differing.items() if name in _AMOUNTS}
            pair, known = (sides[base], sides[place]), yardsticks.get(place)
            for metric in metrics or _first_metrics(study, mine.experiment):
                found = _compared_at(metric, pair, (mine, theirs), bases[place], known)
                if found.base.n or found.other.n:
                    comparisons.append(found)
    if not comparisons:
        raise UsageError(
            f"the {'sides' if settings_differ else 'runs'} have no measured condition in common",
            hint=_why_none(unlike),
        )
    searches = tuple(
        scaled.experiment.title
        for scaled in at_scale(study, record.scale)
        if scaled.search is not None
    )
    return Paired(
        tuple(comparisons), tuple(unlike), amounts, searches, settings, tuple(yardsticks.values())
    )


def _compared_at(
    metric: str,
    sides: tuple[Side, Side],
    conditions: tuple[Condition, Condition],
    basis: Basis,
    yardstick: Others | None,
) -> Compared:
    from lanlab.analysis.statistics.samples import scale_of

    scale, spread = scale_of(metric), None
    if yardstick is not None:
        spread = yardstick.spread(conditions, metric, scale)
        basis = basis if spread is None else "known spread"
    base, other = (
        side_sample(side, condition, metric, basis, scale)
        for side, condition in zip(sides, conditions, strict=True)
    )
    return compared(
        base,
        other,
        experiment=conditions[0].experiment,
        metric=metric,
        factors=conditions[0].factors,
        names=(sides[0].name, sides[1].name),
        basis=basis,
        spread=spread,
    )


def pair_levels(
    run: Run,
    factor: str,
    base: str | None = None,
    metrics: Sequence[str] | None = None,
    name: Callable[[str, Level], str] = lambda factor, level: str(level),
) -> tuple[Compared, ...]:
    """
    Compare the levels of a factor of one run with its base level, at each combination of the other
    factors, by the blocks that have both.

    Args:
        run: The run with all its trials.
        factor: A factor that an experiment varies, by its key or the name of its option.
        base: The base level as text; by default the first.
        metrics: As in `pair_sides`.
        name: The label of a factor's level.

    Raises:
        UnknownName: No experiment varies the factor, or the level or metric is unknown.
        UsageError: Fewer than two levels were measured.
    """
    record, trials = run
    conditions = list(conditions_of(record).values())
    varied = {
        option_word(one.workload, key).replace("_", "-"): key
        for one in conditions
        for key in one.factors
    }
    factor = varied.get(factor.removeprefix("--").replace("_", "-"), factor)
    if factor not in varied.values():
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
                sample_of(trials, against, metric, record),
                sample_of(trials, condition, metric, record),
                experiment=condition.experiment,
                metric=metric,
                factors=rest,
                names=(name(factor, first), name(factor, condition.factors[factor])),
                basis="levels",
            )
            if one.base.n or one.other.n:
                found.append(one)
    if not found:
        raise UsageError(
            f"no condition of {record.id} was measured at two levels of `{factor}`",
            hint="run a scale of the study that has several",
        )
    return tuple(found)


def check_metrics(trials: Sequence[TrialRecord], metrics: Sequence[str] | None) -> None:
    """
    Refuse a metric that no run measured.

    Raises:
        UnknownName: With the available metrics.
    """
    known = dict.fromkeys(key for trial in trials for key in trial.metrics)
    for metric in metrics or ():
        if metric not in known:
            raise UnknownName("metric of these runs", metric, known)


def _conditions_of_side(side: Side) -> dict[tuple[str, str], Condition]:
    found = conditions_of(side.runs[0][0])
    for run, _ in side.runs[1:]:
        for key, condition in conditions_of(run).items():
            differing = _differing(found[key], condition) if key in found else {}
            if differing:
                name, pair = next(iter(differing.items()))
                raise UsageError(
                    f"the runs of {side.name} measured different things: {name} {pair[0]} in "
                    f"{side.runs[0][0].id}, {pair[1]} in {run.id}",
                    hint="name runs of one setting on a side",
                )
    return found


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


def _why_none(unlike: Sequence[Unlike]) -> str:
    for one in unlike:
        if one.differing:
            what = ", ".join(
                f"{key} {pair[0]} in {one.has[0]} and {pair[1]} in {one.has[1]}"
                for key, pair in one.differing.items()
            )
            return f"they differ in what is measured: {what}"
    return "`lanlab report RUN…` shows what each has measured"
