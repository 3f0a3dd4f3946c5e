"""
Coefficients of a linear model from groups of trials, by weighted least squares.

The model's mean of a group is the sum of coefficients times known values of the group. Groups may
differ in spread, as long and short transfers do. Each coefficient is a linear combination of the
groups' means, so its variance follows from theirs, with Satterthwaite's degrees of freedom. No
common spread is assumed. A separate test checks whether the model fits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import fdtrc, stdtrit

from lanlab.analysis.statistics.samples import CONFIDENCE, Floats, sample, satterthwaite
from lanlab.errors import UnfitValues
from lanlab.frozen import dataclass

#: Singular values below this share of the greatest count as zero (rounding).
_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of the model, in the values' unit divided by its column's unit."""

    value: float
    #: `None` if the coefficient depends on a group with a single value.
    standard_error: float | None
    df: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Fit:
    coefficients: Mapping[str, Coefficient]
    #: Deviation of each group's mean from the model, as a share of that mean.
    residual_ratios: tuple[float, ...]
    df_lack: int
    #: Probability of residuals this large if the model is right; `None` if it cannot be tested.
    p_lack: float | None


def identified(columns: Mapping[str, Sequence[float]]) -> bool:
    """
    Whether the groups separate all coefficients: no column is a linear combination of others.

    Args:
        columns: For each coefficient, its factor in each group.

    Examples:
        >>> identified({"per_byte": [623.0, 472.0], "per_file": [1.0, 198.0]})
        True
        >>> identified({"per_byte": [623.0], "per_file": [1.0]})
        False
    """
    matrix = np.array([list(map(float, column)) for column in columns.values()]).T
    if matrix.size == 0 or matrix.shape[0] < matrix.shape[1]:
        return False
    scales = np.abs(matrix).max(axis=0)
    if (scales == 0).any():
        return False
    found = np.linalg.svd(matrix / scales, compute_uv=False)
    return bool(found[-1] > _RANK_TOLERANCE * found[0])


def fit_groups(
    columns: Mapping[str, Sequence[float]],
    groups: Sequence[Sequence[float]],
    *,
    weights: Sequence[float] | None = None,
) -> Fit:
    """
    Fit `mean of group = sum of coefficient * column`.

    Args:
        columns: For each coefficient, its factor in each group, any unit.
        groups: The values of each group, any unit, at least one in each and none 0.
        weights: Weight of a single value of each group; by default 1 over the square of the group's
            mean, so that all groups count by relative deviation. Weights matter only if there are
            more groups than coefficients.

    Raises:
        UnfitValues: Groups that do not determine all coefficients, or values that are not finite.

    Source:
        Least squares on group means: N. Draper, H. Smith, "Applied Regression Analysis", 3rd ed.,
        1998, 2.1 (lack of fit) and 9.2 (weights); degrees of freedom: F. Satterthwaite, Biometrics
        Bulletin 2, 1946.

    Examples:
        >>> fit = fit_groups({"byte": [600, 400], "file": [1, 200]}, [[61, 61], [60, 60]])
        >>> [round(fit.coefficients[name].value, 3) for name in ("byte", "file")]
        [0.102, 0.097]
    """
    known = [sample(f"group {place}", group, 1) for place, group in enumerate(groups)]
    if any(len(column) != len(known) for column in columns.values()):
        raise UnfitValues(f"columns: need {len(known)} numbers in each, one for each group")
    if not identified(columns):
        raise UnfitValues(
            f"the {len(known)} groups do not tell {', '.join(columns)} apart",
            hint="use groups of other sizes",
        )
    means = np.array([float(group.mean()) for group in known])
    if (means == 0).any():
        raise UnfitValues("groups: need means other than 0")
    counts = np.array([group.size for group in known], dtype=np.float64)
    single = 1 / means**2 if weights is None else sample("weights", weights, len(known))
    # A group's mean has the weight of all its values together.
    root = np.sqrt(single * counts)
    matrix = np.array([list(map(float, column)) for column in columns.values()]).T
    # Bytes and files differ by many powers of ten.
    scales = np.abs(matrix).max(axis=0)
    solver = np.linalg.pinv(root[:, None] * (matrix / scales)) * root / scales[:, None]
    values = solver @ means
    residuals = means - matrix @ values
    return Fit(
        {
            name: _coefficient(float(values[place]), solver[place], known)
            for place, name in enumerate(columns)
        },
        tuple(float(one) for one in residuals / means),
        len(known) - len(columns),
        _p_lack(residuals, single, known, len(columns)),
    )


def _coefficient(value: float, factors: Floats, groups: Sequence[Floats]) -> Coefficient:
    # Factors that are zero except for rounding have no effect.
    least = 1e-12 * float(np.abs(factors).max())
    own = [(f, g) for f, g in zip(factors, groups, strict=True) if abs(f) > least]
    if any(group.size < 2 for _, group in own):
        return Coefficient(value, None, None, None, None)
    parts = [(float(f) ** 2 * _variance(g) / g.size, int(g.size)) for f, g in own]
    variance = math.fsum(part for part, _ in parts)
    error = math.sqrt(variance)
    if error == 0:
        return Coefficient(value, 0.0, None, value, value)
    df = satterthwaite(parts)
    half = float(stdtrit(df, 0.5 + CONFIDENCE / 2)) * error
    return Coefficient(value, error, df, value - half, value + half)


def _variance(group: Floats) -> float:
    # Equal except for rounding: there is no spread.
    if float(np.ptp(group)) <= 8 * np.finfo(float).eps * float(np.abs(group).max()):
        return 0.0
    return float(group.var(ddof=1))


def _p_lack(
    residuals: Floats, weights: Floats, groups: Sequence[Floats], coefficients: int
) -> float | None:
    df_lack = len(groups) - coefficients
    df_pure = sum(group.size - 1 for group in groups)
    if df_lack < 1 or df_pure < 1:
        return None
    sizes = np.array([group.size for group in groups])
    lack = float((weights * sizes * residuals**2).sum()) / df_lack
    pure = math.fsum(
        w * _variance(g) * (g.size - 1) for w, g in zip(weights, groups, strict=True) if g.size > 1
    )
    if pure == 0:
        return None
    return float(fdtrc(df_lack, df_pure, lack / (pure / df_pure)))
