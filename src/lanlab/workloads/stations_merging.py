"""Merges the results of stations on several hosts into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lanlab.trial_data import BlockCheck, CpuTime, RoleResult, Thinned

_ENDS = ("no_station", "cancelled", "full", "interval", "time", "readings")
_SUMS = (
    "stations",
    "threads",
    "readings",
    "bytes",
    "retries",
    "unstarted",
    "reconnects",
    "ended_stations",
)
_MOST_NAMED = 64


def merged(parts: Sequence[RoleResult], names: Sequence[str]) -> RoleResult:
    """
    One result for several hosts: counts are added, the longest times and the widest skew kept.

    Distributions and other details are those of the first host; each host's own result is kept in
    `hosts`. Statistics of response times always use all readings.

    Args:
        names: Names of the hosts.
    """
    if len(parts) == 1:
        return parts[0].copy()
    first, numbers = parts[0].copy(), [cast("dict[str, int]", part) for part in parts]
    added = cast("dict[str, int]", first)
    for name in _SUMS:
        added[name] = sum(part[name] for part in numbers)
    first["thinned"] = _most_thinned(parts)
    for name in ("elapsed_ns", "start_skew_ns"):
        added[name] = max(part[name] for part in numbers)
    ended = sorted((end for part in parts for end in part["ended"]), key=lambda end: end["at_ns"])
    first["ended"] = ended[:_MOST_NAMED]
    ends = [part["ended_by"] for part in parts]
    # A host without stations left does not end the others.
    if any(end != "no_station" for end in ends):
        ends = [end for end in ends if end != "no_station"]
    first["ended_by"] = min(ends, key=_ENDS.index)
    first["errors"] = _added([part["errors"] for part in parts])
    first["reconnect_errors"] = _added([part["reconnect_errors"] for part in parts])
    first["setup"] = {
        **first["setup"],
        "elapsed_ns": max(part["setup"]["elapsed_ns"] for part in parts),
        "errors": _added([part["setup"]["errors"] for part in parts]),
    }
    checks = [part["checked"] for part in parts]
    counts = [{k: v for k, v in check.items() if k != "first_wrong"} for check in checks]
    wrong = next((check["first_wrong"] for check in checks if check["first_wrong"]), None)
    first["checked"] = cast("BlockCheck", {**_added(counts), "first_wrong": wrong})
    first["cpu"] = cast("CpuTime", _added([part["cpu"] for part in parts]))
    carried = [counted for part in parts if (counted := part.get("carrier")) is not None]
    first["carrier"] = _added(carried) if carried else None
    busiest = [part["busiest_thread_ratio"] for part in parts]
    known = [ratio for ratio in busiest if ratio is not None]
    first["busiest_thread_ratio"] = max(known) if known else None
    first["hosts"] = [
        cast("RoleResult", {"name": name, **part}) for name, part in zip(names, parts, strict=True)
    ]
    return first


def _most_thinned(parts: Sequence[RoleResult]) -> Thinned | None:
    thinned = [how for part in parts if (how := part["thinned"]) is not None]
    if not thinned:
        return None
    numbers = cast("list[dict[str, int]]", thinned)
    names = ("kept", "every", "slice_ns")
    return cast("Thinned", {name: max(each[name] for each in numbers) for name in names})


def _added(counts: Sequence[Mapping[str, object]]) -> dict[str, int]:
    numbers = cast("Sequence[Mapping[str, int]]", counts)
    names = {name: None for each in numbers for name in each}
    return {name: sum(each.get(name, 0) for each in numbers) for name in names}
