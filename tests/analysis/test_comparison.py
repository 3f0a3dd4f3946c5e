"""Comparisons of two sides, of runs and of levels: what is held against what, and what is said."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from planned_runs import PlannedRun, pair_runs, planned_run
from scipy import stats

from lanlab.analysis.comparison.compare import Basis, Compared, Sample, compared, corrected, judged
from lanlab.analysis.comparison.facts import ABSENT, differing_facts
from lanlab.analysis.comparison.published import compare_with_published
from lanlab.analysis.comparison.runs import Run, pair_levels
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UnknownName, UsageError
from lanlab.store import TrialRecord
from lanlab.studies.published import Published


def a_sample(*values: float, blocks: tuple[int, ...] | None = None) -> Sample:
    return Sample(values, blocks or tuple(range(len(values))), 0, 0, 0, 0.5)


def sides(
    base: Sample, other: Sample, metric: str = "goodput_bps", *, basis: Basis = "mixed"
) -> Compared:
    return compared(
        base,
        other,
        experiment="e",
        metric=metric,
        factors={"message_size_bytes": 500},
        names=("RUN1", "RUN2"),
        basis=basis,
    )


BASE = a_sample(100.0, 101.0, 99.0, 100.5)
FASTER = a_sample(112.0, 113.0, 111.0, 112.5)


def test_rates_are_compared_as_ratios_by_welchs_test() -> None:
    found = sides(BASE, FASTER)

    logs = [[math.log(value) for value in side.values] for side in (FASTER, BASE)]
    theirs = stats.ttest_ind(*logs, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert found.test is not None
    assert found.test.p_two_sided == pytest.approx(theirs.pvalue)
    assert (found.test.low, found.test.high) == pytest.approx(
        (math.exp(interval.low), math.exp(interval.high))
    )
    assert found.effect == pytest.approx(math.exp(sum(logs[0]) / 4 - sum(logs[1]) / 4))


def test_correlated_trials_of_single_runs_are_less_certain() -> None:
    """Each run slows down once: that a run was slower as a whole is no sooner seen. Runs of a side
    are no trials, and are compared as they are."""
    base = a_sample(*(100.0 + place % 3 - 4 * (place > 5) for place in range(12)))
    other = a_sample(*(102.5 + place % 3 - 4 * (place > 6) for place in range(12)))
    single, mixed = (sides(base, other, basis=basis).test for basis in ("single", "mixed"))

    assert single is not None and mixed is not None
    assert single.p_two_sided > 0.3 and mixed.p_two_sided < 0.05
    few = [a_sample(*one.values[:7]) for one in (base, other)]
    assert sides(*few, basis="single").test == sides(*few).test


def test_shares_are_compared_as_differences() -> None:
    found = sides(a_sample(0.99, 0.98, 0.985), a_sample(0.95, 0.94, 0.96), "received_ratio")

    assert found.scale == "linear"
    assert found.effect == pytest.approx(0.95 - 0.985)


@pytest.mark.parametrize(
    ("metric", "better"),
    [("goodput_bps", True), ("rtt_mean_ns", False), ("offered_bps", None)],
)
def test_the_metric_decides_whether_more_is_better(metric: str, better: bool | None) -> None:
    [found] = judged([sides(BASE, FASTER, metric)])

    assert found.verdict == "differs"
    assert found.better is better


def test_p_is_corrected_for_all_comparisons() -> None:
    barely = sides(BASE, a_sample(101.5, 102.5, 100.5, 102.0))
    [alone] = judged([barely])
    among = judged([barely, *[sides(BASE, a_sample(100.1, 101.0, 99.2, 100.4))] * 19])

    assert alone.p_holm is not None and alone.p_holm < 0.05
    assert alone.verdict == "differs"
    assert among[0].p_holm == pytest.approx(min(1.0, 20 * alone.p_holm))
    assert among[0].verdict == "cannot_tell"


def test_equivalence_needs_a_margin_and_is_corrected() -> None:
    alike = sides(BASE, a_sample(100.2, 101.1, 99.1, 100.6))

    [without] = judged([alike])
    [within] = judged([alike], 0.05)
    [too_narrow] = judged([alike], 0.0001)

    assert without.verdict == "cannot_tell"
    assert within.verdict == "equivalent"
    assert within.margin is not None and within.margin.high == pytest.approx(1.05)
    assert too_narrow.verdict == "cannot_tell"
    many = judged([alike] * 3, 0.05)
    assert many[0].p_equivalent_holm == pytest.approx(3 * (within.p_equivalent_holm or 0))


def test_the_margin_of_a_difference_is_a_share_of_the_bases_mean() -> None:
    base, other = a_sample(0.99, 0.98, 0.985), a_sample(0.99, 0.981, 0.986)
    [found] = judged([sides(base, other, "received_ratio")], 0.02)

    assert found.margin is not None
    assert found.margin.high == pytest.approx(0.02 * 0.985)


def test_an_invalid_margin_is_refused() -> None:
    with pytest.raises(UsageError, match="margin"):
        judged([sides(BASE, FASTER)], 0.0)


@pytest.mark.parametrize(
    ("base", "other", "why"),
    [
        (a_sample(100.0), FASTER, "one run of RUN1"),
        (a_sample(), FASTER, "no trial of RUN1"),
        (a_sample(5.0, 5.0), a_sample(6.0, 6.0), "the values show no random variation"),
        (a_sample(5.0, 0.0), FASTER, "a value of RUN1 is 0, so there is no ratio"),
    ],
)
def test_no_spread_gives_no_interval_but_a_reason(base: Sample, other: Sample, why: str) -> None:
    [found] = judged([sides(base, other)])

    assert found.verdict == "no_interval"
    assert found.test is None and why in found.why


def test_a_few_blocks_in_another_mode_show_no_difference() -> None:
    """Student's t takes four slow blocks of sixteen for a difference, with p 0.041; exchanging the
    sides of blocks gives as much in 8 % of cases."""
    slow = [math.exp(0.2 * (n < 4) + 0.001 * (n * 7 % 5 - 2)) for n in range(16)]
    (found,) = corrected([sides(a_sample(*[1.0] * 16), a_sample(*slow), basis="levels")])
    assert found.test is not None and found.test.p_two_sided < 0.05
    assert found.p_holm == pytest.approx(0.08, abs=0.01) and not found.differs


def test_levels_of_a_factor_are_compared_within_blocks() -> None:
    drifting = (100.0, 130.0, 160.0, 190.0)
    off = (1, 1.001, 0.999, 1.0005)
    second = tuple(1.02 * value * own for value, own in zip(drifting, off, strict=True))
    found = sides(a_sample(*drifting), a_sample(*second), basis="levels")

    assert found.test is not None and found.test.design == "by block"
    assert found.test.low == pytest.approx(1.02, abs=0.003)
    assert found.test.high == pytest.approx(1.02, abs=0.003)


# Runs.


@pytest.fixture(scope="module")
def manford() -> PlannedRun:
    return planned_run("manford-kolahi", link_rate_bps=100_000_000)


def changed(
    found: PlannedRun, change: Callable[[TrialRecord], TrialRecord], name: str = "b"
) -> Run:
    run = replace(found.run, id=f"{found.run.id}{name}")
    return run, [change(replace(trial, run_id=run.id)) for trial in found.trials]


def faster(trial: TrialRecord) -> TrialRecord:
    metrics = {key: value * (1.02 + 0.001 * trial.block) for key, value in trial.metrics.items()}
    return replace(trial, metrics=metrics)


def test_each_common_condition_is_compared_by_the_first_metric(manford: PlannedRun) -> None:
    paired = pair_runs([(manford.run, manford.trials), changed(manford, faster)])

    assert {(one.experiment, one.metric) for one in paired.comparisons} == {
        ("throughput", "goodput_bps"),
        ("round-trip", "rtt_mean_ns"),
    }
    assert len(paired.comparisons) == 2 * 2 * 3
    assert paired.unlike == ()
    assert all(one.base.n == one.other.n == 2 for one in paired.comparisons)


def test_every_run_is_compared_with_the_base(manford: PlannedRun) -> None:
    runs = [(manford.run, manford.trials), changed(manford, faster), changed(manford, faster, "c")]
    paired = pair_runs(runs, base=1)

    assert {(one.base_name, one.other_name) for one in paired.comparisons} == {
        ("RUN2", "RUN1"),
        ("RUN2", "RUN3"),
    }


def test_selected_metrics_are_compared_and_unknown_ones_refused(manford: PlannedRun) -> None:
    runs = [(manford.run, manford.trials), changed(manford, faster)]

    paired = pair_runs(runs, metrics=["received_ratio"])
    assert {one.metric for one in paired.comparisons} == {"received_ratio"}
    with pytest.raises(UnknownName, match="goodput"):
        pair_runs(runs, metrics=["goodput"])


def with_parameters(found: PlannedRun, **parameters: object) -> Run:
    study = {**found.run.study}
    study["scale"] = {
        name: {**scale, "parameters": {**scale.get("parameters", {}), **parameters}}
        for name, scale in study["scale"].items()
    }
    return replace(found.run, id=f"{found.run.id}x", study=study), found.trials


def test_different_conditions_are_named_and_never_pooled(manford: PlannedRun) -> None:
    study = {**manford.run.study}
    study["experiment"] = [
        {**one, "parameters": {**one["parameters"], "io": "batch"}}
        if one["id"] == "throughput"
        else one
        for one in study["experiment"]
    ]
    other = replace(manford.run, id="other", study=study), manford.trials

    paired = pair_runs([(manford.run, manford.trials), other])

    assert {one.experiment for one in paired.comparisons} == {"round-trip"}
    assert {one.experiment for one in paired.unlike} == {"throughput"}
    assert paired.unlike[0].differing["io"] == ("single", "batch")


def test_different_amounts_are_compared_with_a_note(manford: PlannedRun) -> None:
    runs = [(manford.run, manford.trials), with_parameters(manford, time_s=2.0)]
    paired = pair_runs(runs)

    assert len(paired.comparisons) == 12
    assert paired.amounts["time_s"] == (0.1, 2.0)


def test_conditions_in_only_one_run_are_named() -> None:
    tiny, quick = planned_run("manford-kolahi"), planned_run("manford-kolahi", "quick")
    quick_run = replace(quick.run, id="quick"), quick.trials

    paired = pair_runs([(tiny.run, tiny.trials), quick_run])

    alone = [one for one in paired.unlike if one.lacks]
    assert {one.has for one in alone} == {("RUN2",)}
    # Four sizes of seven, for each version and metric.
    assert len(alone) == 2 * 2 * 4


def test_runs_without_a_common_condition_are_refused(manford: PlannedRun) -> None:
    nothing = (replace(manford.run, id="empty"), [])
    with pytest.raises(UsageError, match="no measured condition in common"):
        pair_runs([nothing, (replace(manford.run, id="empty2"), [])])


def test_failed_and_missing_trials_are_counted(manford: PlannedRun) -> None:
    failing = planned_run(
        "manford-kolahi", link_rate_bps=100_000_000, fails=lambda planned: planned.block == 0
    )
    other = (replace(failing.run, id="f"), failing.trials)

    paired = pair_runs([(manford.run, manford.trials), other])

    assert all(one.other.n == 1 and one.other.missing == 1 for one in paired.comparisons)
    assert all(one.other.failed >= 1 for one in paired.comparisons)
    assert {one.verdict for one in judged(paired.comparisons)} == {"no_interval"}


def test_levels_are_compared_with_the_first_at_equal_other_levels(manford: PlannedRun) -> None:
    found = pair_levels((manford.run, manford.trials), "ip_version")

    assert len(found) == 6
    assert {(one.base_name, one.other_name) for one in found} == {("4", "6")}
    assert all(set(one.factors) == {"message_size_bytes"} for one in found)
    other = pair_levels((manford.run, manford.trials), "ip_version", base="6")
    assert {(one.base_name, one.other_name) for one in other} == {("6", "4")}


def test_a_factor_is_named_by_its_key_or_its_option(manford: PlannedRun) -> None:
    run = manford.run, manford.trials
    by_key = pair_levels(run, "message_size_bytes")

    assert {str(one.factors) for one in by_key} == {"{'ip_version': 4}", "{'ip_version': 6}"}
    for named in ("size", "--size"):
        assert [(o.factors, o.other_name) for o in pair_levels(run, named)] == [
            (one.factors, one.other_name) for one in by_key
        ]
    assert len(pair_levels(run, "ip")) == len(pair_levels(run, "ip_version")) == 6
    with pytest.raises(UnknownName, match="no factor named `rate`") as refused:
        pair_levels(run, "rate")
    assert refused.value.hint == "known: ip, size"


def test_only_differing_facts_are_reported(manford: PlannedRun) -> None:
    testbed = {**manford.run.testbed, "link": "1G"}
    testbed["facts"] = {"hosts": {"a": {"kernel": "6.1"}, "b": {"kernel": "6.1"}}}
    other = replace(manford.run, testbed=testbed, versions={"lanlab": "0.2.0"}, seed=8)

    found = differing_facts([(manford.run, []), (other, [])])

    assert {one.name: one.values for one in found} == {
        "testbed link": ("any", "1G"),
        "hosts kernel": (ABSENT, "6.1"),
        "version of lanlab": ("0.1.0", "0.2.0"),
    }


def test_versions_of_measuring_programs_are_facts(manford: PlannedRun) -> None:
    def by(version: str) -> list[TrialRecord]:
        raw = {"setup": {"driver": "iperf3", "version": version}}
        return [replace(trial, raw=raw) for trial in manford.trials[:2]]

    [found] = differing_facts([(manford.run, by("iperf 3.12")), (manford.run, by("iperf 3.18"))])

    assert found.name == "version of tool iperf3"
    assert found.values == ("iperf 3.12", "iperf 3.18")


# What was printed.


@pytest.fixture(scope="module")
def quick() -> PlannedRun:
    return planned_run("manford-kolahi", "quick", link_rate_bps=100_000_000)


def spread(found: PlannedRun) -> list[TrialRecord]:
    return [
        replace(
            trial,
            metrics={k: v * (1 + 0.01 * (trial.block - 1)) for k, v in trial.metrics.items()},
        )
        for trial in found.trials
    ]


def test_a_published_mean_is_shown_beside_ours_with_both_spreads(quick: PlannedRun) -> None:
    found = compare_with_published(
        RunData(quick.run, spread(quick), published=quick.published), ["goodput_bps"]
    )

    by_id = {one.value.id: one for one in found}
    one = by_id["p.xp.ipv4.384"]
    assert one.ours.mean is not None and one.ratio == pytest.approx(one.ours.mean / 79.8e6)
    assert one.sd is not None and one.sd.si == 0.75e6 and one.their_trials == 40
    assert one.has_their_spread and one.interval is not None
    # Welch's of the ratio, by the spreads of both: cv of ours 1.58 % of 5, of theirs 0.94 % of 40.
    # Around a mean of 1.01.
    ours = 0.01 * math.sqrt(2.5) / 1.01
    error = math.hypot(ours / math.sqrt(5), 0.75 / 79.8 / math.sqrt(40))
    width = math.log(one.interval[1] / one.interval[0])
    df = error**4 / (ours**4 / 25 / 4 + (0.75 / 79.8) ** 4 / 1600 / 39)
    assert width == pytest.approx(2 * stats.t.ppf(0.975, df) * error, rel=0.01)


def test_without_a_published_spread_our_interval_is_used(quick: PlannedRun) -> None:
    values = tuple(one for one in quick.published.value if one.statistic != "sd")
    bare = quick.published.model_copy(update={"value": values})
    [one, *_] = compare_with_published(
        RunData(quick.run, spread(quick), published=bare), ["goodput_bps"]
    )

    assert not one.has_their_spread and one.interval is not None
    assert one.interval[0] == pytest.approx((one.ours.ci_low or 0) / one.value.si)


def test_a_single_trial_gives_a_ratio_and_no_interval(quick: PlannedRun) -> None:
    first = [trial for trial in quick.trials if trial.block == 0]
    [one, *_] = compare_with_published(
        RunData(quick.run, first, published=quick.published), ["goodput_bps"]
    )

    assert one.ratio is not None and one.interval is None
    assert one.why == "fewer than 3 trials: no interval"


def test_two_published_values_have_two_conditions() -> None:
    """Each adapter of a machine has an experiment of its own, so it is no factor."""
    run = planned_run("brutman-mtcp", "quick", where="simulated")
    found = compare_with_published(
        RunData(run.run, run.trials, published=run.published), ["goodput_bps"]
    )

    assert len({str(one.factors) for one in found}) == len(found) == 12
    assert dict(found[0].factors) == {"machine": "pcjr", "adapter": "xircom", "direction": "send"}


def test_a_study_without_published_numbers_is_refused(quick: PlannedRun) -> None:
    with pytest.raises(UsageError, match="published no mean"):
        compare_with_published(
            RunData(quick.run, quick.trials, published=Published.model_validate({"schema": 1}))
        )
