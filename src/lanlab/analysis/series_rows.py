"""Adds rows of a trial's series to the trial's record, for figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lanlab.errors import LabError
from lanlab.store import TrialRecord
from lanlab.store.large_runs import StoredRaw, replaced
from lanlab.store.shape import MISSHAPEN
from lanlab.trial_data import SeriesPart

if TYPE_CHECKING:
    from lanlab.store.series import Column, Series

#: Default key of the rows, next to the series' name.
_PLACE = "over_time"


def with_rows(
    trial: TrialRecord,
    roles: Iterable[str],
    key: str,
    read: Callable[[TrialRecord, str], Series],
    rows_of: Callable[[Mapping[str, Column], SeriesPart], Sequence[Sequence[int]]],
    place: str = _PLACE,
) -> TrialRecord:
    """
    Add rows of series to a trial's record. If the trial has no such series, or the series is lost
    or malformed, it is returned unchanged, so that a report does not fail.

    Args:
        roles: The roles whose results name a series.
        key: Key in these results.
        read: Returns the series of a trial by name.
        rows_of: Makes rows from the columns and the values stored next to the series' name.
        place: Key for the rows, if one series yields several kinds.
    """
    for role in roles:
        section = _section(trial, role, key)
        if section and "series" in section:
            with contextlib.suppress(LabError, *MISSHAPEN):
                rows = rows_of(read(trial, str(section["series"])).columns, section)
                result = {**trial.result(role), key: {**section, place: rows}}
                trial = replace(trial, raw=replaced(trial.raw, {role: result}))
    return trial


def rows_in(
    trial: TrialRecord, role: str, key: str, place: str = _PLACE
) -> Sequence[Sequence[int]]:
    """The rows added to a trial's record; empty if none were added."""
    # Rows are added to records in memory, never to records that are read on demand.
    section = None if isinstance(trial.raw, StoredRaw) else _section(trial, role, key)
    return cast("Sequence[Sequence[int]]", section.get(place, ()) if section else ())


def _section(trial: TrialRecord, role: str, key: str) -> SeriesPart | None:
    result = trial.raw.get(role)
    section = result.get(key) if isinstance(result, dict) else None
    return cast("SeriesPart", section) if isinstance(section, dict) else None
