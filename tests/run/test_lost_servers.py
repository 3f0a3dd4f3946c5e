"""A user's server that no trial can use any more: when its other trials fail at once."""

from types import SimpleNamespace
from typing import Any

import pytest

from lanlab.errors import EngineError
from lanlab.run.open_testbed import LostServers


def trial(experiment: str, *, is_users_server: bool = True) -> Any:
    values = SimpleNamespace(other_server="smb://nas/data", is_users_server=is_users_server)
    return SimpleNamespace(experiment=experiment, factors={}, values=values)


def after(*trials: tuple[str, str | None, float], is_users_server: bool = True) -> str | None:
    """The reason why trials fail at once after these: experiment, code of its error, seconds."""
    lost, now_s = LostServers(), 0.0
    for experiment, code, took_s in trials:
        error = None if code is None else EngineError(code, code)
        window_s = now_s, now_s + took_s
        lost.note(trial(experiment, is_users_server=is_users_server), error, window_s)
        now_s += took_s
    try:
        lost.check(trial("large"))
    except EngineError as error:
        return error.code
    return None


LATE, LOGIN = "service.timed_out", "service.login"


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        ([("large", None, 1.0), ("small", LOGIN, 0.1)], LOGIN),
        ([("large", LATE, 30.0), ("small", LATE, 30.0), ("large", "copy.too_long", 60.0)], LATE),
        ([("large", LATE, 60.0), ("small", LATE, 60.0)], None),
        # A short outage, a single condition that takes too long, and other errors end nothing.
        ([("large", "service.refused", 0.2), ("small", "service.refused", 0.2)] * 5, None),
        ([("large", "copy.too_long", 90.0)] * 5, None),
        ([("large", "service.no_space", 90.0), ("small", "service.no_space", 90.0)] * 3, None),
        ([("large", LATE, 90.0), ("small", None, 1.0)] * 3, None),
    ],
)
def test_a_server_is_given_up_for_a_refused_login_or_a_long_silence(
    trials: list[tuple[str, str | None, float]], reason: str | None
) -> None:
    found = after(*trials)
    assert (found is None) == (reason is None)
    assert found in (reason, trials[-1][1])


def test_a_server_that_each_trial_starts_anew_is_never_given_up() -> None:
    assert after(("large", LOGIN, 1.0), is_users_server=False) is None
