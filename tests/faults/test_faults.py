"""
Runs that are disturbed, really: what is lost, what is left, and what they come to.

Each fault of `fault_table` is played on the command line in a process of its own. They run side by
side, as they mostly wait.
"""

from collections.abc import Iterator

import pytest
from fault import Fault, places
from fault_table import FAULTS, Played, lacking
from missing import missing


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    chosen = []
    for item in request.session.items:
        fault = getattr(item, "callspec", None) and item.callspec.params.get("fault")
        if isinstance(fault, Fault):
            chosen.append(fault)
    faults = Played(chosen)
    yield faults
    faults.close()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.name, marks=pytest.mark.long if fault.is_variant else ())
        for fault in FAULTS
    ],
)
def test_a_fault_costs_one_trial_at_most_and_leaves_nothing(fault: Fault, played: Played) -> None:
    reason = lacking(fault)
    if reason is not None:
        missing(reason)
    outcome = played.outcome(fault)

    assert outcome.lost <= 1
    assert outcome.status == "done"
    assert outcome.left.count == 0, outcome.left
    assert [trial.number for trial in outcome.trials] == list(range(len(outcome.trials)))
    assert places(outcome.trials) == played.undisturbed(fault)
    done = set(places([trial for trial in outcome.trials if trial.status == "done"]))
    assert done == set(played.undisturbed(fault)), "a place has no trial that counts"
