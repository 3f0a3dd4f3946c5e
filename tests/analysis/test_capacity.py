"""The interval of a search's capacity, against simulated devices of known capacity."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from case import chance_bounds
from coverage_search import SPREADS, Device, Searched, searched

from lanlab.analysis.saturation.capacity import capacity
from lanlab.plan.bounds import Tried
from lanlab.plan.random_loss import Observation, random_loss
from lanlab.plan.search_rule import GoalResult, SearchResult

#: Bounds hold for the many; those of few are what chance can make of the same shares.
SEARCHES = [10, pytest.param(30, marks=pytest.mark.long)]
LOSSES = (0.0, 2e-4, 1e-3)
#: Each spread and each loss once or twice; all of them in the long tests.
FEW_DEVICES = [(0.0, 0.0), (0.005, 1e-3), (0.02, 2e-4), (0.05, 1e-3)]
DEVICES = [
    *((10, *device) for device in FEW_DEVICES),
    *(
        pytest.param(30, spread, loss, marks=pytest.mark.long)
        for spread in SPREADS
        for loss in LOSSES
    ),
]


@cache
def ends(device: Device, searches: int) -> list[Searched]:
    return [searched(device, seed) for seed in range(1000, 1000 + searches)]


def said(found: list[Searched], goal: int) -> list[str]:
    return [end.capacity.goals[goal][0] for end in found]


def at_least(share: float, found: Sequence[bool]) -> bool:
    """Whether it happened in this share or more; of few searches, whether chance can have it so."""
    least = share if len(found) >= 30 else chance_bounds(share, share, len(found))[0]
    return sum(found) >= least * len(found)


@pytest.mark.parametrize(("searches", "spread", "random_loss"), DEVICES)
def test_the_interval_holds_the_capacity_however_it_varies(
    searches: int, spread: float, random_loss: float
) -> None:
    """95 % of 30 are 28.5; 26 or fewer happen in 6 of 100 sets. The draws are always the same."""
    found = ends(Device(spread, random_loss), searches)

    assert at_least(0.9, [end.interval_held for end in found])
    goals = [held for end in found for held in end.goals_held]
    assert goals and at_least(0.9, goals)
    # Wherever a load is given, it is that of the capacity: no chance ended the search before.
    loads = [(end, load) for end in found for _, load in end.capacity.goals if load is not None]
    assert all(abs(load.median / end.truth - 1) < 0.015 + spread for end, load in loads)
    assert not any(end.capacity.is_gradual for end in found)
    if spread >= 0.02:
        assert at_least(0.4, [not end.bounds_held for end in found])


@pytest.mark.parametrize(("searches", "spread", "random_loss"), DEVICES)
def test_capacity_that_varies_more_than_the_width_is_not_steady(
    searches: int, spread: float, random_loss: float
) -> None:
    found = ends(Device(spread, random_loss), searches)

    verdict = "found" if spread < 0.02 else "not_steady"
    assert at_least(0.93, [one == verdict for one in said(found, 2)])
    loads = [end.capacity.load for end in found]
    spreads = sorted(load.spread_ratio for load in loads if load is not None)
    assert 0.7 * spread <= spreads[len(spreads) // 2] <= 1.3 * spread + 1e-3


@pytest.mark.parametrize(
    ("searches", "spread"),
    [(10, 0.02), *(pytest.param(30, spread, marks=pytest.mark.long) for spread in SPREADS)],
)
def test_random_loss_is_distinguished_from_saturation(searches: int, spread: float) -> None:
    """Two messages in 10,000: no load meets a goal of 0, and the others are found at the capacity
    all the same."""
    found = ends(Device(spread, 2e-4), searches)

    assert set(said(found, 0)) == {"random_loss"}
    assert "random_loss" not in {*said(found, 1), *said(found, 2)}
    losses = [end.capacity.random_loss for end in found]
    assert at_least(0.9, [loss is not None and loss.low <= 2e-4 <= loss.high for loss in losses])
    # It was 57 and 66 trials to no end.
    assert sum(end.trials for end in found) / len(found) < 56
    assert not {"random_loss"} & {*said(ends(Device(spread), searches), 0)}


@pytest.mark.parametrize("searches", [10, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("correlation", [0.3, 0.6])
def test_the_interval_holds_a_capacity_that_drifts(correlation: float, searches: int) -> None:
    found = ends(Device(0.02, correlation=correlation), searches)

    assert at_least(0.9, [end.interval_held for end in found])
    assert at_least(0.9, [all(end.goals_held) for end in found])


@pytest.mark.parametrize("searches", [6, pytest.param(100, marks=pytest.mark.long)])
def test_a_search_reports_only_real_drifts_of_capacity(searches: int) -> None:
    for drift in (0.005, -0.005):
        drifted = ends(Device(0.01, drift=drift), searches)
        assert at_least(0.8, [one.says_it_drifts or one.capacity.is_gradual for one in drifted])
        assert sum(one.says_it_drifts for one in drifted) >= 0.3 * searches
    steady = ends(Device(0.01), searches)
    most = chance_bounds(0.05, 0.05, searches)[1]
    assert sum(one.says_it_drifts for one in steady) <= most * searches


@pytest.mark.parametrize("searches", SEARCHES)
def test_a_goal_at_the_random_loss_rate_is_not_reported_as_found(searches: int) -> None:
    found = ends(Device(0.0, 1e-3), searches)

    assert at_least(0.93, [one == "random_loss" for one in said(found, 1)])
    assert set(said(found, 2)) == {"found"}


def test_random_loss_seen_only_near_the_capacity_is_not_taken_for_saturation() -> None:
    """Half of the trials lose a message, and too few of those far below the capacity."""
    device = Device(0.005, 2.5e-4, messages=2_000)
    found = searched(device, 10)

    assert found.result.random_loss is not None and not found.result.random_loss.is_seen
    assert [kind for kind, _ in found.capacity.goals] == ["random_loss", "found", "found"]
    assert not found.capacity.is_gradual
    loss = found.capacity.random_loss
    assert loss is not None and loss.low <= device.random_loss <= loss.high


@pytest.mark.parametrize("searches", SEARCHES)
def test_bursts_of_loss_do_not_lower_the_capacity(searches: int) -> None:
    found = ends(Device(0.02, 1e-4, burst=20), searches)

    assert at_least(0.85, [end.interval_held for end in found])


@pytest.mark.parametrize(("messages", "lost"), [(3, 1), (3, 3), (1, 1), (2, 1), (1000, 1000)])
def test_short_lossy_trials_show_no_capacity(messages: int, lost: int) -> None:
    tried = Tried(1.0, lost / messages, messages, lost)
    seen = [Observation(load, tried) for load in (1.0, 2.0, 3.0, 4.0, 10.0)]
    loss = random_loss(seen, 4.0)
    assert loss.most_ratio(messages) <= 1
    goal = GoalResult(0.0, "undecided", None, 1.0)
    found = capacity(SearchResult((goal,), random_loss=loss, full_length=tuple(seen)), 0.03)
    assert found.load is None


def test_a_load_is_not_below_its_own_lower_bound() -> None:
    """Two of three trials at 1,099 lost nothing; the estimate from all trials was 1,092."""
    lossy = [(1_120, 1_078), (1_115, 1_084), (1_110, 1_088), (1_105, 1_080), (1_099, 1_085)]
    seen = [Observation(load, Tried(1.0, 1 - arrived / load)) for load, arrived in lossy]
    seen += [Observation(1_099, Tried(1.0, 0.0))] * 2
    goal = GoalResult(0.0, "found", 1_099, 1_105)

    found = capacity(SearchResult((goal,), full_length=tuple(seen)), 0.01)

    [(_, load)] = found.goals
    assert load is not None and found.load is not None
    assert found.load.median < 1_099
    assert load.median == 1_099
    assert load.high is None or load.high >= 1_099
    assert load.low == found.load.low
