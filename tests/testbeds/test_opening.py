"""A testbed that is made beside other work."""

import sys
import threading
from typing import Any

import pytest

from lanlab.errors import EngineLost, LabError, UsageError
from lanlab.testbeds import Opening, engines, opening
from lanlab.testbeds.base import Host
from lanlab.testbeds.registry import is_of_real_hosts


class MadeUp:
    def __init__(self) -> None:
        self.closed = 0
        self.hosts = (Host("host0", {}, ("in0",)), Host("host1", {}, ("in1",)))

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> MadeUp:
    found = MadeUp()
    monkeypatch.setattr(opening, "testbed", lambda *_: found)
    return found


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []

    class MadeUpEngine:
        def __init__(self, name: str, command: list[str], *, is_awaited: bool = True) -> None:
            self.name = name
            assert not is_awaited
            assert command[0] == f"in{name[-1]}"
            told.append(f"start {name}")

        def greet(self) -> None:
            told.append(f"greet {self.name}")

        def start(self, request: dict[str, Any]) -> str:
            assert request == {"type": "describe"}
            return f"asked {self.name}"

        def answer(self, asked: str) -> dict[str, Any]:
            assert asked == f"asked {self.name}"
            return {"of": self.name}

        def close(self) -> None:
            told.append(f"close {self.name}")

    monkeypatch.setattr(engines, "Engine", MadeUpEngine)
    monkeypatch.setattr(engines, "engine_path", lambda: "engine")
    return told


def test_a_taken_testbed_belongs_to_its_taker(made: MadeUp, told: list[str]) -> None:
    with Opening("loopback", 2, "unshaped") as beside:
        taken = beside.take()
    assert taken.bed is made  # type: ignore[comparison-overlap]
    assert made.closed == 0
    assert not any(each.startswith("close") for each in told)
    with pytest.raises(RuntimeError):
        beside.take()
    taken.close()
    assert made.closed == 1
    assert told[-2:] == ["close host0", "close host1"]


def test_all_engines_are_started_before_one_is_waited_for(made: MadeUp, told: list[str]) -> None:
    with Opening("loopback", 2, "unshaped") as beside:
        taken = beside.take()
    assert told == ["start host0", "start host1", "greet host0", "greet host1"]
    assert taken.engines is not None
    assert {name: one.facts["of"] for name, one in taken.engines.items()} == {
        "host0": "host0",
        "host1": "host1",
    }


def test_a_testbed_whose_engine_does_not_start_is_closed(
    made: MadeUp, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(self: Any) -> None:
        if self.name == "host1":
            raise EngineLost("host1: the engine ended", host="host1")

    monkeypatch.setattr("lanlab.testbeds.engines.Engine.greet", lost)
    with Opening("loopback", 2, "unshaped") as beside, pytest.raises(EngineLost, match="host1"):
        beside.take()
    assert made.closed == 1
    assert told == ["start host0", "start host1", "close host0", "close host1"]


def test_a_testbed_that_nobody_took_is_closed(made: MadeUp, told: list[str]) -> None:
    beside = Opening("loopback", 2, "unshaped")
    beside._over.wait()
    with pytest.raises(KeyboardInterrupt), beside:
        raise KeyboardInterrupt
    assert made.closed == 1
    assert told[-2:] == ["close host0", "close host1"]


def test_refusals_start_no_engine(
    made: MadeUp, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_refused = threading.Event()

    def slow(*_: object) -> MadeUp:
        assert is_refused.wait(10)
        return made

    monkeypatch.setattr(opening, "testbed", slow)

    def refused(name: str) -> bool:
        # Asked for first of all when the block ends.
        is_refused.set()
        return is_of_real_hosts(name)

    monkeypatch.setattr(opening, "is_of_real_hosts", refused)
    with pytest.raises(UsageError), Opening("loopback", 2, "unshaped"):
        raise UsageError("--size: found nothing")
    assert told == []
    assert made.closed == 1


def test_python_changes_threads_as_before_when_it_is_made(made: MadeUp, told: list[str]) -> None:
    before_s = sys.getswitchinterval()
    with Opening("loopback", 2, "unshaped") as beside:
        beside.take()
    assert sys.getswitchinterval() == pytest.approx(before_s)


def test_creation_errors_are_raised_when_taken() -> None:
    with Opening("loopback", 2, "10M") as beside, pytest.raises(UsageError, match="no link `10M`"):
        beside.take()
    with pytest.raises(LabError), Opening("loopback", 2, "10M") as beside:
        beside.take()
