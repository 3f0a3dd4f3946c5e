"""The saturation search, against made-up links that we know the limit of."""

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lanlab.plan.search import MOST_TRIALS, SearchState
from lanlab.plan.search_reading import SearchReading
from lanlab.plan.search_rule import (
    GoalResult,
    SearchResult,
    SearchRule,
    SearchStep,
    StepsLeft,
)

RULE = SearchRule(
    factor="rate_bps",
    low=1_000_000,
    high=16_000_000,
    metric="received_ratio",
    loss_goals=(0.0, 0.001, 0.01),
    short_time_s=0.5,
    full_time_s=2.0,
    width_ratio=0.02,
    whole=True,
)

System = Callable[[SearchStep], SearchReading | None]


def searched(rule: SearchRule, system: System) -> tuple[SearchResult, list[SearchStep]]:
    state, steps = SearchState(rule), []
    while (step := state.next_step()) is not None:
        steps.append(step)
        state.record(system(step))
    result = state.result()
    assert result is not None
    return result, steps


def link(limit: float, noise: float = 0.0, seed: int = 0) -> System:
    """A link that carries so much of any load, give or take a share that is drawn."""
    chance = random.Random(seed)

    def system(step: SearchStep) -> SearchReading:
        carried = limit * (1 + chance.gauss(0, noise)) if noise else limit
        return SearchReading(max(0.0, 1 - carried / step.level), 1.0)

    return system


def sender(capacity: float, limit: float, noise: float = 0.0, seed: int = 0) -> System:
    """A sender that can offer so much, before a link that carries so much."""
    chance = random.Random(seed)

    def system(step: SearchStep) -> SearchReading:
        able = capacity * (1 + chance.gauss(0, noise)) if noise else capacity
        offered = min(able, step.level)
        return SearchReading(max(0.0, 1 - limit / offered), offered / step.level)

    return system


@given(
    low=st.integers(1, 10**6),
    span=st.floats(1.001, 1e6),
    place=st.floats(0, 1),
    width=st.floats(0.001, 0.9),
    trials=st.integers(1, 5),
    exceed_ratio=st.sampled_from([0.0, 0.2, 0.5]),
    whole=st.booleans(),
)
def test_the_bounds_of_every_goal_enclose_its_truth_and_are_close(
    low: int, span: float, place: float, width: float, trials: int, exceed_ratio: float, whole: bool
) -> None:
    high = round(low * span) if whole else low * span
    assume(low < high)
    rule = replace(
        RULE, low=low, high=high, width_ratio=width, trials=trials, exceed_ratio=exceed_ratio,
        whole=whole,
    )  # fmt: skip
    limit = low * (high / low) ** place

    result, steps = searched(rule, link(limit))

    assert len(steps) < MOST_TRIALS
    assert result.sender_limit is None
    for goal in result.goals:
        lost = {step: 1 - limit / step for step in (low, high)}
        if goal.kind == "at_least_high":
            assert goal.lower == high and lost[high] <= goal.loss_ratio
        elif goal.kind == "below_low":
            assert goal.upper == low and lost[low] > goal.loss_ratio
        else:
            assert goal.kind == "found" and goal.lower is not None and goal.upper is not None
            assert 1 - limit / goal.lower <= goal.loss_ratio < 1 - limit / goal.upper
            close = width * goal.upper * (1 + 1e-9)
            assert goal.upper - goal.lower <= max(close, 1 if whole else 0)
            assert goal.throughput == pytest.approx(min(goal.lower, limit))
    assert all(low <= step.level <= high for step in steps)
    assert all(isinstance(step.level, int) for step in steps) or not whole


@given(st.integers(), st.floats(0.5e6, 17e6), st.floats(0, 0.2), st.integers(1, 5))
def test_looser_goals_never_end_lower_however_noisy_the_link(
    seed: int, limit: float, noise: float, trials: int
) -> None:
    result, steps = searched(replace(RULE, trials=trials), link(limit, noise, seed))

    assert len(steps) <= MOST_TRIALS
    for ends in ("lower", "upper"):
        known = [end for goal in result.goals if (end := getattr(goal, ends)) is not None]
        assert known == sorted(known)


@given(st.integers(), st.floats(2e6, 15e6))
def test_a_little_noise_moves_the_bounds_a_little(seed: int, limit: float) -> None:
    result, _ = searched(RULE, link(limit, 0.002, seed))

    for goal in result.goals:
        assert goal.kind == "found" and goal.lower is not None
        truth = limit / (1 - goal.loss_ratio)
        assert 0.96 * truth <= goal.lower <= 1.01 * truth


@given(st.integers(), st.integers(1, 7))
def test_contradictory_results_end_a_search(seed: int, trials: int) -> None:
    rule = replace(RULE, width_ratio=0.002, trials=trials)
    chance = random.Random(seed)
    by_load: dict[float, float] = {}

    for system in (
        lambda step: SearchReading(
            by_load.setdefault(step.level, chance.choice([0.0, 0.005, 0.3])), 1.0
        ),
        lambda step: SearchReading(chance.choice([0.0, 0.005, 0.3]), 1.0),
        lambda step: SearchReading(chance.choice([0.0, 0.3]), chance.choice([1.0, 0.9, 0.3, 0.01])),
    ):
        _, steps = searched(rule, system)
        # A sender that falls short is asked once more, whatever the count; then come four trials
        # far below the bounds, and a staircase for each goal.
        assert len(steps) <= MOST_TRIALS + 2 + 4 + len(rule.loss_goals) * rule.around


@given(
    st.lists(
        st.none() | st.builds(SearchReading, st.sampled_from([0, 0.0005, 0.005, 0.2]),
                              st.sampled_from([1.0, 1.0, 0.999, 0.5])),
        max_size=80,
    ),
    st.integers(0, 80),
)  # fmt: skip
def test_a_replayed_search_continues_identically(
    answers: list[SearchReading | None], cut: int
) -> None:
    rule = replace(RULE, curve=4, curve_trials=2, seed=5)
    whole, steps, history = SearchState(rule), [], []
    for answer in answers:
        if (step := whole.next_step()) is None:
            break
        steps.append(step)
        whole.record(answer)
        history.append(answer)

    resumed = SearchState(rule)
    for answer in history[:cut]:
        resumed.record(answer)
    for step, answer in zip(steps[cut:], history[cut:], strict=True):
        assert resumed.next_step() == step
        resumed.record(answer)

    assert resumed.next_step() == whole.next_step()
    assert resumed.result() == whole.result()
    assert resumed.left() == whole.left()


def test_the_second_trial_offers_the_received_rate_of_the_first() -> None:
    _, steps = searched(RULE, link(10e6))

    assert [step.level for step in steps[:2]] == [16_000_000, 10_000_000]


def test_the_search_doubles_its_distance_from_the_guess() -> None:
    state = SearchState(replace(RULE, trials=1, loss_goals=(0.0,)))
    state.record(SearchReading(0.5, 1.0))
    levels = []
    for _ in range(5):
        step = state.next_step()
        assert step is not None
        levels.append(step.level)
        state.record(SearchReading(0.0, 1.0))

    steps = [math.log(b / a) for a, b in itertools.pairwise(levels)]
    assert levels[0] == 8_000_000
    assert [b / a for a, b in itertools.pairwise(steps)] == pytest.approx([2, 2, 2], rel=1e-3)


def test_short_trials_search_and_full_length_ones_confirm() -> None:
    _, steps = searched(RULE, link(10e6))
    times = [(step.purpose, step.time_s) for step in steps]

    assert set(times) == {("search", 0.5), ("confirm", 2.0)}
    # All short ones first.
    assert times == sorted(times, key=lambda step: step[1])


def test_full_length_trials_are_listed_in_run_order() -> None:
    rule = replace(RULE, curve=4, curve_trials=2)
    result, steps = searched(rule, link(10e6))

    full = [step.level for step in steps if step.time_s == rule.full_time_s]
    assert [one.load for one in result.full_length] == full
    assert full != sorted(full) and {"curve", "confirm"} <= {step.purpose for step in steps}


def test_every_lower_bound_has_its_own_full_length_trials() -> None:
    result, steps = searched(RULE, link(10e6))
    confirmed = [step.level for step in steps if step.purpose == "confirm"]

    for goal in result.goals:
        assert confirmed.count(goal.lower) >= RULE.deciding_trials


def test_full_length_trials_find_losses_hidden_by_a_queue() -> None:
    """A queue of 0.4 Mbit makes every short trial look well up to 0.8 Mbit/s more."""

    def queue(step: SearchStep) -> SearchReading:
        excess = max(0.0, (step.level - 10e6) * step.time_s - 0.4e6)
        return SearchReading(excess / (step.level * step.time_s), 1.0)

    result, _ = searched(RULE, queue)

    strictest = result.goals[0]
    assert strictest.kind == "found"
    assert strictest.lower is not None and strictest.upper is not None
    assert strictest.lower <= 10.2e6 < strictest.upper


def test_on_a_lossless_link_every_goal_ends_at_the_highest_load() -> None:
    result, steps = searched(RULE, link(20e6))

    assert {step.level for step in steps} == {16_000_000}
    assert [step.purpose for step in steps] == ["search"] * 2 + ["confirm"] * 2
    assert result.goals == tuple(
        GoalResult(loss, "at_least_high", 16_000_000, None, 16_000_000) for loss in RULE.loss_goals
    )


def test_a_link_that_loses_at_any_load_ends_below_the_low_end() -> None:
    result, _ = searched(RULE, lambda step: SearchReading(0.005, 1.0))

    assert [goal.kind for goal in result.goals] == ["below_low", "below_low", "at_least_high"]
    assert result.goals[0] == GoalResult(0.0, "below_low", None, 1_000_000)
    assert result.goals[2].throughput == pytest.approx(0.995 * 16e6)


def test_a_slow_sender_is_reported_as_the_limit() -> None:
    result, steps = searched(RULE, sender(5e6, 9e6))

    assert [goal.kind for goal in result.goals] == ["sender_limited"] * 3
    assert result.sender_limit == 5_000_000
    assert all(goal.lower == 5_000_000 and goal.upper is None for goal in result.goals)
    # It is asked once more, then never again for what it cannot do.
    assert [step.level for step in steps].count(16_000_000) == 2
    assert {step.level for step in steps} == {16_000_000, 5_000_000}


def test_a_network_slower_than_the_sender_is_found() -> None:
    result, _ = searched(RULE, sender(5e6, 4e6))

    assert [goal.kind for goal in result.goals] == ["found"] * 3
    assert result.sender_limit == 5_000_000
    assert result.goals[0].lower is not None and 0.97 * 4e6 <= result.goals[0].lower <= 4e6


def test_one_slow_trial_does_not_limit_the_sender() -> None:
    system, times = link(10e6), itertools.count()

    def disturbed(step: SearchStep) -> SearchReading:
        seen = system(step)
        assert seen is not None
        return seen._replace(offered_ratio=0.3, loss_ratio=0.0) if next(times) == 4 else seen

    result, _ = searched(RULE, disturbed)

    assert result.sender_limit is None
    assert [goal.kind for goal in result.goals] == ["found"] * 3


def test_a_shortfall_within_half_a_width_does_not_limit_the_sender() -> None:
    result, _ = searched(RULE, lambda step: SearchReading(0.0, 0.991))

    assert [goal.kind for goal in result.goals] == ["at_least_high"] * 3


@given(st.integers(), st.floats(1e5, 15e6), st.floats(2e6, 20e6), st.floats(0, 0.1))
def test_a_noisy_sender_does_not_prolong_the_search(
    seed: int, capacity: float, limit: float, noise: float
) -> None:
    result, steps = searched(RULE, sender(capacity, limit, noise, seed))

    assert len(steps) < 100
    if capacity < 0.8 * limit and noise < 0.01:
        assert [goal.kind for goal in result.goals] == ["sender_limited"] * 3
        assert result.goals[0].lower is not None
        assert 0.9 * capacity <= result.goals[0].lower <= 1.1 * capacity


def test_three_failed_trials_in_a_row_end_a_search() -> None:
    state = SearchState(RULE)
    first = state.next_step()
    for answer in (None, None):
        state.record(answer)
        assert state.next_step() == first
    state.record(SearchReading(0.5, 1.0))
    for answer in (None, None, None):
        assert state.next_step() is not None
        state.record(answer)

    assert state.next_step() is None
    assert state.result() == SearchResult(
        tuple(GoalResult(loss, "undecided") for loss in RULE.loss_goals)
    )
    with pytest.raises(ValueError, match="the search has ended"):
        state.record(SearchReading(0.0, 1.0))


def test_the_curve_covers_the_range_and_the_bounds() -> None:
    rule = replace(RULE, curve=9, curve_trials=3)
    result, steps = searched(rule, link(10e6))
    without, _ = searched(RULE, link(10e6))
    curve = [step for step in steps if step.purpose == "curve"]

    last = rule.far + rule.around
    assert steps[-len(curve) - last : -last] == curve
    assert {step.time_s for step in curve} == {rule.full_time_s}
    levels = sorted({step.level for step in curve})
    assert len(levels) == 9 and len(curve) == 27
    assert (levels[0], levels[-1]) == (rule.low, rule.high)
    assert sum(0.85 * 10e6 < level < 1.15 * 10e6 for level in levels) >= 4
    # Its trials draw, and decide nothing.
    assert result == without
    # In blocks, each with every load once, in an order of its own.
    blocks = [tuple(step.level for step in curve[i : i + 9]) for i in (0, 9, 18)]
    assert all(sorted(block) == levels for block in blocks) and len(set(blocks)) == 3


def test_the_remaining_estimate_assumes_a_quiet_link() -> None:
    rule = replace(RULE, curve=6, curve_trials=2)
    needed = []
    for limit in range(2, 16):
        state = SearchState(rule)
        said = state.left()
        _, steps = searched(rule, link(limit * 1e6))
        needed.append(len(steps))
        assert sum(said) / 2 <= len(steps) <= 1.3 * sum(said)
    assert sum(said) >= sum(needed) / len(needed)


def test_an_ended_search_has_no_remaining_trials() -> None:
    state = SearchState(RULE)
    while (step := state.next_step()) is not None:
        assert sum(state.left()) >= 1
        state.record(link(10e6)(step))

    assert state.left() == StepsLeft(0, 0)
