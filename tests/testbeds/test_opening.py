"""A testbed that is made beside other work."""

from __future__ import annotations

import pytest

from lanlab.errors import LabError, UsageError
from lanlab.testbeds import Opening, opening


class MadeUp:
    """Notes that it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> MadeUp:
    found = MadeUp()
    monkeypatch.setattr(opening, "testbed", lambda *_: found)
    return found


def test_a_testbed_that_was_taken_is_its_takers(made: MadeUp) -> None:
    with Opening("loopback", 2, "unshaped") as beside:
        taken = beside.take()
    assert taken is made  # type: ignore[comparison-overlap]
    assert made.closed == 0
    with pytest.raises(RuntimeError):
        beside.take()


def test_a_testbed_that_nobody_took_is_closed(made: MadeUp) -> None:
    with pytest.raises(KeyboardInterrupt), Opening("loopback", 2, "unshaped"):
        raise KeyboardInterrupt
    assert made.closed == 1


def test_why_it_could_not_be_made_is_said_where_it_is_taken() -> None:
    with Opening("loopback", 2, "10M") as beside, pytest.raises(UsageError, match="no link `10M`"):
        beside.take()
    with pytest.raises(LabError), Opening("loopback", 2, "10M") as beside:
        beside.take()
