"""Where searches ended, from a run's trials alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planned_runs import PlannedRun, planned_run, without_rate

from lanlab.analysis.limits import udp_limit_bps
from lanlab.analysis.saturation import Saturation, saturations

SEARCH = "udp-500-saturation"


def end_of(found: PlannedRun) -> Saturation:
    return next(end for end in saturations(found.run, found.trials) if end.experiment == SEARCH)


@pytest.fixture(scope="module")
def quick() -> PlannedRun:
    """A search that can be finished: the link's limit lies within what is searched."""
    return planned_run("milanovic-srbljic", "quick")


def test_the_level_found_lies_at_the_limit_of_the_link(quick: PlannedRun) -> None:
    """The model loses nothing up to the limit, and 1 % is allowed to be lost."""
    end = end_of(quick)

    assert end.kind == "found"
    assert end.limit == udp_limit_bps(10_000_000, 500, 4)
    assert end.level is not None
    # 1 % may be lost, and the search stops some per cent below where more would be.
    assert 0.95 * end.limit <= end.level <= end.limit / end.at_least


def test_the_level_found_is_confirmed_by_trials_of_its_own(quick: PlannedRun) -> None:
    """The steps that led there are not among them."""
    end = end_of(quick)

    assert end.confirmed is not None
    assert end.confirmed.n == sum(step.purpose == "confirm" for step in end.steps) >= 1
    assert end.confirmed.mean is not None
    assert end.confirmed.mean >= end.at_least
    assert end.confirmed.metric == end.metric


def test_the_bracket_holds_the_level(quick: PlannedRun) -> None:
    """The highest that passed is the level; the lowest that failed lies above it."""
    end = end_of(quick)
    passed, failed = end.bracket

    assert passed == end.level
    assert failed is not None and end.level is not None and failed > end.level


def test_every_step_is_kept_in_order(quick: PlannedRun) -> None:
    """For a figure of how the search went."""
    assert list(end_of(quick).steps) == quick.of(SEARCH)


def test_a_search_that_goes_on_has_no_end(quick: PlannedRun) -> None:
    """Nor does one that has not begun. `undecided` would be a result."""
    began = next(trial.number for trial in quick.trials if trial.experiment == SEARCH)

    for ran in (0, began, began + 2):
        assert saturations(quick.run, quick.trials[:ran]) == ()


def test_a_search_whose_trials_fail_is_undecided() -> None:
    """Three failures in a row are enough."""
    end = end_of(planned_run("milanovic-srbljic", "quick", fails=lambda t: t.experiment == SEARCH))

    assert (end.kind, end.level, len(end.steps)) == ("undecided", None, 3)


def test_trials_of_another_plan_leave_every_search_undecided(quick: PlannedRun) -> None:
    """A run that an older version planned can still be looked at, with what was tried."""
    strange = replace(quick, trials=[replace(t, block=t.block + 1) for t in quick.trials])

    ends = saturations(strange.run, strange.trials)

    assert {end.experiment for end in ends} == {
        end.experiment for end in saturations(quick.run, quick.trials)
    }
    for end in ends:
        assert (end.kind, end.level, end.bracket) == ("undecided", None, (None, None))
        assert end.confirmed is None
        assert list(end.steps) == strange.of(end.experiment)


def test_trials_of_another_plan_say_nothing_of_a_search_that_had_not_begun(
    quick: PlannedRun,
) -> None:
    """There is nothing to show of it."""
    began = next(trial.number for trial in quick.trials if trial.purpose != "trial")
    strange = [replace(trial, block=trial.block + 1) for trial in quick.trials[:began]]

    assert saturations(quick.run, strange) == ()


def test_a_link_without_a_rate_has_no_limit() -> None:
    """All of the range passes; a testbed's record need not speak of a rate at all."""
    found = planned_run("milanovic-srbljic", "quick", None)

    for run in (found, without_rate(found)):
        end = end_of(run)
        assert (end.kind, end.limit) == ("at_least_high", None)
