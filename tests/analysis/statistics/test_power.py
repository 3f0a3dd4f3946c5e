"""Trials that a claim takes, against statsmodels; that they suffice is simulated
(`tests/bench/test_error_rates.py`)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_trials import sd_of_cv, trials_for_equivalence, trials_to_detect
from published_trials import W2K, W98
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from lanlab.analysis.statistics.equivalence import Margin
from lanlab.analysis.statistics.power import Spread, chance_to_show, least, trials_to_decide
from lanlab.analysis.statistics.two_groups import paired_by_block, welch
from lanlab.errors import UsageError


@settings(max_examples=50)
@given(st.floats(0.3, 5), st.floats(0.5, 0.95), st.sampled_from([0.01, 0.05]))
def test_power_by_block_agrees_with_statsmodels(effect: float, power: float, level: float) -> None:
    n = trials_to_detect(effect, 1, design="by block", level=level, power=power)
    assert n is not None

    own = chance_to_show([effect], *Spread(1, 1, "by block").error(n), level / 2)
    reached, before = (TTestPower().power(effect, each, level) for each in (n, max(2, n - 1)))
    # Of some large effects statsmodels gives no number, or a wrong one: there scipy is asked.
    if effect * n**0.5 < 6:
        # Ours does not count what chance shows on the wrong side.
        assert own == pytest.approx(reached, abs=1e-3)
        assert n == 3 or before < power + 1e-3
    assert own >= power


@settings(max_examples=10)
@given(st.floats(0.2, 1.2))
def test_unpaired_power_is_close_to_statsmodels_with_equal_spreads(
    effect: float,
) -> None:
    n = trials_to_detect(effect, 1)
    assert n is not None

    assert n == pytest.approx(TTestIndPower().solve_power(effect, power=0.8, alpha=0.05), abs=1.2)
    own = chance_to_show([effect], *Spread(1, 1, "unpaired").error(n), 0.025)
    assert own == pytest.approx(TTestIndPower().power(effect, n, 0.05), abs=1e-3)


@pytest.mark.parametrize(
    ("margin", "true", "cv", "simulated"),
    [
        (0.05, 1, 0.01, 3),
        (0.05, 1, 0.02, 4),
        (0.05, 1, 0.05, 18),
        (0.02, 1, 0.01, 6),
        (0.02, 1, 0.02, 19),
        (0.02, 1, 0.05, 120),
        (0.05, 1.025, 0.01, 4),
        (0.05, 1.025, 0.02, 9),
        (0.05, 1.025, 0.05, 50),
    ],
)
def test_trials_needed_for_equivalence_agree_with_simulation(
    margin: float, true: float, cv: float, simulated: int
) -> None:
    seen = trials_for_equivalence(Margin.of_ratio(margin), sd_of_cv(cv), true=true)

    assert seen == pytest.approx(simulated, rel=0.1, abs=1)


@pytest.mark.parametrize(
    ("ratio", "cv", "simulated"),
    [(1.05, 0.01, 3), (1.05, 0.02, 4), (1.02, 0.02, 17), (1.02, 0.05, 100)],
)
def test_trials_needed_for_a_difference_agree_with_simulation(
    ratio: float, cv: float, simulated: int
) -> None:
    seen = trials_to_detect(ratio, sd_of_cv(cv), scale="log")

    assert seen == pytest.approx(simulated, rel=0.03, abs=1)


def test_more_trials_than_the_cap_are_out_of_reach() -> None:
    assert trials_to_detect(0.01, 1) is None
    assert trials_to_detect(0.01, 1, cap=200_000) == pytest.approx(
        2 * (1.96 + 0.8416) ** 2 / 0.01**2, rel=1e-3
    )
    assert trials_to_detect(100, 1) == 3


def test_an_undecided_pair_of_published_protocols_names_trials_and_minutes() -> None:
    """NWLink and NetBEUI with one file: 122.2 and 125.0 s. The trials that would tell them apart
    are those of statsmodels, for the effect that was seen."""
    compared = welch(W2K["nwlink", 1], W2K["netbeui", 1])
    seen = trials_to_decide(compared, mean_trial_s=124)
    pooled = math.sqrt((compared.sd_a**2 + compared.sd_b**2) / 2)
    oracle = math.ceil(TTestIndPower().solve_power(2.8 / pooled, power=0.8, alpha=0.05))

    assert not compared.differs
    assert seen.would_show == "differs"
    assert seen.trials_per_side == pytest.approx(oracle, abs=1)
    assert seen.further_trials == 2 * (seen.trials_per_side - 5)
    assert seen.minutes == pytest.approx(seen.further_trials * 124 / 60)
    assert str(seen) == f"about {seen.further_trials} more trials, {seen.minutes:.0f} minutes"


def test_a_plan_with_a_margin_says_what_it_would_show() -> None:
    compared = welch(W2K["nwlink", 1], W2K["netbeui", 1], scale="log")
    within = trials_to_decide(compared, mean_trial_s=124, margin=Margin.of_ratio(0.05))
    beyond = trials_to_decide(compared, mean_trial_s=124, margin=Margin.of_ratio(0.01))
    at_the_edge = trials_to_decide(
        compared, mean_trial_s=124, margin=Margin(compared.effect, 1.05, "log")
    )

    assert (within.would_show, beyond.would_show) == ("equivalent", "different")
    assert within.trials_per_side is not None
    assert beyond.trials_per_side is not None
    assert at_the_edge.further_trials is None
    assert str(at_the_edge) == "not in reach: more than 1000 trials of each condition"


def test_by_block_it_counts_blocks() -> None:
    a, b = (dict(enumerate(W98[name, 2])) for name in ("netbeui", "tcpip"))
    none = trials_to_decide(paired_by_block(a, b, scale="linear"), mean_trial_s=290)

    assert none.trials_per_side is not None
    assert none.further_trials == 2 * (none.trials_per_side - 4)


def test_no_difference_at_all_is_never_found() -> None:
    seen = trials_to_decide(welch([1, 2, 3], [1, 2, 3]), mean_trial_s=1)

    assert seen.further_trials is None


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: trials_to_detect(1, 0), "sd: need a number above 0, got 0 and 0"),
        (lambda: trials_to_detect(1, math.inf), "sd: need a number above 0, got inf and inf"),
        (lambda: trials_to_detect(1, 1, power=1), "power: need a number above 0 and below 1"),
        (lambda: trials_to_detect(1, 1, level=0), "tail: need a number above 0 and below 1"),
        (lambda: trials_to_detect(1, 1, cap=1), "cap: need at least 3, got 1"),
        (
            lambda: trials_to_decide(welch([1, 2], [1, 3]), mean_trial_s=math.inf),
            "mean_trial_s: need seconds above 0",
        ),
        (
            lambda: trials_to_decide(welch([1, 2], [1, 3]), mean_trial_s=0),
            "mean_trial_s: need seconds above 0",
        ),
        (
            lambda: trials_to_decide(
                welch([1, 2], [1, 3]), mean_trial_s=1, margin=Margin.of_ratio(0.1)
            ),
            "margin: it must be on the comparison's scale",
        ),
    ],
)
def test_impossible_plans_are_refused(ask: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask()  # type: ignore[operator]


@pytest.mark.parametrize("n", [2, 60, 200])
def test_unequal_spreads_have_satterthwaites_degrees(n: int) -> None:
    """Of deviations of 1 and 3, by the noncentral t distribution of scipy."""
    error = Spread(1.0, 3.0, "unpaired").error(n)
    df = (n - 1) * 10**2 / (1 + 3**4)
    assert error == pytest.approx((math.sqrt(10 / n), df))
    edge = stats.t.ppf(0.975, df)
    for away in (0.5, 1.0):
        oracle = stats.nct.sf(edge, df, away / error[0])
        assert chance_to_show([away], *error, 0.025) == pytest.approx(oracle, abs=1e-6)
        # A second bound has no effect if it is far away; an equally near one must be met as well.
        assert chance_to_show([away, 99.0], *error, 0.025) == pytest.approx(oracle, abs=1e-6)
        both = chance_to_show([away, away], *error, 0.025)
        assert both == pytest.approx(2 * oracle - 1, abs=1e-6)


def test_equivalence_needs_other_trials_by_block_and_with_unequal_spreads() -> None:
    """Half a deviation from one end the other no longer matters: a one-sided test, of which
    statsmodels knows the power. Deviations of 0.6 and 0.8 together are one of 1."""
    near = {"true": 3.5, "margin": Margin.of_difference(4)}
    by_block = trials_for_equivalence(sd=1, design="by block", **near)
    oracle = TTestPower().solve_power(0.5, power=0.8, alpha=0.05, alternative="larger")
    assert by_block == math.ceil(oracle)

    alike = trials_for_equivalence(sd=math.sqrt(0.5), **near)
    unlike = trials_for_equivalence(sd=0.6, sd_b=0.8, **near)
    turned = trials_for_equivalence(sd=0.8, sd_b=0.6, **near)
    assert alike is not None
    assert unlike == turned == pytest.approx(alike, abs=1)


@pytest.mark.parametrize("cap", [2, 3, 7, 40])
def test_the_search_finds_the_least_sufficient_number(cap: int) -> None:
    for wanted in range(2, cap + 1):
        assert least(lambda n, at=wanted: n / at, 1 - 1e-9, 1, cap) == wanted
    assert least(lambda n: n / (cap + 1), 0.999, 1, cap) is None
