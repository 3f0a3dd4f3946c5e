"""Rows of a trial's series that a figure shows, put into its record where the series stood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lanlab.errors import StoreError
from lanlab.store import TrialRecord

if TYPE_CHECKING:
    from lanlab.store.series import Series

#: Key of the rows, next to the series' name, unless its caller says otherwise.
_PLACE = "over_time"


def with_rows(
    trial: TrialRecord,
    role: str,
    key: str,
    read: Callable[[TrialRecord, str], Series],
    rows_of: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Sequence[int]]],
    place: str = _PLACE,
) -> TrialRecord:
    """
    A trial with rows of one of its series. One that has no such series, or has lost it, comes back
    as it is: a report must not fail for it.

    Args:
        role: Whose result names the series.
        key: Where in that result.
        read: Gives the series of a trial by name.
        rows_of: Makes rows of the columns, and of what stands next to the series' name.
        place: What the rows are called, where one series gives several kinds of them.
    """
    section = _section(trial, role, key)
    if not section or "series" not in section:
        return trial
    try:
        rows = rows_of(read(trial, str(section["series"])).columns, section)
    except (KeyError, StoreError):
        return trial
    result = {**trial.raw[role], key: {**section, place: rows}}
    return replace(trial, raw=trial.raw | {role: result})


def rows_in(
    trial: TrialRecord, role: str, key: str, place: str = _PLACE
) -> Sequence[Sequence[int]]:
    """The rows that were put into a trial's record; none where they were not."""
    section = _section(trial, role, key)
    rows: Sequence[Sequence[int]] = section.get(place, ()) if section else ()
    return rows


def _section(trial: TrialRecord, role: str, key: str) -> dict[str, Any] | None:
    result = trial.raw.get(role)
    section = result.get(key) if isinstance(result, dict) else None
    return section if isinstance(section, dict) else None
