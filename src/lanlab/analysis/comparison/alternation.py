"""Series of alternating runs: which runs belong together, and their roles."""

from __future__ import annotations

from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.store import RunRecord
from lanlab.store.database import Store

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Place:
    series: str
    #: Number of the turn, from 0.
    turn: int
    #: Number of the side, from 0.
    side: int
    turns: int
    sides: tuple[str, ...]


def place_of(run: RunRecord) -> Place | None:
    """The position of a run in its series; `None` if it is not part of one."""
    found = run.alternation
    if found is None:
        return None
    sides = tuple(str(side["name"]) for side in found["sides"])
    place = Place(
        str(found["id"]), int(found["turn"]), int(found["side"]), int(found["turns"]), sides
    )
    if not (0 <= place.side < len(sides) <= len(LETTERS) and 0 <= place.turn < place.turns):
        raise ValueError("the position lies outside its series")
    return place


def series_runs(records: Store, name: str) -> list[RunRecord]:
    """
    The runs of a series, oldest first. `name` is the id of the series, the start of its id, the id
    of one of its runs, or `last` for the newest run. Empty if that run is not part of a series.

    Raises:
        UsageError: Several ids start with `name`.
        UnknownName: Neither a series nor a run has this name.
    """
    runs = records.runs()
    ids = list(dict.fromkeys(series_id(run) for run in runs if series_id(run)))
    if name == "last":
        found = [series_id(run) for run in runs[-1:] if series_id(run)]
    else:
        found = [one for one in ids if one == name] or [
            one for one in ids if name and one.startswith(name)
        ]
    if len(found) > 1:
        raise UsageError(
            f"`{name}` is a prefix of {len(found)} series ids: {', '.join(found)}",
            hint="write a longer prefix",
        )
    own = found[0] if found else series_id(records.run(name))
    return [run for run in runs if own and series_id(run) == own]


def series_id(run: RunRecord) -> str:
    """Id of the series that a run belongs to; empty if none."""
    found = None if run.alternation is None else run.alternation.get("id")
    return found if isinstance(found, str) else ""
