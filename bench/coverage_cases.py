"""
What is simulated of the statistics: how often an interval holds the truth, a test is wrong, a plan
suffices. `coverage.py` prints it, `tests/bench/test_error_rates.py` holds it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from case import Case, Random, correlated
from planned_trials import sd_of_cv, trials_for_equivalence, trials_to_detect

from lanlab.analysis.statistics.condition_mean import condition_mean
from lanlab.analysis.statistics.equivalence import Margin, tost
from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.analysis.statistics.multiple import holm
from lanlab.analysis.statistics.power import trials_to_decide
from lanlab.analysis.statistics.two_groups import paired_by_block, welch


def _mean_held(n: int) -> Callable[[Random], bool]:
    def happens(random: Random) -> bool:
        seen = mean_interval(random.normal(10, 1, n))
        return seen.low <= 10 <= seen.high

    return happens


def _skewed_mean_held(random: Random) -> bool:
    seen = mean_interval(random.lognormal(0, 0.5, 5))
    return seen.low <= math.exp(0.125) <= seen.high


def _geometric_mean_held(random: Random) -> bool:
    seen = mean_interval(random.lognormal(0, 0.5, 5), scale="log")
    return seen.low <= 1 <= seen.high


def _rate_held(sd: float, n: int) -> Callable[[Random], bool]:
    truth = math.exp(sd**2 / 2)

    def happens(random: Random) -> bool:
        seen = condition_mean("goodput_bps", list(random.lognormal(0, sd, n)))
        return seen is not None and seen.low <= truth <= seen.high

    return happens


def _normal_rate_held(random: Random) -> bool:
    seen = condition_mean("goodput_bps", list(random.normal(10, 1, 5)))
    return seen is not None and seen.low <= 10 <= seen.high


def _alike(random: Random, correlation: float, n: int) -> list[float]:
    """Trials each of which is like the one before."""
    return [math.exp(0.05 * off) for off in correlated(random, correlation, n)]


def mean_of_alike_held(correlation: float, n: int) -> Callable[[Random], bool]:
    truth = math.exp(0.05**2 / 2)

    def happens(random: Random) -> bool:
        seen = condition_mean("goodput_bps", _alike(random, correlation, n))
        return seen is not None and seen.low <= truth <= seen.high

    return happens


def ratio_of_alike_held(correlation: float, n: int) -> Callable[[Random], bool]:
    def happens(random: Random) -> bool:
        a, b = (_alike(random, correlation, n) for _ in range(2))
        seen = welch(a, b, scale="log", in_order=True)
        return seen.low <= 1 <= seen.high

    return happens


def _blocks_of_alike_held(correlation: float) -> Callable[[Random], bool]:
    """Two of six conditions, in 12 blocks in random order."""

    def happens(random: Random) -> bool:
        trials = _alike(random, correlation, 72)
        sides: tuple[dict[int, float], dict[int, float]] = ({}, {})
        for block in range(12):
            order = random.permutation(6)
            for side, place in zip(sides, order, strict=False):
                side[block] = trials[6 * block + int(place)]
        seen = paired_by_block(*sides)
        return seen.low <= 1 <= seen.high

    return happens


def _capped_rate_held(random: Random) -> bool:
    # Below a limit that most trials nearly reach: the longer tail is below.
    seen = condition_mean("goodput_bps", list(1 - random.gamma(2, 0.02, 5)))
    return seen is not None and seen.low <= 0.96 <= seen.high


def _loss_held(random: Random) -> bool:
    # Of 2000 messages about 1 %, more in some trials than in others.
    lost = random.binomial(2_000, random.gamma(4, 0.0025, 5)) / 2_000
    seen = condition_mean("loss_ratio", list(lost))
    return seen is not None and seen.low <= 0.01 <= seen.high


def _rare_loss_held(random: Random) -> bool:
    # About one message in every second trial: most trials lose none.
    lost = random.poisson(0.5, 5) / 2_000
    seen = condition_mean("loss_ratio", list(lost))
    return seen is not None and seen.low <= 0.5 / 2_000 <= seen.high


def _unlike(random: Random) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(10, 1, 5), random.normal(10, 3, 8)


def _difference_held(random: Random) -> bool:
    seen = welch(*_unlike(random))
    return seen.low <= 0 <= seen.high


def _ratio_held(random: Random) -> bool:
    a, b = random.lognormal(0.1, 0.05, 5), random.lognormal(0, 0.15, 8)
    seen = welch(a, b, scale="log")
    return seen.low <= math.exp(0.1) <= seen.high


def _drifting_blocks(random: Random) -> tuple[dict[int, float], dict[int, float]]:
    """Two conditions with no difference in 5 blocks, of which each is 2 % above the one before."""
    level = 100 * 1.02 ** np.arange(5)
    a, b = (level * random.lognormal(0, 0.01, 5) for _ in range(2))
    return dict(enumerate(a)), dict(enumerate(b))


def _block_ratio_held(random: Random) -> bool:
    seen = paired_by_block(*_drifting_blocks(random))
    return seen.low <= 1 <= seen.high


def _unpaired_ratio_held(random: Random) -> bool:
    a, b = _drifting_blocks(random)
    seen = welch(list(a.values()), list(b.values()), scale="log")
    return seen.low <= 1 <= seen.high


def _one_after_another_held(random: Random) -> bool:
    level = 1.0 + 0.03 * np.arange(20) / 19
    trials = level * random.lognormal(0, 0.01, 20)
    seen = welch(trials[:10], trials[10:], scale="log")
    return seen.low <= 1 <= seen.high


def _welch_is_wrong(random: Random) -> bool:
    return welch(*_unlike(random)).p_two_sided <= 0.05


def _equivalent_at_the_margin(random: Random) -> bool:
    a, b = random.lognormal(math.log(1.05), 0.02, 10), random.lognormal(0, 0.02, 10)
    return tost(welch(a, b, scale="log"), Margin.of_ratio(0.05)).verdict == "equivalent"


def _different_at_the_margin(random: Random) -> bool:
    a, b = random.lognormal(math.log(1.05), 0.02, 10), random.lognormal(0, 0.02, 10)
    return tost(welch(a, b, scale="log"), Margin.of_ratio(0.05)).verdict == "different"


def _any_of_five_is_wrong(random: Random) -> bool:
    p = [welch(random.normal(0, 1, 5), random.normal(0, 1, 5)).p_two_sided for _ in range(5)]
    return min(holm(p)) <= 0.05


def _any_of_five_is_wrong_without(random: Random) -> bool:
    return any(
        welch(random.normal(0, 1, 5), random.normal(0, 1, 5)).p_two_sided <= 0.05 for _ in range(5)
    )


_SD = sd_of_cv(0.05)
_TO_DETECT = trials_to_detect(1.05, _SD, scale="log") or 0
_TO_DETECT_BY_BLOCK = (
    trials_to_detect(1.05, _SD * math.sqrt(2), scale="log", design="by block") or 0
)
_TO_EQUATE = trials_for_equivalence(Margin.of_ratio(0.05), _SD) or 0
_TO_EQUATE_OFF = trials_for_equivalence(Margin.of_ratio(0.05), _SD, true=1.02) or 0


def _detected(random: Random) -> bool:
    a, b = (random.lognormal(mean, _SD, _TO_DETECT) for mean in (math.log(1.05), 0.0))
    return welch(a, b, scale="log").p_two_sided <= 0.05


def _detected_by_block(random: Random) -> bool:
    blocks = random.lognormal(0, 0.2, _TO_DETECT_BY_BLOCK)
    a, b = (
        dict(enumerate(blocks * random.lognormal(mean, _SD, blocks.size)))
        for mean in (math.log(1.05), 0.0)
    )
    return paired_by_block(a, b).p_two_sided <= 0.05


def _equated(n: int, true: float) -> Callable[[Random], bool]:
    def happens(random: Random) -> bool:
        a, b = (random.lognormal(mean, _SD, n) for mean in (math.log(true), 0.0))
        return tost(welch(a, b, scale="log"), Margin.of_ratio(0.05)).verdict == "equivalent"

    return happens


def _second_look(random: Random, effect: float) -> bool:
    """Whether five trials a side that did not decide do so with as many more as they said."""
    while True:
        sides = random.lognormal(effect, 0.05, 5), random.lognormal(0, 0.05, 5)
        first = welch(*sides, scale="log")
        if first.differs:
            continue
        needed = trials_to_decide(first, mean_trial_s=1, cap=200).trials_per_side
        if needed is None:
            return False
        more = (random.lognormal(mean, 0.05, needed - 5) for mean in (effect, 0.0))
        return welch(*map(np.append, sides, more), scale="log").differs


def _decided_after_all(random: Random) -> bool:
    return _second_look(random, 0.06)


def _wrong_in_either_look(random: Random) -> bool:
    # Of a hundred runs without a difference five decide at once, wrongly; the others look again.
    return random.random() < 0.05 or _second_look(random, 0.0)


_NORMAL = "5 trials, normal"
HELD, WRONG, PLANNED = "interval holds the truth", "false claim", "claim shown"
CASES = (
    Case(HELD, "t, 3 trials, normal", _mean_held(3), 0.94, 0.96),
    Case(HELD, "t, 5 trials, normal", _mean_held(5), 0.94, 0.96, 10_000),
    Case(HELD, "t on log scale, 5 trials, lognormal 0.5", _geometric_mean_held, 0.94, 0.96, 10_000),
    Case(HELD, "t on linear scale, the same: too short", _skewed_mean_held, 0.88, 0.93, 3_000),
    *(
        Case(
            HELD,
            f"rate or time, {n} trials, lognormal {sd}",
            _rate_held(sd, n),
            0.94,
            # From 8 on longer, where trials happen to be like the one before.
            0.96 if n < 8 else 0.975,
            20_000,
        )
        for sd in (0.05, 0.2, 0.5)
        for n in (3, 5, 10)
    ),
    Case(HELD, "rate or time, 5 trials, normal, 10 %", _normal_rate_held, 0.94, 0.96, 10_000),
    *(
        Case(
            HELD,
            f"rate or time, {n} trials, neighbours correlated by {correlation:g}",
            mean_of_alike_held(correlation, n),
            0.925 if n > 8 else 0.88,
            0.975,
            3_000,
        )
        for n in (8, 12, 20, 40)
        for correlation in (0.0, 0.3, 0.6)
    ),
    *(
        Case(
            HELD,
            f"ratio of single runs, {n} trials each, the same by {correlation:g}",
            ratio_of_alike_held(correlation, n),
            0.935,
            0.98,
            3_000,
        )
        for n in (12, 40)
        for correlation in (0.0, 0.3, 0.6)
    ),
    Case(
        HELD,
        "by block, 12 blocks, neighbours correlated by 0.6",
        _blocks_of_alike_held(0.6),
        0.935,
        0.965,
    ),
    Case(HELD, "rate, 5 trials, tail below a limit", _capped_rate_held, 0.9, 0.94, 3_000),
    Case(HELD, "share lost, 5 trials, about 1 %", _loss_held, 0.91, 0.95, 3_000),
    Case(HELD, "share lost, 5 trials, most without loss", _rare_loss_held, 0.89, 0.93, 3_000),
    Case(HELD, "Welch, 5 and 8 trials, sd 1 and 3", _difference_held, 0.94, 0.96, 10_000),
    Case(HELD, "Welch as ratio, 5 and 8 trials", _ratio_held, 0.94, 0.96, 10_000),
    Case(HELD, "by block, 5 blocks that drift 2 % each", _block_ratio_held, 0.94, 0.96, 10_000),
    Case(HELD, "Welch on the same blocks: too long", _unpaired_ratio_held, 0.98, 1.0, 1_500),
    Case(HELD, "Welch, 10 after 10, 3 % drift: wrong", _one_after_another_held, 0.08, 0.2, 2_000),
    Case(WRONG, "Welch, 5 and 8 trials, sd 1 and 3", _welch_is_wrong, 0.04, 0.06),
    Case(WRONG, "equivalent, at the margin", _equivalent_at_the_margin, 0.04, 0.06, 3_000),
    Case(WRONG, "different, at the margin", _different_at_the_margin, 0.04, 0.06, 3_000),
    Case(WRONG, "any of 5 claims, Holm", _any_of_five_is_wrong, 0.03, 0.055, 2_000),
    Case(WRONG, "any of 5 claims, unadjusted", _any_of_five_is_wrong_without, 0.18, 0.24, 1_500),
    Case(
        WRONG, "no difference, 5 trials, then more", _wrong_in_either_look, 0.05, 0.12, 600, few=150
    ),
    Case(PLANNED, f"5 % at cv 5 %: {_TO_DETECT} trials", _detected, 0.78, 0.83, 3_000),
    Case(
        PLANNED, f"the same by block: {_TO_DETECT_BY_BLOCK}", _detected_by_block, 0.78, 0.83, 4_000
    ),
    Case(
        PLANNED,
        f"equivalent within 5 %: {_TO_EQUATE}",
        _equated(_TO_EQUATE, 1.0),
        0.78,
        0.83,
        4_000,
    ),
    Case(
        PLANNED,
        f"the same, 2 % off: {_TO_EQUATE_OFF}",
        _equated(_TO_EQUATE_OFF, 1.02),
        0.78,
        0.83,
        4_000,
    ),
    Case(
        PLANNED,
        "6 % seen by 5 that were undecided: more",
        _decided_after_all,
        0.75,
        1.0,
        600,
        few=150,
    ),
)
