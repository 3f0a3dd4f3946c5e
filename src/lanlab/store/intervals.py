"""Moves the longest parts of engines' results into columns."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from lanlab.roles import result_roles
from lanlab.store.records import TrialRecord
from lanlab.store.series import Numbers, Series
from lanlab.trial_data import Intervals, RoleResult, result_of

_Columns = Mapping[str, list[int | None]]
_CLIENT = "client"
_UNITS = {"_ns": "ns", "bytes": "B", "_bps": "bit/s", "_segments": "segments"}


def take_intervals(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """
    Split a trial into its record without series, and these series.

    Each series is named after its role (`receiver-intervals`). `raw` keeps the series' name, and
    the width of intervals in ns.
    """
    raw, series = dict(trial.raw), []
    for key, series_of in _PARTS.items():
        for role in dict.fromkeys((*result_roles(trial.workload), _CLIENT)):
            result = result_of(raw, role)
            # Another program's output may have a field with this name.
            if not isinstance(result, dict) or not isinstance(found := result.get(key), dict):
                continue
            made = series_of(role.replace("_", "-"), found, result)
            if made is not None:
                series.append(made)
                width = {name: found[name] for name in ("interval_ns",) if name in found}
                raw[role] = {**result, key: {**width, "series": made.name}}
    return (dataclasses.replace(trial, raw=raw), tuple(series)) if series else (trial, ())


def _intervals(role: str, part: _Columns, _: object) -> Series | None:
    found = cast("Intervals", part)
    if not isinstance(found.get("bytes"), list):
        return None
    bins, width_ns = len(found["bytes"]), found["interval_ns"]
    columns: dict[str, Sequence[int | None]] = {
        "start_ns": [place * width_ns for place in range(bins)],
        "width_ns": [width_ns] * bins,
        "bytes": found["bytes"],
        # TCP has no messages, but all files have the same columns.
        "messages": found["messages"] or [None] * bins,
        "lost_messages": found.get("lost_messages") or [None] * bins,
    }
    units = dict.fromkeys(("messages", "lost_messages"), "messages")
    return Series(f"{role}-intervals", _short(columns), _units(columns) | units)


def _file_times(role: str, found: _Columns, _: object) -> Series | None:
    """A copy's files in the order in which they were opened."""
    if role != _CLIENT or not found.get("number"):
        return None
    import numpy as np

    order = np.argsort(np.array(found["opened_ns"], dtype=np.int64), kind="stable")
    columns = {name: np.array(found[name], dtype=np.int64)[order] for name in found}
    return Series(f"{role}-files", columns, _units(columns))


def _readings(role: str, found: _Columns, result: RoleResult) -> Series | None:
    """Operations of stations in the order of their start, with the names of their outcomes."""
    if role != _CLIENT or "intended_ns" not in found:
        return None
    facts = {"outcomes": json.dumps(result["outcomes"]), "operations": '["read", "write"]'}
    # Of a station's operations that succeeded at the first attempt, one in this number is kept; all
    # others are kept.
    facts["every"] = str((result.get("thinned") or {}).get("every", 1))
    columns = cast("Mapping[str, Numbers]", found)
    return Series(f"{role}-readings", columns, _units(found), facts)


def _tcp_samples(role: str, found: _Columns, _: object) -> Series | None:
    return Series(f"{role}-tcp", _short(found), _units(found)) if found.get("at_ns") else None


def _short(columns: Mapping[str, Iterable[int | None]]) -> dict[str, Numbers]:
    return {name: Numbers(column) for name, column in columns.items()}


def _units(columns: Iterable[str]) -> dict[str, str]:
    return {name: unit for name in columns for end, unit in _UNITS.items() if name.endswith(end)}


_PARTS: Mapping[str, Callable[[str, _Columns, RoleResult], Series | None]] = {
    "intervals": _intervals,
    "file_times": _file_times,
    "readings": _readings,
    "tcp_samples": _tcp_samples,
}
