"""Users of the system."""

from __future__ import annotations

import pwd


def user_named(name: str) -> tuple[int, int] | None:
    """User and group of a name; `None` if there is no such user."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return found.pw_uid, found.pw_gid


def name_of_user(uid: int) -> str | None:
    """Name of a user; `None` if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def other_user(name: str) -> str | None:
    """Name of some user other than this one and root; `None` if there is none."""
    for each in pwd.getpwall():
        if each.pw_uid != 0 and each.pw_name != name:
            return each.pw_name
    return None
