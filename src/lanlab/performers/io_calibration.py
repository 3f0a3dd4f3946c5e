"""
What engines have found out about ways to send and to receive, kept for the next engine.

An engine that is to choose tries the ways over loopback, which takes a tenth of a second and can
come out differently each time. What two of its rounds agreed on is kept here, on the driver's
machine, for a day and as long as the host is not started again. Within a series of runs that are
compared, also what they did not agree on is kept, until it ends.
"""

from __future__ import annotations

import contextlib
import json
import stat
import time
from collections.abc import Iterator, Mapping
from typing import Any

from lanlab.disk import TemporaryFolder, entry
from lanlab.engine import Engine
from lanlab.errors import LabError
from lanlab.outside import json_of
from lanlab.performers.cache_folder import cache_folder

#: A host's processors are shared with other work, and may be throttled.
_LASTS_S = 86_400.0
#: Most ways that are kept of one host; an engine takes no more.
_MOST_WAYS = 64
#: An engine reads no longer line, and ours has more in it.
_MOST_TOLD_BYTES = 60_000
_KEPT = "ways.json"
_MOST_FILE_BYTES = 4 * 1024 * 1024
#: To answer what takes a fraction of a millisecond, when all else is done.
_ANSWER_S = 1.0

_Ways = list[dict[str, Any]]
#: By host, what engines of the series that goes on chose by; `None`: there is no series.
_series: dict[str, _Ways] | None = None
#: By host, what is kept; each with `kept_at_s` by our clock.
_Kept = dict[str, _Ways]


def _key(facts: Mapping[str, Any]) -> str | None:
    """What stands for a host: its boot, and how many of its processors may be used; `None`: it
    cannot be recognised."""
    boot_id = facts.get("boot_id")
    return f"{boot_id} {facts.get('processors')}" if boot_id else None


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Around runs that are compared: the first engine of a host that tries ways tries them for all
    that follow, so that no receiver that blocks is held against one that polls."""
    global _series
    before, _series = _series, {}
    try:
        yield
    finally:
        _series = before


def tell_engines(engines: Mapping[str, Engine], facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Tell engines what earlier ones found out on their hosts. They try the rest themselves.

    Args:
        facts: Facts of the hosts of the engines, by the same names.
    """
    kept = _read()
    for name, engine in engines.items():
        key = _key(facts[name])
        earlier = [] if key is None else [entry["ways"] for entry in kept.get(key, ())]
        first = (_series or {}).get(key or "", [])
        cases = [_case(one) for one in first]
        earlier = [*first, *(one for one in earlier if _case(one) not in cases)][:_MOST_WAYS]
        if earlier and len(json.dumps(earlier)) <= _MOST_TOLD_BYTES:
            # What an engine refuses is not what one tells: somebody wrote into our file.
            with contextlib.suppress(LabError):
                engine.ask({"type": "share_ways", "earlier": earlier})


def keep_of(engines: Mapping[str, Engine], facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep what engines have found out. What cannot be kept is tried again another time.

    Args:
        facts: Facts of the hosts of the engines, by the same names.
    """
    found: dict[str, _Ways] = {}
    for name, engine in engines.items():
        key = _key(facts.get(name, {}))
        if key is not None and not engine.is_lost:
            with contextlib.suppress(LabError):
                found.setdefault(key, []).extend(
                    engine.ask({"type": "share_ways"}, _ANSWER_S)["ways"]
                )
    if _series is not None:
        for key, ways in found.items():
            first = _series.setdefault(key, [])
            first += [one for one in ways if _case(one) not in [_case(other) for other in first]]
    found = {key: [one for one in ways if _is_sure(one)] for key, ways in found.items()}
    if not any(found.values()):
        return
    kept = _read()
    is_new = False
    for key, ways in found.items():
        known = kept.setdefault(key, [])
        for one in ways:
            # Two engines of one host may both have tried.
            if all(_case(one) != _case(entry["ways"]) for entry in known):
                known.append({"kept_at_s": time.time(), "ways": one})
                is_new = True
        del known[:-_MOST_WAYS]
    if is_new:
        with contextlib.suppress(LabError, OSError):
            _write(kept)


def _case(ways: Mapping[str, Any]) -> dict[str, Any]:
    found = ("candidates", "tried_at_s", "is_sure")
    return {key: value for key, value in ways.items() if key not in found}


def _is_sure(ways: Mapping[str, Any]) -> bool:
    return ways.get("is_sure") is not False


def _read() -> _Kept:
    try:
        with entry(cache_folder(), _KEPT) as place, place.open() as file:
            kept = json_of(file.read(_MOST_FILE_BYTES))
        return {
            str(key): fresh
            for key, entries in kept.items()
            if (fresh := [one for one in entries if one["ways"] and _is_fresh(one["kept_at_s"])])
        }
    except (LabError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _is_fresh(kept_at_s: float) -> bool:
    # A time that is still to come shows that the clock was set back: the age is unknown.
    return 0 <= time.time() - kept_at_s < _LASTS_S


def _write(kept: _Kept) -> None:
    folder = cache_folder()
    with entry(folder, _KEPT) as place, TemporaryFolder(".ways-", folder) as made:
        facts = place.facts()
        if facts is not None and not stat.S_ISREG(facts.st_mode):
            return
        with entry(made, _KEPT) as part:
            with part.create() as file:
                file.write(json.dumps(kept).encode())
            place.take(part.name, part.directory)
