"""Moves interval series, file times and readings from an engine's result into columns."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence

from lanlab.roles import result_roles
from lanlab.store.records import TrialRecord
from lanlab.store.series import Numbers, Series
from lanlab.trial_data import Intervals, result_of

_SUFFIX = "-intervals"


def take_intervals(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """
    Split a trial into its record without interval series, and these series.

    Each series is named after its role (`receiver-intervals`). `raw` keeps the series' name, and
    the width of the intervals in ns.
    """
    trial, files = _take_file_times(trial)
    trial, readings = _take_readings(trial)
    trial, sampled = _take_tcp_samples(trial)
    files = (*files, *readings, *sampled)
    series = _short_series(trial)
    if not series:
        return trial, files
    raw = dict(trial.raw)
    for each in series:
        role = each.name.removesuffix(_SUFFIX).replace("-", "_")
        result = result_of(raw, role)
        width_ns = result["intervals"]["interval_ns"]
        raw[role] = {**result, "intervals": {"interval_ns": width_ns, "series": each.name}}
    return dataclasses.replace(trial, raw=raw), (*series, *files)


def _take_file_times(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """Split a trial of a copy into its record without file times, and the series `client-files`, in
    the order in which the files were opened. `raw` keeps the series' name.
    """
    client = trial.raw.get("client")
    if not isinstance(client, dict):
        return trial, ()
    found = client.get("file_times")
    if not (isinstance(found, dict) and found.get("number")):
        return trial, ()
    import numpy as np

    order = np.argsort(np.array(found["opened_ns"], dtype=np.int64), kind="stable")
    columns = {name: np.array(found[name], dtype=np.int64)[order] for name in found}
    units = {name: "ns" for name in found if name.endswith("_ns")} | {"bytes": "B"}
    series = Series("client-files", columns, units)
    raw = {**trial.raw, "client": client | {"file_times": {"series": series.name}}}
    return dataclasses.replace(trial, raw=raw), (series,)


def _take_readings(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """Split a trial of stations into its record without readings, and the series `client-readings`:
    operations in the order of their start, with the names of their outcomes. `raw` keeps the
    series' name.
    """
    client = trial.raw.get("client")
    found = client.get("readings") if isinstance(client, dict) else None
    if not (isinstance(client, dict) and isinstance(found, dict) and "intended_ns" in found):
        return trial, ()
    units = {name: "ns" for name in found if name.endswith("_ns")}
    units |= {"offset_bytes": "B", "bytes": "B"}
    facts = {"outcomes": json.dumps(client["outcomes"]), "operations": '["read", "write"]'}
    # Of a station's operations that succeeded at the first attempt, one in this number is kept; all
    # others are kept.
    facts["every"] = str((client.get("thinned") or {}).get("every", 1))
    series = Series("client-readings", found, units, facts)
    raw = {**trial.raw, "client": client | {"readings": {"series": series.name}}}
    return dataclasses.replace(trial, raw=raw), (series,)


def _take_tcp_samples(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """Split a trial into its record without the kernels' TCP samples, and the series of samples,
    such as `sender-tcp`. `raw` keeps the series' name.
    """
    raw, series = dict(trial.raw), []
    for role in result_roles(trial.workload):
        result = raw.get(role)
        found = result.get("tcp_samples") if isinstance(result, dict) else None
        if not (isinstance(result, dict) and isinstance(found, dict) and found.get("at_ns")):
            continue
        name = f"{role.replace('_', '-')}-tcp"
        columns = {each: Numbers(values) for each, values in found.items()}
        series.append(Series(name, columns, _tcp_units(found)))
        raw[role] = result | {"tcp_samples": {"series": name}}
    return (dataclasses.replace(trial, raw=raw), tuple(series)) if series else (trial, ())


def _tcp_units(columns: Iterable[str]) -> dict[str, str]:
    units = {"_ns": "ns", "_bytes": "B", "_bps": "bit/s", "_segments": "segments"}
    return {
        name: unit for name in columns for suffix, unit in units.items() if name.endswith(suffix)
    }


def _short_series(trial: TrialRecord) -> tuple[Series, ...]:
    found = {role: _intervals(trial.raw.get(role)) for role in result_roles(trial.workload)}
    return tuple(
        _series(f"{role.replace('_', '-')}{_SUFFIX}", one) for role, one in found.items() if one
    )


def _intervals(result: object) -> Intervals | None:
    found: Intervals | None = result.get("intervals") if isinstance(result, dict) else None
    # Another program's output may have a field with this name.
    is_ours = isinstance(found, dict) and isinstance(found.get("bytes"), list)
    return found if is_ours else None


def _series(name: str, found: Intervals) -> Series:
    bins, width_ns = len(found["bytes"]), found["interval_ns"]
    columns: dict[str, Sequence[int | None]] = {
        "start_ns": [place * width_ns for place in range(bins)],
        "width_ns": [width_ns] * bins,
        "bytes": found["bytes"],
        # TCP has no messages, but all files have the same columns.
        "messages": found["messages"] or [None] * bins,
        "lost_messages": found.get("lost_messages") or [None] * bins,
    }
    units = {"start_ns": "ns", "width_ns": "ns", "bytes": "B"}
    units |= dict.fromkeys(("messages", "lost_messages"), "messages")
    return Series(name, {each: Numbers(column) for each, column in columns.items()}, units)
