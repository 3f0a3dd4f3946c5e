"""Least squares over groups, against certified and independent values and by simulation."""

import numpy as np
import pytest
from scipy import stats

from lanlab.analysis.statistics.least_squares import fit_groups, identified
from lanlab.errors import UnfitValues

#: NIST Statistical Reference Datasets, "Norris" (x, y); the certified values are below.
_NORRIS = """
0.2 0.1  337.4 338.8  118.2 118.1  884.6 888.0  10.1 9.2  226.5 228.1  666.3 668.5  996.3 998.5
448.6 449.1  777.0 778.9  558.2 559.2  0.4 0.3  0.6 0.1  775.5 778.1  666.9 668.8  338.0 339.3
447.5 448.9  11.6 10.8  556.0 557.7  228.1 228.3  995.8 998.0  887.6 888.8  120.2 119.6  0.3 0.3
0.3 0.6  556.8 557.6  339.1 339.3  887.2 888.0  999.0 998.5  779.0 778.9  11.1 10.2  118.3 117.6
229.2 228.9  669.1 668.4  448.9 449.2  0.5 0.2
"""


def test_coefficients_agree_with_nist_reference_values() -> None:
    numbers = [float(word) for word in _NORRIS.split()]
    x, y = numbers[::2], numbers[1::2]
    fit = fit_groups({"b0": [1.0] * len(x), "b1": x}, [[one] for one in y], weights=[1.0] * len(x))

    assert fit.coefficients["b0"].value == pytest.approx(-0.262323073774029, rel=1e-10)
    assert fit.coefficients["b1"].value == pytest.approx(1.00211681802045, rel=1e-12)
    # Single values have no spread of their own to make an interval of.
    assert fit.coefficients["b1"].standard_error is None and fit.p_lack is None


def test_weights_and_lack_of_fit_agree_with_numpy_and_scipy() -> None:
    x = [1.0, 2.0, 5.0, 9.0]
    groups = [[1.2, 1.1, 1.4], [2.3, 2.0], [4.4, 4.9, 4.6], [10.1, 9.2]]
    fit = fit_groups({"slope": x, "fixed": [1.0] * 4}, groups)
    means = [np.mean(group) for group in groups]
    weights = [1 / mean**2 for mean in means]
    flat = [(a, y, w) for a, g, w in zip(x, groups, weights, strict=True) for y in g]
    xs, ys, ws = map(np.array, zip(*flat, strict=True))
    slope, fixed = np.polyfit(xs, ys, 1, w=np.sqrt(ws))

    assert fit.coefficients["slope"].value == pytest.approx(slope, rel=1e-9)
    assert fit.coefficients["fixed"].value == pytest.approx(fixed, rel=1e-9)
    residual = float((ws * (ys - slope * xs - fixed) ** 2).sum())
    pure = sum(
        w * float(((np.array(g) - np.mean(g)) ** 2).sum())
        for w, g in zip(weights, groups, strict=True)
    )
    lack = (residual - pure) / 2 / (pure / 6)
    assert fit.p_lack == pytest.approx(float(stats.f.sf(lack, 2, 6)), rel=1e-9)


def test_costs_that_are_not_constant_are_noticed_and_constant_ones_are_not() -> None:
    rng = np.random.default_rng(21)
    columns = {"byte": [600.0, 400.0, 50.0], "file": [1.0, 200.0, 900.0]}
    bent, straight, draws = 0, 0, 400
    for _ in range(draws):
        means = [60.08, 56.0, 77.0]
        groups = [rng.normal(mean, 0.01 * mean, 5).tolist() for mean in means]
        straight += (fit_groups(columns, groups).p_lack or 0) <= 0.05
        groups[1] = [1.1 * value for value in groups[1]]
        bent += (fit_groups(columns, groups).p_lack or 1) <= 0.05
    assert 0.02 <= straight / draws <= 0.09
    assert bent / draws > 0.95


def test_indistinguishable_costs_are_refused() -> None:
    assert not identified({"byte": [100.0, 200.0], "file": [1.0, 2.0]})
    with pytest.raises(UnfitValues, match="the 1 groups do not tell byte, file apart"):
        fit_groups({"byte": [100.0], "file": [3.0]}, [[1.0, 2.0]])


def test_equal_trials_give_an_interval_without_width() -> None:
    fit = fit_groups({"byte": [600.0, 400.0], "file": [1.0, 200.0]}, [[61.0] * 3, [60.0] * 3])
    found = fit.coefficients["byte"]
    assert found.low == found.value == found.high


def test_a_cost_missing_from_one_group_is_identified() -> None:
    assert identified({"trial": [1.0, 1.0], "file": [0.0, 100.0]})
    assert not identified({"trial": [1.0, 1.0], "file": [0.0, 0.0]})


def test_one_group_and_one_cost_suffice_and_a_sum_of_costs_is_not_a_cost() -> None:
    assert identified({"byte": [600.0]})
    assert not identified({})
    byte, file = [600.0, 400.0, 50.0], [1.0, 200.0, 900.0]
    both = [a + b for a, b in zip(byte, file, strict=True)]
    assert identified({"byte": byte, "file": file, "trial": [1.0] * 3})
    assert not identified({"byte": byte, "file": file, "both": both})


def test_groups_with_a_mean_of_zero_are_refused() -> None:
    with pytest.raises(UnfitValues, match="columns: need 2 numbers in each"):
        fit_groups({"byte": [1.0]}, [[1.0], [2.0]])
    with pytest.raises(UnfitValues, match="groups: need means other than 0"):
        fit_groups({"byte": [1.0, 2.0]}, [[-1.0, 1.0], [2.0, 3.0]])
    with pytest.raises(UnfitValues, match="weights: need at least 2 values, got 1"):
        fit_groups({"byte": [1.0, 2.0]}, [[1.0], [2.0]], weights=[1.0])


def test_lack_of_fit_needs_spread() -> None:
    fit = fit_groups({"slope": [1.0, 2.0]}, [[1.0, 1.0], [3.0, 3.0]])
    assert fit.df_lack == 1 and fit.p_lack is None
    assert fit.residual_ratios[0] != 0


def test_a_cost_resting_on_a_single_value_has_no_interval() -> None:
    fit = fit_groups({"a": [1.0, 1.0], "b": [0.0, 1.0]}, [[4.0, 6.0], [9.0]])
    assert fit.coefficients["a"].value == pytest.approx(5)
    assert fit.coefficients["a"].standard_error == pytest.approx(1)
    assert fit.coefficients["a"].df == pytest.approx(1)
    assert fit.coefficients["b"].value == pytest.approx(4)
    assert fit.coefficients["b"].standard_error is None
