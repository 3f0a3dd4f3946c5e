"""Systems without users by number: `lanlab doctor` must not fail for that."""

import sys

import pytest

from lanlab.testbeds.servers import server_needs, users


def test_without_a_user_list_no_user_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("pwd", "grp"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError):
        import pwd  # noqa: F401
    assert users.user_named("root") is None
    assert users.name_of_user(0) is None
    assert users.name_of_group(0) is None
    assert users.other_user("root") is None
    assert all(need.name for need in server_needs())
