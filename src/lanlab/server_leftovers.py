"""What this process could not remove from users' servers: reported when the command ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Warnings and hints, by the directory of the trial: its URL; and whether something is left.
_left: dict[str, tuple[str, str, bool]] = {}

_MOST_NAMES = 3


def note(place: str, left: Mapping[str, Any]) -> None:
    """
    A server has refused to remove something of a trial.

    Args:
        place: The URL of the directory of the trial.
        left: As an engine tells it: `names`, `count` and `refusal`.
    """
    _left[place] = (
        f"the server refused to remove what lanlab wrote: {names_of(left)} stay at "
        f"{place.rpartition('/')[0]}: it said: {left['refusal']}",
        _hint(place),
        True,
    )


def note_unknown(place: str, why: str, *, is_written: bool) -> None:
    """
    A trial could not be removed from its server for another reason, as that it does not answer.

    Args:
        place: The URL of the directory of the trial.
        is_written: Whether it is known to be there.
    """
    stays = "what lanlab wrote stays" if is_written else "something of lanlab's may be left"
    _left[place] = (f"{stays} at {place}: it could not be removed: {why}", _hint(place), True)


def note_unlisted(place: str, why: str) -> None:
    """
    A directory of a trial could not be listed, or not so that it was understood.

    Args:
        place: The URL of the directory of the trial.
        why: What in it was not understood, or what the server said.
    """
    _left[place] = (
        f"what lanlab wrote at {place} was removed by its names, as the listing there was not "
        f"understood: {why}",
        "what was measured is not affected",
        False,
    )


def forget(place: str) -> None:
    _left.pop(place, None)


def take() -> list[tuple[str, str, bool]]:
    """All that is to be reported, each with a hint, and whether something is left; from then on it
    counts as reported."""
    left = list(_left.values())
    _left.clear()
    return left


def names_of(left: Mapping[str, Any]) -> str:
    names, count = list(left["names"])[:_MOST_NAMES], int(left["count"])
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(f"`{name}`" for name in names) + more


def _hint(place: str) -> str:
    name = place.rpartition("/")[2]
    return (
        f"remove `{name}` there yourself, or copy there again once it can be: that removes it, too"
    )
