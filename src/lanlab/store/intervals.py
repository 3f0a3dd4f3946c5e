"""
Interval series, times of files and readings: taken out of what an engine told, into columns of
their own.

Stores of schema 2 and before have them in the record itself, where they are left and read.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from lanlab.roles import ROLES
from lanlab.store.records import TrialRecord
from lanlab.store.series import Series


def take_intervals(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """
    A trial without its interval series, and these.

    Each is named for its role (`receiver-intervals`). Where it stood in `raw` remains its width, in
    ns, and the series' name.
    """
    trial, files = _take_file_times(trial)
    trial, readings = _take_readings(trial)
    files = (*files, *readings)
    series = intervals_in(trial)
    if not series:
        return trial, files
    raw = dict(trial.raw)
    for each in series:
        role = each.name.partition("-")[0]
        width_ns = raw[role]["intervals"]["interval_ns"]
        raw[role] = raw[role] | {"intervals": {"interval_ns": width_ns, "series": each.name}}
    return dataclasses.replace(trial, raw=raw), (*series, *files)


def _take_file_times(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """A trial of a copy without the times of its files, and these: `client-files`, in the order in
    which the files were opened. Where they stood in `raw` remains the series' name."""
    client = trial.raw.get("client")
    if not isinstance(client, dict):
        return trial, ()
    told = client.get("file_times")
    if not (isinstance(told, dict) and told.get("number")):
        return trial, ()
    import numpy as np

    order = np.argsort(np.array(told["opened_ns"], dtype=np.int64), kind="stable")
    columns = {name: np.array(told[name], dtype=np.int64)[order] for name in told}
    units = {name: "ns" for name in told if name.endswith("_ns")} | {"bytes": "B"}
    series = Series("client-files", columns, units)
    raw = trial.raw | {"client": client | {"file_times": {"series": series.name}}}
    return dataclasses.replace(trial, raw=raw), (series,)


def _take_readings(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """A trial of stations without its readings, and these: `client-readings`, in the order in which
    the operations began, with the names of their outcomes. Where they stood in `raw` remains the
    series' name."""
    client = trial.raw.get("client")
    told = client.get("readings") if isinstance(client, dict) else None
    if not (isinstance(client, dict) and isinstance(told, dict) and "intended_ns" in told):
        return trial, ()
    units = {name: "ns" for name in told if name.endswith("_ns")}
    units |= {"offset_bytes": "B", "bytes": "B"}
    facts = {"outcomes": json.dumps(client["outcomes"]), "operations": '["read", "write"]'}
    # One of so many operations of each station that went well at once; of others every one.
    facts["every"] = str((client.get("thinned") or {}).get("every", 1))
    series = Series("client-readings", told, units, facts)
    raw = trial.raw | {"client": client | {"readings": {"series": series.name}}}
    return dataclasses.replace(trial, raw=raw), (series,)


def intervals_in(trial: TrialRecord) -> tuple[Series, ...]:
    """The interval series that stand in a trial's record itself."""
    roles = ROLES.get(trial.workload, ())
    found = ((role, _intervals(trial.raw.get(role))) for role in roles)
    return tuple(_series(f"{role}-intervals", told) for role, told in found if told is not None)


def _intervals(result: Any) -> dict[str, Any] | None:
    told = result.get("intervals") if isinstance(result, dict) else None
    # Another program's output may have a field of that name.
    is_ours = isinstance(told, dict) and isinstance(told.get("bytes"), list)
    return told if is_ours else None


def _series(name: str, told: dict[str, Any]) -> Series:
    import numpy as np

    octets = np.array(told["bytes"], dtype=np.int64)
    bins = len(octets)
    # Over TCP there are none to count: missing, so that files of all transports have like columns.
    counted = bool(told["messages"])
    messages = np.array(told["messages"] if counted else [0] * bins, dtype=np.int64)
    columns = {
        "start_ns": np.arange(bins, dtype=np.int64) * told["interval_ns"],
        "width_ns": np.full(bins, told["interval_ns"], dtype=np.int64),
        "bytes": octets,
        "messages": messages if counted else np.ma.MaskedArray(messages, mask=True),
    }
    units = {"start_ns": "ns", "width_ns": "ns", "bytes": "B", "messages": "messages"}
    return Series(name, columns, units)
