"""Analysis of variance, against statsmodels, pingouin and published trials."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trials import W2K
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from lanlab.analysis.statistics import factorial
from lanlab.errors import NoSpread, UnfitValues, UsageError

TIMES_S = [time for trials in W2K.values() for time in trials]
PROTOCOL = [protocol for (protocol, _), trials in W2K.items() for _ in trials]
DATA_SET = [size for (_, size), trials in W2K.items() for _ in trials]
FACTORS = {"protocol": PROTOCOL, "data": DATA_SET}


def test_the_published_protocols_gain_unlike_shares_with_the_data_set() -> None:
    """F(2, 24) = 52.8, p = 1.6e-09 for the interaction on logarithms, worked out elsewhere."""
    seen = factorial(TIMES_S, FACTORS, scale="log")
    effect = seen.effect("data", "protocol")

    assert (effect.df, seen.residual_df) == (2, 24)
    assert effect.f == pytest.approx(52.8, abs=0.05)
    assert effect.p == pytest.approx(1.6e-9, rel=0.03)


def test_pingouin_finds_the_same() -> None:
    """pingouin 0.7.0: anova(data, dv="log time", between=["protocol", "data"], ss_type=2)."""
    seen = factorial(TIMES_S, FACTORS, scale="log")
    rows = {effect.name: effect for effect in seen.effects}

    for name, squares, f, eta in (
        ("protocol", 0.518937507713, 237.656260514161, 0.951933911149),
        ("data", 0.162739150519, 149.058325431233, 0.861318431574),
        ("protocol:data", 0.115312827875, 52.809471380724, 0.814841878134),
    ):
        row = rows[name]
        assert (row.sum_of_squares, row.f, row.partial_eta_squared) == pytest.approx(
            (squares, f, eta)
        )
    assert seen.residual_sum_of_squares == pytest.approx(0.026202760571)
    assert seen.residual_sd == pytest.approx(0.00109178169**0.5)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_unbalanced_designs_with_blocks_are_statsmodels_type_two(seed: int) -> None:
    random = np.random.default_rng(seed)
    design = [(a, b, c, block) for a in "xy" for b in "uvw" for c in "st" for block in range(4)]
    kept = [row for row in design if row[3] == 0 or random.random() < 0.8]
    data = pd.DataFrame(kept, columns=["a", "b", "c", "block"])
    data["y"] = random.normal(0, 1, len(kept)) + (data.a == "x") * (data.b == "u") + data.block
    names = {"a": list(data.a), "b": list(data.b), "c": list(data.c)}

    for order, formula in (
        (1, "y ~ C(block) + C(a, Sum) + C(b, Sum) + C(c, Sum)"),
        (2, "y ~ C(block) + (C(a, Sum) + C(b, Sum) + C(c, Sum)) ** 2"),
        (3, "y ~ C(block) + C(a, Sum) * C(b, Sum) * C(c, Sum)"),
    ):
        seen = factorial(list(data.y), names, blocks=list(data.block), order=order)
        table = anova_lm(ols(formula, data).fit(), typ=2)
        for effect in seen.effects:
            key = ":".join(
                "C(block)" if name == "block" else f"C({name}, Sum)" for name in effect.term
            )
            row = table.loc[key]
            found = (effect.sum_of_squares, effect.df, effect.f, effect.p)
            oracle = (row["sum_sq"], row["df"], row["F"], row["PR(>F)"])
            assert found == pytest.approx(oracle, rel=1e-6, abs=1e-9)
        assert seen.residual_df == table.loc["Residual"]["df"]


def test_neither_the_order_of_trials_nor_the_names_of_levels_matter() -> None:
    order = np.random.default_rng(1).permutation(len(TIMES_S))
    shuffled = factorial(
        [TIMES_S[at] for at in order],
        {name: [f"<{levels[at]}>" for at in order] for name, levels in FACTORS.items()},
    )

    for one, other in zip(shuffled.effects, factorial(TIMES_S, FACTORS).effects, strict=True):
        assert (one.f, one.low, one.high) == pytest.approx((other.f, other.low, other.high))


def test_the_interval_leaves_out_zero_where_p_is_below_half_of_the_rest() -> None:
    """By construction: its lower end is the noncentrality at which such an F is 2.5 % likely."""
    random = np.random.default_rng(8)
    for _ in range(20):
        seen = factorial(random.normal(0, 1, 12), {"a": [0, 1] * 6, "b": [0, 0, 1, 1, 2, 2] * 2})
        for effect in seen.effects:
            assert (effect.low > 0) == (effect.p < 0.025)
            if effect.low > 0:
                noncentrality = effect.low / (1 - effect.low) * seen.n
                chance = stats.ncf.sf(effect.f, effect.df, seen.residual_df, noncentrality)
                assert chance == pytest.approx(0.025, rel=1e-4)


def test_omega_has_less_bias_than_eta() -> None:
    random = np.random.default_rng(4)
    found = [
        factorial(random.normal(0, 1, 12), {"a": [0, 1, 2] * 4}).effects[0] for _ in range(500)
    ]

    assert np.mean([effect.partial_eta_squared for effect in found]) > 0.15
    assert np.mean([effect.partial_omega_squared for effect in found]) < 0.1


def test_blocks_take_a_drift_out_of_the_error() -> None:
    random = np.random.default_rng(6)
    blocks = [at // 2 for at in range(12)]
    values = [10 * block + (at % 2) + random.normal(0, 0.2) for at, block in enumerate(blocks)]

    assert factorial(values, {"a": [0, 1] * 6}).effect("a").p > 0.5
    assert factorial(values, {"a": [0, 1] * 6}, blocks=blocks).effect("a").p < 0.001
    assert factorial(values, {"a": [0, 1] * 6}, blocks=[1] * 12).effects[0].term == ("a",)


@pytest.mark.parametrize(
    ("factors", "blocks", "said"),
    [
        ({}, None, "factors: need at least one"),
        ({"a": [1, 1, 1, 1, 1, 1]}, None, "`a`: need at least 2 levels, got 1"),
        ({"a": [1, 2]}, None, "`a`: need a level for each of 6 values, got 2"),
        (
            {"a": [1, 1, 1, 2, 2, 2], "b": [1, 1, 2, 1, 1, 1]},
            None,
            "`a:b`: there is no trial at a=2, b=2",
        ),
        (
            {"a": [1, 1, 1, 2, 2, 2], "b": [3, 3, 3, 4, 4, 4]},
            None,
            "`b`: these trials cannot tell it",
        ),
        ({"a": [1, 1, 2, 2, 3, 3]}, [1, 1, 2, 2, 3, 3], "`a`: these trials cannot tell it"),
        ({"a": [1, 2, 3, 4, 5, 6]}, None, "6 trials leave none as error once `a`"),
    ],
)
def test_designs_that_cannot_answer_are_refused(
    factors: dict[str, list[int]], blocks: list[int] | None, said: str
) -> None:
    with pytest.raises(UnfitValues, match=said):
        factorial([1, 2, 3, 5, 8, 13], factors, blocks=blocks)


def test_other_misuse_is_refused() -> None:
    values = [1, 2, 3, 5, 8, 13]
    with pytest.raises(UsageError, match="`block` is the name of the blocks' term"):
        factorial(values, {"block": [1, 2] * 3})
    with pytest.raises(UsageError, match="order: need at least 1, got 0"):
        factorial(values, {"a": [1, 2] * 3}, order=0)
    with pytest.raises(UsageError, match="no term `b`") as refused:
        factorial(values, {"a": [1, 2] * 3}).effect("b")
    assert refused.value.hint == "known: a"
    with pytest.raises(UnfitValues, match="on a log scale"):
        factorial([0, *values[1:]], {"a": [1, 2] * 3}, scale="log")


@pytest.mark.parametrize("values", [[5] * 6, [1, 2] * 3, [0.1, 0.3] * 3, [1e9, 1e9 + 1] * 3])
def test_without_error_there_is_no_test(values: list[float]) -> None:
    with pytest.raises(NoSpread, match="all trials are equal"):
        factorial(values, {"a": [1, 2] * 3})
