"""
Which of several factors, alone or together, move a metric: analysis of variance by least squares.

Sums of squares are of type II: each term beside all others that do not contain it. Unbalanced data
are taken as they are. Blocks are a term of their own, without interactions. A main effect is not to
be read through a strong interaction, and on a log scale effects multiply: "no interaction" there
means that ratios are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, ncfdtr

from lanlab.analysis.statistics.samples import Floats, Scale, check_share, sample
from lanlab.errors import NoSpread, UnfitValues, UsageError

BLOCK = "block"
_Term = tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """What one term explains."""

    #: One factor, several that interact, or `("block",)`.
    term: _Term
    df: int
    #: In the square of the scale's unit.
    sum_of_squares: float
    f: float
    p: float
    #: Of what is left beside the other terms, the share that this one explains: in these trials.
    partial_eta_squared: float
    #: The same without the bias of few trials, 0 if less than nothing.
    partial_omega_squared: float
    #: Interval of that share in all trials that there could be, 0 to 1.
    low: float
    high: float

    @property
    def name(self) -> str:
        """The factors, joined by `:`."""
        return ":".join(self.term)


@dataclass(frozen=True)
class Factorial:
    """An analysis of variance."""

    effects: tuple[Effect, ...]
    residual_df: int
    residual_sum_of_squares: float
    #: Standard deviation of a trial about its condition (and block), on the scale.
    residual_sd: float
    n: int
    scale: Scale
    confidence: float

    def effect(self, *term: str) -> Effect:
        """
        The effect of a term, its factors in any order.

        Raises:
            UsageError: The analysis has no such term.
        """
        for effect in self.effects:
            if set(effect.term) == set(term):
                return effect
        known = ", ".join(effect.name for effect in self.effects)
        raise UsageError(f"no term `{':'.join(term)}`", hint=f"known: {known}")


def factorial(
    values: Sequence[float],
    factors: Mapping[str, Sequence[Hashable]],
    *,
    blocks: Sequence[Hashable] | None = None,
    order: int = 2,
    scale: Scale = "linear",
    confidence: float = 0.95,
) -> Factorial:
    """
    Type II analysis of variance with effect sizes.

    Args:
        values: One for each trial, any unit, shape `(trials,)`.
        factors: The level of each trial, shape `(trials,)`, by factor. Levels are names, not
            numbers.
        blocks: The block of each trial, where trials came in blocks.
        order: Most factors that interact.
        scale: `log` for rates and times.
        confidence: Of the intervals of the effects.

    Returns:
        Effects in the order of blocks, factors, interactions.

    Raises:
        UnfitValues: Values that are not fit, levels of another number than values, a factor with
            one level, more terms than trials, or terms that these trials cannot tell apart.
        NoSpread: Nothing is left as error: every trial is as its condition says.

    Source:
        Ø. Langsrud, "ANOVA for unbalanced data: use type II instead of type III sums of squares",
        Statistics and Computing 13, 2003. Intervals: J. Steiger, "Beyond the F test", Psychological
        Methods 9, 2004. Partial omega squared: S. Olejnik, J. Algina, "Generalized eta and omega
        squared statistics", Psychological Methods 8, 2003.
    """
    check_share("confidence", confidence)
    response = sample("values", values, 3, scale=scale)
    response = np.log(response) if scale == "log" else response
    columns = _columns(response.size, factors, blocks, order)
    _refuse_what_cannot_be_told_apart(columns, factors, response.size)
    equal = np.ptp(response) <= 8 * np.finfo(float).eps * np.abs(response).max()
    response = response - response.mean()
    everything = list(columns)
    left = _residual(response, columns, everything)
    df_left = response.size - 1 - sum(columns[term].shape[1] for term in everything)
    if equal or left <= 1e-24 * float(response @ response):
        raise NoSpread(
            "values: within every condition (and block) all trials are equal",
            hint="an analysis of variance needs error to compare with; look at the means",
        )
    effects = []
    for term in everything:
        beside = [other for other in everything if not set(term) <= set(other)]
        explained = max(
            0.0,
            _residual(response, columns, beside) - _residual(response, columns, [*beside, term]),
        )
        df = columns[term].shape[1]
        f = explained / df / (left / df_left)
        over = df * (f - 1)
        low, high = _share_interval(f, df, df_left, response.size, confidence)
        effects.append(
            Effect(
                term=term,
                df=df,
                sum_of_squares=explained,
                f=f,
                p=float(fdtrc(df, df_left, f)),
                partial_eta_squared=explained / (explained + left),
                partial_omega_squared=max(0.0, over / (over + response.size)),
                low=low,
                high=high,
            )
        )
    return Factorial(
        effects=tuple(effects),
        residual_df=df_left,
        residual_sum_of_squares=left,
        residual_sd=(left / df_left) ** 0.5,
        n=int(response.size),
        scale=scale,
        confidence=confidence,
    )


def _columns(
    trials: int,
    factors: Mapping[str, Sequence[Hashable]],
    blocks: Sequence[Hashable] | None,
    order: int,
) -> dict[_Term, Floats]:
    """The columns of each term, shape `(trials, df)`, contrasts that sum to zero over levels."""
    if not factors:
        raise UnfitValues("factors: need at least one")
    if BLOCK in factors:
        raise UsageError(f"factors: `{BLOCK}` is the name of the blocks' term; rename the factor")
    if order < 1:
        raise UsageError(f"order: need at least 1, got {order}")
    mains = {name: _contrasts(name, levels, trials) for name, levels in factors.items()}
    columns: dict[_Term, Floats] = {}
    if blocks is not None and len(set(blocks)) > 1:
        columns[(BLOCK,)] = _contrasts(BLOCK, blocks, trials)
    for interacting in range(1, min(order, len(mains)) + 1):
        for term in itertools.combinations(mains, interacting):
            product = np.ones((trials, 1))
            for name in term:
                product = (product[:, :, None] * mains[name][:, None, :]).reshape(trials, -1)
            columns[term] = product
    return columns


def _contrasts(name: str, levels: Sequence[Hashable], trials: int) -> Floats:
    if len(levels) != trials:
        raise UnfitValues(f"`{name}`: need a level for each of {trials} values, got {len(levels)}")
    known = list(dict.fromkeys(levels))
    if len(known) < 2:
        raise UnfitValues(
            f"`{name}`: need at least 2 levels, got {len(known)}",
            hint="leave out a factor that was not varied",
        )
    place = {level: at for at, level in enumerate(known)}
    rows = np.vstack((np.eye(len(known) - 1), -np.ones(len(known) - 1)))
    return np.asarray(rows[[place[level] for level in levels]])


def _refuse_what_cannot_be_told_apart(
    columns: Mapping[_Term, Floats], factors: Mapping[str, Sequence[Hashable]], trials: int
) -> None:
    so_far = np.ones((trials, 1))
    for term, own in columns.items():
        so_far = np.hstack((so_far, own))
        if so_far.shape[1] >= trials:
            raise UnfitValues(
                f"values: {trials} trials leave none as error once `{':'.join(term)}` is"
                f" taken in ({so_far.shape[1]} unknowns)",
                hint="run more trials, or ask for a lower `order`",
            )
        if np.linalg.matrix_rank(so_far) == so_far.shape[1]:
            continue
        seen = set(zip(*(factors[name] for name in term), strict=True)) if len(term) > 1 else set()
        levels = [dict.fromkeys(factors[name]) for name in term] if len(term) > 1 else []
        missing = next((cell for cell in itertools.product(*levels) if cell not in seen), None)
        if len(term) > 1 and missing is not None:
            cell = ", ".join(f"{n}={level}" for n, level in zip(term, missing, strict=True))
            raise UnfitValues(
                f"`{':'.join(term)}`: there is no trial at {cell}",
                hint="run that condition, or ask for a lower `order`",
            )
        raise UnfitValues(
            f"`{':'.join(term)}`: these trials cannot tell it from the terms before it",
            hint="vary the factors independently, within every block",
        )


def _residual(response: Floats, columns: Mapping[_Term, Floats], terms: Sequence[_Term]) -> float:
    """Sum of squares that a model with these terms leaves."""
    model = np.hstack([np.ones((response.size, 1)), *(columns[term] for term in terms)])
    coefficients = np.linalg.lstsq(model, response, rcond=None)[0]
    rest = response - model @ coefficients
    return float(rest @ rest)


def _share_interval(
    f: float, df: int, df_left: int, n: int, confidence: float
) -> tuple[float, float]:
    """Interval of the explained share: of the noncentrality that makes such an F likely."""

    from scipy.optimize import brentq  # takes a sixth of a second to load

    def excess(noncentrality: float, chance: float) -> float:
        return float(ncfdtr(df, df_left, noncentrality, f)) - chance

    ends = []
    for chance in ((1 + confidence) / 2, (1 - confidence) / 2):
        if excess(0.0, chance) <= 0:
            ends.append(0.0)
            continue
        high = max(1.0, df * f)
        while excess(high, chance) > 0 and high < 1e9:
            high *= 2
        found = float(brentq(excess, 0.0, high, args=(chance,), xtol=1e-9))
        ends.append(found / (found + n))
    return ends[0], ends[1]
