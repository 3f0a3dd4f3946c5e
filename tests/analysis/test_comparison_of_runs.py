"""Runs as units: what may be claimed of how they were taken, and what further runs would take."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from planned_runs import PlannedRun, pair_runs, planned_run
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from lanlab.analysis.comparison.compare import LEVEL, Basis, Compared, Sample, compared, judged
from lanlab.analysis.comparison.run_spread import LEAST_DF, SPAN, others_for
from lanlab.analysis.comparison.runs import pair_sides
from lanlab.analysis.comparison.sides import Run, Side, basis_of
from lanlab.errors import UsageError

_START = datetime(2026, 11, 23, 8, tzinfo=UTC)


@pytest.fixture(scope="module")
def manford() -> PlannedRun:
    return planned_run("manford-kolahi", link_rate_bps=100_000_000)


def at(
    found: PlannedRun,
    minute: float,
    factor: float = 1.0,
    *,
    turn: int | None = None,
    side: int = 0,
    disturbed: bool = False,
) -> Run:
    """The run as if begun in that minute, every result by a factor greater, trials hardly apart."""
    began = (_START + timedelta(minutes=minute)).isoformat()
    place = None
    if turn is not None:
        sides = [{"name": "a", "engine": None}, {"name": "b", "engine": None}]
        place = {"id": "s", "turn": turn, "side": side, "turns": 9, "seed": 1, "sides": sides}
    run = replace(found.run, id=f"run-{minute:g}", started_at=began, alternation=place)
    findings = [{"repeat_helps": True}] if disturbed else []
    trials = [
        replace(
            trial,
            run_id=run.id,
            metrics={
                key: value * factor * (1 + 1e-4 * trial.block)
                for key, value in trial.metrics.items()
            },
            raw={"pollution": {"findings": findings}},
        )
        for trial in found.trials
    ]
    return run, trials


def sides(
    base: Sequence[float], other: Sequence[float], basis: Basis, seconds: float = 60.0
) -> Compared:
    both = [
        Sample(tuple(values), tuple(range(len(values))), 0, 0, 0, seconds)
        for values in (base, other)
    ]
    return compared(
        *both,
        experiment="e",
        metric="goodput_bps",
        factors={},
        names=("A", "B"),
        basis=basis,
    )


# What two runs say.


def test_single_runs_claim_no_difference(manford: PlannedRun) -> None:
    two = judged(pair_runs([at(manford, 0), at(manford, 1, 1.12)]).comparisons, 0.5)
    assert {(one.verdict, one.is_too_few) for one in two} == {("cannot_tell", True)}
    three = planned_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = judged(pair_runs([at(three, 0), at(three, 1, 1.12)]).comparisons, 0.5)

    assert {one.verdict for one in found} == {"runs_differ"}
    assert not any(one.differs for one in found)
    assert {one.better for one in found} == {None}
    # Nor are two settings equivalent because two runs are alike.
    assert {one.p_equivalent_holm for one in found} == {None}
    assert {one.further for one in found} == {None}


def test_other_runs_of_the_study_give_the_spread_between_runs(manford: PlannedRun) -> None:
    off = [0.95, 1.05, 0.97, 1.02, 1.0, 0.93, 1.04, 1.08, 0.99, 1.01]
    others = [at(manford, place * 2, factor) for place, factor in enumerate(off)]

    near = pair_runs([at(manford, 30), at(manford, 31, 1.05)], others=others)
    far = pair_runs([at(manford, 30), at(manford, 31, 1.6)], others=others)

    sd = stats.tstd([math.log(factor) for factor in off])
    for one in judged(near.comparisons):
        assert (one.basis, one.unit, one.verdict) == ("known spread", "run", "cannot_tell")
        assert one.test is not None and one.test.df == 9
        assert one.test.standard_error == pytest.approx(sd * math.sqrt(2), rel=1e-3)
    assert {one.verdict for one in judged(far.comparisons)} == {"differs"}
    assert {one.better for one in judged(far.comparisons) if one.metric == "goodput_bps"} == {True}
    [yardstick] = near.yardsticks
    assert [run.id for run, _ in yardstick.runs] == [run.id for run, _ in others]


def test_few_close_or_unrelated_runs_give_no_spread(
    manford: PlannedRun,
) -> None:
    base, other = (Side(name, (at(manford, minute),)) for name, minute in (("a", 100), ("b", 101)))
    fit = [at(manford, place * SPAN / LEAST_DF) for place in range(LEAST_DF + 1)]
    unlike = [(replace(run, testbed={**run.testbed, "link": "1G"}), trials) for run, trials in fit]
    close = [at(manford, place * SPAN / LEAST_DF / 2) for place in range(LEAST_DF + 1)]
    unfinished = [(replace(run, status="interrupted"), trials) for run, trials in fit]

    def taken(runs: Sequence[Run]) -> int:
        return len(others_for(base, other, runs).runs)

    assert taken(fit) == LEAST_DF + 1
    assert taken(unlike) == taken(close) == taken(unfinished) == 0
    assert taken([*base.runs, *other.runs]) == 0
    few = pair_runs([base.runs[0], other.runs[0]], others=fit[:-2]).comparisons
    assert {one.basis for one in few} == {"single"}


def test_the_spread_between_runs_is_computed_for_each_version(manford: PlannedRun) -> None:
    others = []
    for place in range(14):
        run, trials = at(manford, place, (1.0 + 0.01 * (place // 2 % 2)) * (1 + place % 2))
        version = {**run.versions, "lanlab-engine": str(place % 2)}
        others.append((replace(run, versions=version), trials))

    found = pair_runs([at(manford, 20), at(manford, 21)], others=others).comparisons

    assert {one.test.df for one in found if one.test is not None} == {12}
    assert all(one.test is not None and one.test.sd_a < 0.01 for one in found)


def test_a_side_with_mostly_disturbed_trials_is_not_called_better(manford: PlannedRun) -> None:
    others = [at(manford, place * 2, 1 + 0.01 * (place % 3)) for place in range(12)]
    pair = [at(manford, 30), at(manford, 31, 2.0, disturbed=True)]

    found = judged(pair_runs(pair, others=others).comparisons)

    assert {one.verdict for one in found} == {"differs"}
    assert all(one.is_unguarded and one.better is None for one in found)


# Several runs of each.


def test_the_order_of_runs_limits_the_claims(manford: PlannedRun) -> None:
    def basis(*order: int, turns: bool = False) -> Basis:
        runs: list[list[Run]] = [[], []]
        for minute, side in enumerate(order):
            turn = minute // 2 if turns else None
            runs[side].append(at(manford, minute, turn=turn, side=side))
        return basis_of(*(Side(name, tuple(own)) for name, own in zip("AB", runs, strict=True)))

    assert basis(0, 1) == "single"
    assert basis(0, 0, 0, 1, 1, 1) == basis(0, 0, 1, 1) == basis(0, 1, 1) == "after"
    assert basis(0, 1, 0, 1) == basis(0, 1, 1, 0) == "mixed"
    assert basis(0, 1, 1, 0, turns=True) == "turns"


def test_alternating_runs_are_compared_turn_by_turn(manford: PlannedRun) -> None:
    loads, gains = (1.0, 0.5, 0.25), (1.10, 1.11, 1.09)
    a = [at(manford, 2 * turn, load, turn=turn) for turn, load in enumerate(loads)]
    b = [
        at(manford, 2 * turn + 1, load * gain, turn=turn, side=1)
        for turn, (load, gain) in enumerate(zip(loads, gains, strict=True))
    ]

    found = judged(pair_sides([Side("A", tuple(a)), Side("B", tuple(b))]).comparisons)

    theirs = stats.ttest_1samp([math.log(gain) for gain in gains], 0)
    for one in found:
        assert (one.basis, one.base.n, one.base.trials) == ("turns", 3, 6)
        assert one.effect == pytest.approx(stats.gmean(gains))
        assert one.test is not None and one.test.p_two_sided == pytest.approx(theirs.pvalue)


def test_the_spread_between_runs_decides(manford: PlannedRun) -> None:
    off = [(1.0, 1.2), (1.25, 1.0), (1.0, 1.2), (1.21, 1.0)]
    runs = [
        [at(manford, 2 * t + s, off[t][s], turn=t, side=s) for t in range(len(off))] for s in (0, 1)
    ]
    found = judged(pair_sides([Side("A", tuple(runs[0])), Side("B", tuple(runs[1]))]).comparisons)

    assert {one.verdict for one in found} == {"cannot_tell"}
    assert {one.unit for one in found} == {"run"}


def test_unalternated_runs_claim_no_difference(manford: PlannedRun) -> None:
    a = Side("before", tuple(at(manford, m, 1 + 0.001 * m) for m in range(3)))
    b = Side("after", tuple(at(manford, m, 1.2 + 0.001 * m) for m in range(3, 6)))

    found = judged(pair_sides([a, b]).comparisons)

    assert {(one.basis, one.verdict) for one in found} == {("after", "runs_differ")}


def test_parameters_may_differ_between_sides_only(manford: PlannedRun) -> None:
    def batched(run: Run) -> Run:
        record, trials = run
        study = {**record.study}
        study["experiment"] = [
            {**one, "parameters": {**one["parameters"], "io": "batch"}}
            if one["id"] == "throughput"
            else one
            for one in study["experiment"]
        ]
        return replace(record, study=study), trials

    a = Side("before", (at(manford, 0), at(manford, 2)))
    b = Side("after", (batched(at(manford, 1)), batched(at(manford, 3))))
    mixed = Side("mixed", (at(manford, 1), batched(at(manford, 3))))

    paired = pair_sides([a, b])
    assert paired.settings == {"io": ("single", "batch")}
    assert {one.experiment for one in paired.comparisons} == {"throughput", "round-trip"}
    with pytest.raises(UsageError, match="runs of mixed measured different things: io single in"):
        pair_sides([a, mixed])


# How many more.


@pytest.mark.parametrize("family", [1, 4])
def test_further_runs_follow_from_a_power_analysis(family: int) -> None:
    base, gain = (100.0, 104.0, 97.0, 101.0, 99.0), 1.02
    other = tuple(gain * value for value in base)
    found = judged([sides(base, other, "mixed")] * family)[0]

    sd = stats.tstd([math.log(value) for value in base])
    needed = math.ceil(
        TTestIndPower().solve_power(math.log(gain) / sd, alpha=LEVEL / family, power=0.8)
    )
    assert found.further is not None and found.further.trials_per_side is not None
    # They integrate over Welch's degrees of freedom, which is at most one more.
    assert needed <= found.further.trials_per_side <= needed + 1
    assert found.further.further_trials == 2 * (found.further.trials_per_side - 5)
    assert found.further.minutes == found.further.further_trials


def test_further_turns_follow_from_a_paired_test() -> None:
    base = (100.0, 50.0, 25.0, 12.0, 80.0)
    ratios = (1.05, 0.98, 1.04, 1.0, 1.03)
    other = tuple(b * r for b, r in zip(base, ratios, strict=True))
    [found] = judged([sides(base, other, "turns", seconds=30.0)])

    logs = [math.log(ratio) for ratio in ratios]
    effect = sum(logs) / 5 / stats.tstd(logs)
    needed = math.ceil(TTestPower().solve_power(effect, alpha=LEVEL, power=0.8))
    assert found.further is not None
    assert found.further.trials_per_side == pytest.approx(needed, abs=1)
    assert found.further.further_trials == 2 * ((found.further.trials_per_side or 0) - 5)
    assert found.further.minutes == pytest.approx((found.further.further_trials or 0) / 2)
