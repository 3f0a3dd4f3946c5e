"""Files that lanlab could not remove from users' servers, reported when the command ends."""

from __future__ import annotations

from lanlab.messages import LeftBehind

#: By URL of the trial's directory: warning, hint, and whether files are left.
_left: dict[str, tuple[str, str, bool]] = {}

_MOST_NAMES = 3


def note(place: str, left: LeftBehind) -> None:
    """Record that a server refused to remove a trial's files; `place` is their directory's URL."""
    _left[place] = (
        f"the server refused to remove what lanlab wrote: {names_of(left)} stay at "
        f"{place.rpartition('/')[0]}: it said: {left['refusal']}",
        _hint(place),
        True,
    )


def note_unknown(place: str, why: str, *, is_written: bool) -> None:
    """
    Note that a trial's files could not be removed for another reason, such as a server that does
    not respond.

    Args:
        place: URL of the trial's directory.
        is_written: Whether the directory is known to exist.
    """
    stays = "what lanlab wrote stays" if is_written else "something of lanlab's may be left"
    _left[place] = (f"{stays} at {place}: it could not be removed: {why}", _hint(place), True)


def note_unlisted(place: str, why: str) -> None:
    """
    Note that a trial's directory could not be listed, or that the list was malformed.

    Args:
        place: URL of the trial's directory.
        why: What was malformed, or the server's message.
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
    """
    All reports, each with a hint, and whether files are left. Afterwards they count as reported.
    """
    left = list(_left.values())
    _left.clear()
    return left


def names_of(left: LeftBehind) -> str:
    names, count = list(left["names"])[:_MOST_NAMES], int(left["count"])
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(f"`{name}`" for name in names) + more


def _hint(place: str) -> str:
    name = place.rpartition("/")[2]
    return (
        f"remove `{name}` there yourself, or copy there again once it can be: that removes it, too"
    )
