"""Conditions in few words: ranges of an ordered factor, and names of the other factors' levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lanlab.figures.number_text import joined
from lanlab.store import Level

#: Longer lists of conditions are given by their number.
_MOST_NAMED = 2
_MOST_RANGES = 2
LevelText = Callable[[str, Level], str]


def where_text(
    every: Sequence[Mapping[str, Level]], chosen: Sequence[Mapping[str, Level]], text: LevelText
) -> str:
    """
    The chosen ones of all conditions, as in `with IPv6 from 768 B up`; empty for all of them.

    Args:
        every: All conditions, with the same factors each.
        chosen: At least one of them.
        text: One level in words.
    """
    varied = [name for name in every[0] if len({repr(one.get(name)) for one in every}) > 1]
    keys = [_key(one, varied) for one in chosen]
    if len(set(keys)) == len({_key(one, varied) for one in every}):
        return ""
    along = max(
        (name for name in varied if all(_is_number(one.get(name)) for one in every)),
        key=lambda name: len({one[name] for one in every}),
        default="",
    )
    rest = [name for name in varied if name != along]
    levels = _along_by_rest(every, rest, along)
    own = _along_by_rest(chosen, rest, along)
    # By range: the combinations of other levels for which it is chosen.
    by_range: dict[str, list[tuple[str, ...]]] = {}
    for place, chosen_levels in own.items():
        said = _ranges(levels[place], chosen_levels, along, text)
        if said is None:
            return f"in {len(set(keys))} of {len(every)} conditions"
        by_range.setdefault(said, []).append(place)
    titles = {
        (name, repr(one.get(name))): text(name, one[name])
        for one in every
        for name in rest
        if name in one
    }
    parts = []
    for said, places in by_range.items():
        names = _names(list(levels), places, rest, titles)
        if names is None:
            return f"in {len(set(keys))} of {len(every)} conditions"
        parts.append(" ".join(filter(None, (f"with {names}" if names else "", said))))
    if len(parts) > _MOST_NAMED:
        return f"in {len(set(keys))} of {len(every)} conditions"
    return " and ".join(parts)


def listed_alike(names: Sequence[str], between: str) -> str:
    """
    Names as a list, with a unit that all have only once.

    Examples:
        >>> listed_alike(["2 bytes", "500 bytes"], "or"), listed_alike(["FTP", "NFS 3"], "or")
        ('2 or 500 bytes', 'FTP or NFS 3')
    """
    units = {name.partition(" ")[2] for name in names if name[:1].isdigit()}
    if len(names) > 1 and len(units) == 1 and all(name[:1].isdigit() for name in names):
        names = [*(name.partition(" ")[0] for name in names[:-1]), names[-1]]
    return joined(names, between)


def _key(condition: Mapping[str, Level], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(repr(condition.get(name)) for name in names)


def _is_number(level: Level | None) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)


def _along_by_rest(
    conditions: Sequence[Mapping[str, Level]], rest: Sequence[str], along: str
) -> dict[tuple[str, ...], list[Level]]:
    found: dict[tuple[str, ...], list[Level]] = {}
    for one in conditions:
        found.setdefault(_key(one, rest), []).append(one[along] if along else 0)
    return {key: sorted(set(own), key=float) for key, own in found.items()}


def _ranges(
    levels: Sequence[Level], chosen: Sequence[Level], along: str, text: LevelText
) -> str | None:
    """The chosen levels as ranges; empty for all, `None` for too many ranges."""
    if len(levels) == len(chosen):
        return ""
    runs: list[list[int]] = []
    for level in chosen:
        place = levels.index(level)
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if len(runs) > _MOST_RANGES:
        return None
    said = []
    for run in runs:
        first, last = (text(along, levels[place]) for place in (run[0], run[-1]))
        if len(run) == 1:
            said.append(f"at {first}")
        elif run[0] == 0:
            said.append(f"up to {last}")
        elif run[-1] == len(levels) - 1:
            said.append(f"from {first} up")
        else:
            said.append(f"from {listed_alike([first, last], 'to')}")
    return " and ".join(said)


def _names(
    every: Sequence[tuple[str, ...]],
    chosen: Sequence[tuple[str, ...]],
    rest: Sequence[str],
    titles: Mapping[tuple[str, str], str],
) -> str | None:
    """The chosen combinations of levels; empty for all, `None` for too many names."""
    if len(chosen) == len(every):
        return ""
    for place, name in enumerate(rest):
        # The levels of one factor may be enough to name them.
        own = list(dict.fromkeys(one[place] for one in chosen))
        if len(own) <= _MOST_NAMED and sum(one[place] in own for one in every) == len(chosen):
            return " or ".join(titles.get((name, level), "") for level in own)
    if len(chosen) > _MOST_NAMED:
        return None
    return " or ".join(
        ", ".join(
            titles[name, level] for name, level in zip(rest, one, strict=True) if level != "None"
        )
        for one in chosen
    )
