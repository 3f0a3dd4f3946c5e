"""A study with changed machines: what is read, what changes, and what is said of it."""

from typing import Any

import pytest

from lanlab.errors import UnknownName, UsageError
from lanlab.studies.load import load_study
from lanlab.studies.machine_numbers import COSTS
from lanlab.studies.machines import Ensemble, KnownNumber, Simulation, known_machine
from lanlab.studies.model import Study
from lanlab.studies.what_if import (
    Change,
    affected,
    changed_study,
    members_of,
    parse_change,
    with_member,
)

WHY = {"assumed": "made up for this test"}


def study_of(*machines: dict[str, Any], **more: Any) -> Study:
    made = [
        {
            **{key: one[key] for key in ("id", "like") if key in one},
            "title": f"the {one['id']}",
            "numbers": {
                key: {"value": value, **WHY}
                for key, value in one.items()
                if key not in ("id", "like")
            },
        }
        for one in machines
    ]
    simulation = Simulation.model_validate({"machine": made, **more})
    return load_study("manford-kolahi").study.model_copy(update={"simulation": simulation})


def numbers_of(study: Study, machine: str) -> dict[str, float]:
    assert study.simulation is not None
    numbers = known_machine(study.simulation, machine).numbers
    return {name: one.value for name, one in numbers.items()}


SLOW = {"id": "slow", "protocol_us": 9, "interrupt_us": 4, "clock_mhz": 50, "clock_exponent": 2}


def test_a_change_is_read_as_it_is_written() -> None:
    assert parse_change(" machine.a-b.ring_frames = 2.5") == Change("a-b", "ring_frames", 2.5)
    assert str(Change("a-b", "ring_frames", 2.5)) == "machine.a-b.ring_frames=2.5"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("machine.a.b", "found `machine.a.b`; allowed: machine.NAME.NUMBER=VALUE"),
        ("machine.a=1", "found `machine.a=1`; allowed: machine.NAME.NUMBER=VALUE"),
        ("machine.a.b.c=1", "found `machine.a.b.c=1`; allowed: machine.NAME.NUMBER=VALUE"),
        ("host.a.b=1", "found `host.a.b=1`; allowed: machine.NAME.NUMBER=VALUE"),
        ("machine.a.b=fast", "machine.a.b: found `fast`; allowed: a number"),
    ],
)
def test_an_empty_change_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_change(text)
    assert refused.value.message == f"--set: {said}"
    assert refused.value.hint == "write e.g. `machine.486dx2-nt4.interrupt_us=100`"


def test_another_clock_changes_all_costs_of_a_machine_and_nothing_else() -> None:
    """(9 and 4) times (50 / 100) squared; what is set as well is what it is set to."""
    study = study_of({**SLOW, "ring_frames": 7})
    changes = [Change("slow", "clock_mhz", 100), Change("slow", "interrupt_us", 3)]
    changed, said = changed_study(study, changes)
    assert numbers_of(changed, "slow") == {
        "protocol_us": 2.25,
        "interrupt_us": 3,
        "clock_mhz": 100,
        "clock_exponent": 2,
        "ring_frames": 7,
    }
    made_up = "(assumed: made up for this test)"
    assert said == [
        "slow: all processor costs times 0.25, by the clocks: (50 / 100 MHz)^2",
        f"slow: clock_mhz 50 → 100 MHz {made_up}",
        f"slow: interrupt_us 4 → 3 µs {made_up}",
    ]
    assert changed.simulation is not None
    (machine,) = changed.simulation.machine
    assert (machine.id, machine.title) == ("slow", "the slow")
    origins = {name: number.assumed for name, number in machine.numbers.items()}
    assert origins["protocol_us"] == "what if: another clock"
    assert origins["interrupt_us"] == origins["clock_mhz"] == "what if: set by hand"
    assert origins["ring_frames"] == "as in the study: assumed: made up for this test"


def test_a_change_can_add_a_number() -> None:
    changed, said = changed_study(study_of(SLOW), [Change("slow", "nagle", 1)])
    assert numbers_of(changed, "slow")["nagle"] == 1
    assert said == ["slow: nagle none → 1"]


@pytest.mark.parametrize("lacking", ["clock_mhz", "clock_exponent"])
def test_changing_a_clock_without_effect_is_refused(lacking: str) -> None:
    machine = {key: value for key, value in SLOW.items() if key != lacking}
    with pytest.raises(UsageError, match="`slow` has no clock parameter"):
        changed_study(study_of(machine), [Change("slow", "clock_mhz", 100)])
    if lacking == "clock_exponent":
        both = [Change("slow", "clock_mhz", 100), Change("slow", "clock_exponent", 1)]
        changed, _ = changed_study(study_of(machine), both)
        assert numbers_of(changed, "slow")["protocol_us"] == 4.5


def test_only_numbers_of_existing_machines_can_be_changed() -> None:
    study = study_of(SLOW, {"id": "fast", "like": "slow", "cost_ratio": 0.5})
    with pytest.raises(UnknownName, match="cost_ratio") as refused:
        changed_study(study, [Change("fast", "cost_ratio", 1)])
    assert "cost_ratio" not in str(refused.value.hint)
    with pytest.raises(UnknownName, match="fastt"):
        changed_study(study, [Change("fastt", "protocol_us", 1)])
    with pytest.raises(UsageError, match=r"machine\.fast\.protocol_us=-1; allowed: a number, 0"):
        changed_study(study, [Change("fast", "protocol_us", -1)])


def test_machines_like_a_changed_machine_stay_unchanged_and_are_named() -> None:
    study = study_of(
        SLOW,
        {"id": "fast", "like": "slow", "cost_ratio": 0.5},
        {"id": "faster", "like": "fast", "ring_frames": 9},
        {"id": "own", "like": "slow", "nagle": 0},
        {"id": "other", "protocol_us": 5},
    )
    changes = [Change("slow", "protocol_us", 1), Change("own", "protocol_us", 2)]
    changed, said = changed_study(study, changes)
    assert said[-1] == "as in the study, though like a changed machine: fast, faster"
    found = {name: numbers_of(changed, name)["protocol_us"] for name in ("fast", "faster", "own")}
    assert found == {"fast": 4.5, "faster": 4.5, "own": 2}
    assert numbers_of(changed, "slow")["protocol_us"] == 1
    assert numbers_of(changed, "other") == {"protocol_us": 5}
    assert not any("though like" in one for one in changed_study(study, changes[1:])[1])


def test_a_changed_study_is_not_compared_with_publications() -> None:
    study = load_study("manford-kolahi").study
    assert study.simulation is not None and study.simulation.held_out
    changed, _ = changed_study(study, [Change("vista-ipv4", "protocol_us", 1)])
    assert changed.id == "manford-kolahi-what-if"
    assert changed.published is None and changed.finding == ()
    own = changed.simulation
    assert own is not None and own.place == study.simulation.place
    assert (own.held_out, own.prediction, own.baseline, own.range) == ((), (), (), ())
    assert (own.ensemble, own.missing, own.reading, own.note) == ((), (), (), None)


def ensemble(metric: str, number: str, *factors: float) -> Ensemble:
    members = tuple((factor,) for factor in factors)
    return Ensemble(metric=metric, numbers=(number,), members=members)


def test_the_shortest_ensemble_limits_the_number_of_alternative_machines() -> None:
    both = (
        ensemble("a", "slow.protocol_us", 2.0, 3.0, 4.0),
        ensemble("b", "slow.interrupt_us", 1.5, 2.5),
    )
    study = study_of({**SLOW, "ring_frames": 7}, {"id": "other", "protocol_us": 5}, ensemble=both)
    assert study.simulation is not None and members_of(study.simulation) == 2
    assert members_of(Simulation()) == 0
    second = with_member(study, 1)
    assert numbers_of(second, "slow") == {**numbers_of(study, "slow"), "protocol_us": 27} | {
        "interrupt_us": 10
    }
    assert numbers_of(second, "other") == {"protocol_us": 5}
    assert (second.id, numbers_of(with_member(study, 0), "slow")["protocol_us"]) == (study.id, 18)


def test_only_experiments_on_a_changed_machine_are_simulated_again() -> None:
    study = load_study("manford-kolahi").study
    every = {one.id for one in study.experiment}
    of_echo = affected(study, [Change("requester-ipv4", "protocol_us", 1)])
    of_none = affected(study, [])
    kept = {one.id for one in of_echo.experiment}
    assert kept and kept < every
    assert all(scale.experiment.keys() <= kept for scale in of_echo.scale.values())
    assert of_echo.scale.keys() == study.scale.keys()
    assert of_none.experiment == ()
    assert {one for figure in of_echo.figure for one in figure.experiments} <= kept
    assert of_echo.figure == tuple(
        figure for figure in study.figure if set(figure.experiments) <= kept
    )
    with pytest.raises(UsageError, match="`manford-kolahi` has no simulated condition on xt"):
        affected(study, [Change("xt", "protocol_us", 1)])


def test_costs_are_processor_times() -> None:
    study = study_of(SLOW)
    changed, _ = changed_study(study, [Change("slow", "nagle", 1)])
    assert changed.simulation is not None
    found = known_machine(changed.simulation, "slow").numbers["protocol_us"]
    wanted = "assumed: as in the study: assumed: made up for this test"
    assert found == KnownNumber(9.0, frozenset(), wanted)
    assert {"protocol_us", "file_read_ns_per_byte"} <= set(COSTS) and "clock_mhz" not in COSTS
