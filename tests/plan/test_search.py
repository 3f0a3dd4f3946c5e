"""The saturation search, against made-up links that we know the limit of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lanlab.plan.search import MAX_CONFIRMATIONS, SearchRule, SearchState, SearchStep

RULE = SearchRule(
    factor="rate_bps",
    low=1_000_000,
    high=16_000_000,
    metric="received_ratio",
    at_least=0.99,
    resolution_ratio=0.02,
    whole=True,
)


def searched(rule: SearchRule, limit: float) -> tuple[SearchState, list[SearchStep]]:
    """A search run to its end on a link that passes up to `limit`, and its steps."""
    state, steps = SearchState(rule), []
    while (step := state.next_level()) is not None:
        steps.append(step)
        state.record(step.level <= limit)
    return state, steps


def after(*passed: bool | None, rule: SearchRule = RULE) -> SearchState:
    return SearchState.from_history(rule, passed)


@given(
    low=st.integers(1, 10**6),
    span=st.floats(1.001, 1e6),
    place=st.floats(0, 1, exclude_max=True),
    resolution=st.floats(0.001, 0.9),
    trials=st.integers(1, 5),
    whole=st.booleans(),
)
def test_a_level_found_is_within_the_resolution_below_the_limit(
    low: int, span: float, place: float, resolution: float, trials: int, whole: bool
) -> None:
    high = round(low * span) if whole else low * span
    assume(low < high)
    rule = replace(
        RULE, low=low, high=high, resolution_ratio=resolution, trials=trials,
        confirm_trials=trials, whole=whole,
    )  # fmt: skip
    limit = low * (high / low) ** place
    assume(low <= limit < high)

    state, steps = searched(rule, limit)

    result = state.result()
    assert result is not None and result.kind == "found" and result.level is not None
    passing, failing = result.bracket
    assert passing == result.level <= limit < (failing or 0)
    neighbours = 1 if whole else 0
    assert failing is not None and failing - passing <= max(resolution * failing, neighbours)
    assert [s.purpose for s in steps[-trials:]] == ["confirm"] * trials
    assert all(isinstance(s.level, int) for s in steps) or not whole


@given(st.floats(1e6, 15.9e6), st.integers(1, 4), st.integers(1, 4))
def test_the_trials_left_are_never_more_than_was_said(
    limit: float, trials: int, confirm_trials: int
) -> None:
    rule = replace(RULE, trials=trials, confirm_trials=confirm_trials)
    state = SearchState(rule)
    said = []
    while (step := state.next_level()) is not None:
        said.append(state.most_trials_left())
        state.record(step.level <= limit)

    left = range(len(said), 0, -1)
    assert all(most >= needed for most, needed in zip(said, left, strict=True))
    assert state.most_trials_left() == 0


@given(st.lists(st.sampled_from([True, False, None]), max_size=60), st.integers(0, 60))
def test_a_search_replayed_from_its_history_goes_on_as_the_first(
    answers: list[bool | None], cut: int
) -> None:
    whole, history = SearchState(replace(RULE, trials=3, confirm_trials=2)), []
    for answer in answers:
        if whole.next_level() is None:
            break
        whole.record(answer)
        history.append(answer)

    resumed = SearchState.from_history(whole.rule, history[:cut])
    for answer in history[cut:]:
        resumed.record(answer)

    assert resumed.next_level() == whole.next_level()
    assert resumed.result() == whole.result()


def test_the_high_end_is_tried_first_and_ends_the_search_if_it_passes() -> None:
    state, steps = searched(RULE, limit=20e6)
    result = state.result()

    assert [s.level for s in steps] == [16_000_000]
    assert result is not None
    assert (result.kind, result.level, result.bracket) == (
        "at_least_high", 16_000_000, (16_000_000, None),
    )  # fmt: skip


def test_the_low_end_is_tried_next_and_ends_the_search_if_it_does_not_pass() -> None:
    state, steps = searched(RULE, limit=0.5e6)
    result = state.result()

    assert [s.level for s in steps] == [16_000_000, 1_000_000]
    assert result is not None
    assert (result.kind, result.level, result.bracket) == (
        "below_low", 1_000_000, (None, 1_000_000),
    )  # fmt: skip


def test_the_bracket_is_halved_on_a_logarithmic_scale() -> None:
    assert after(False, True).next_level() == SearchStep(4_000_000, "search")
    assert after(False, True, True).next_level() == SearchStep(8_000_000, "search")
    assert after(False, True, False).next_level() == SearchStep(2_000_000, "search")


def test_most_trials_of_a_level_decide_and_no_more_are_run_than_that_takes() -> None:
    rule = replace(RULE, trials=3)

    assert after(False, True, rule=rule).next_level() == SearchStep(16_000_000, "search")
    assert after(False, True, False, rule=rule).next_level() == SearchStep(1_000_000, "search")
    assert after(False, False, rule=rule).next_level() == SearchStep(1_000_000, "search")


def test_half_of_the_trials_is_not_most_of_them() -> None:
    rule = replace(RULE, trials=2)

    assert after(True, False, rule=rule).next_level() == SearchStep(1_000_000, "search")


def test_all_confirming_trials_are_run_as_they_measure_the_level_found() -> None:
    rule = replace(RULE, resolution_ratio=0.99, confirm_trials=5)

    state = after(False, True, True, True, True, True, rule=rule)
    assert state.next_level() == SearchStep(1_000_000, "confirm")
    state.record(True)
    result = state.result()
    assert result is not None and result.kind == "found"


def test_a_level_that_is_not_confirmed_gives_way_to_the_next_below() -> None:
    rule = replace(RULE, low=8_000_000, resolution_ratio=0.25)
    state = after(False, True, True, True, rule=rule)  # 16, 8, 11.3 and 13.5 Mbit/s
    first = state.next_level()
    assert first is not None and first == SearchStep(13_454_342, "confirm")

    state.record(False)

    assert state.next_level() == SearchStep(10_090_756, "confirm")
    state.record(True)
    result = state.result()
    assert result is not None
    assert (result.kind, result.level, result.bracket) == (
        "found", 10_090_756, (10_090_756, 13_454_342),
    )  # fmt: skip


def test_the_next_level_below_is_never_below_the_low_end() -> None:
    rule = replace(RULE, low=12_200_000, resolution_ratio=0.2)
    state = after(False, True, True, False, rule=rule)  # 16, 12.2, 14.0; then 14.0 unconfirmed

    assert state.next_level() == SearchStep(12_200_000, "confirm")


def test_a_search_of_which_nothing_can_be_confirmed_ends_undecided() -> None:
    state = after(False, True, rule=replace(RULE, low=15_000_000, resolution_ratio=0.1))
    assert state.next_level() == SearchStep(15_000_000, "confirm")
    state.record(False)  # and 15 Mbit/s is the low end already
    result = state.result()
    assert result is not None and (result.kind, result.level) == ("undecided", None)

    state = SearchState(RULE)
    confirmations = []
    while (step := state.next_level()) is not None:
        passes = step.purpose == "search" and step.level <= 12e6
        confirmations += [step.level] * (step.purpose == "confirm")
        state.record(passes)
    result = state.result()
    assert result is not None and result.kind == "undecided"
    assert len(set(confirmations)) == len(confirmations) == MAX_CONFIRMATIONS


def test_a_failed_trial_says_nothing_and_three_in_a_row_end_the_search() -> None:
    assert after(None, None).next_level() == SearchStep(16_000_000, "search")
    state = after(None, None, False, None, None, None)
    result = state.result()

    assert state.next_level() is None
    assert result is not None and (result.kind, result.level) == ("undecided", None)
    with pytest.raises(ValueError, match="the search has ended"):
        state.record(True)


@pytest.mark.parametrize(
    ("metrics", "passed"),
    [
        ({"received_ratio": 0.99}, True),
        ({"received_ratio": 0.98}, False),
        ({"received_ratio": float("nan")}, None),
        ({"goodput_bps": 1.0}, None),
    ],
)
def test_a_trial_passes_by_its_metric(metrics: dict[str, float], passed: bool | None) -> None:
    assert RULE.passed(metrics) is passed
