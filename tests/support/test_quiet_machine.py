"""What the host took explains a failed attempt; nothing else does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import quiet_machine
from quiet_machine import disturbance, figure_test


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Say how many of 100 ticks the host takes in each attempt."""
    seen = [0, 0]

    def takes(ticks: int) -> None:
        def read() -> tuple[int, int]:
            seen[0] += ticks
            seen[1] += 100
            return seen[0], seen[1]

        monkeypatch.setattr(quiet_machine, "processor_ticks", read)

    return takes


def failing_until(calls: int) -> tuple[Callable[[], None], list[int]]:
    """A test of figures that holds at one of its calls, and the calls that there were."""
    called: list[int] = []

    @figure_test(attempts=2)
    def test() -> None:
        called.append(1)
        assert len(called) >= calls, f"wrong {len(called)}"

    return test, called


def test_an_undisturbed_machine_has_its_attempts_and_no_more(host: Callable[[int], None]) -> None:
    """The second failure of two is one."""
    host(0)
    test, called = failing_until(3)
    with pytest.raises(AssertionError, match="wrong 2"):
        test()
    assert len(called) == 2


def test_what_holds_once_has_held(host: Callable[[int], None]) -> None:
    """In a disturbed attempt, too."""
    for ticks in (0, 40):
        host(ticks)
        test, called = failing_until(2)
        test()
        assert len(called) == 2


def test_attempts_that_the_host_spoilt_say_nothing(host: Callable[[int], None]) -> None:
    """Skipped, with what the host took."""
    host(40)
    test, called = failing_until(100)
    with pytest.raises(pytest.skip.Exception, match=r"took 40%, .* in 4 of 4 attempts.*wrong 4"):
        test()
    assert len(called) == 4


def test_an_error_is_no_figure(host: Callable[[int], None]) -> None:
    """It is neither tried again nor skipped."""
    host(40)
    calls = []

    @figure_test()
    def test() -> None:
        calls.append(1)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        test()
    assert len(calls) == 1


def test_the_kernel_s_ticks_are_read() -> None:
    """They grow, and a share of them is one."""
    with disturbance() as host:
        pass
    assert 0 <= host.ratio <= 1
