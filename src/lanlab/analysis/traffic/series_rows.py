"""Adds rows of a trial's series to the trial's record, for figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from lanlab.errors import LabError
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.store.large_runs import StoredRaw, replaced
from lanlab.store.series import Column, Series
from lanlab.store.shape import MISSHAPEN
from lanlab.trial_data import SeriesPart


@dataclass(frozen=True)
class Rows:
    """Rows for figures, made from a series of the store, which is too large for a record."""

    #: The roles whose results name the series, and the key of its name there.
    roles: tuple[str, ...]
    key: str
    #: Makes rows from the columns and the values stored next to the series' name.
    make: Callable[[Mapping[str, Column], SeriesPart], Sequence[Sequence[int]]]
    #: Whether a trial may have the series.
    is_of: Callable[[TrialRecord], object] = lambda trial: True
    #: Key of the rows, next to the series' name.
    place: str = "over_time"

    def added(
        self,
        trials: Sequence[TrialRecord],
        read: Callable[[TrialRecord, str], Series],
        numbers: frozenset[int] | None = None,
    ) -> list[TrialRecord]:
        """
        The trials of a run with their rows. A trial whose series is missing or malformed stays
        unchanged, so that a report does not fail.

        Args:
            read: Returns the series of a trial by name.
            numbers: Numbers of the trials that need rows; `None`: all.
        """
        return [
            self._added(trial, read)
            if self.is_of(trial) and (numbers is None or trial.number in numbers)
            else trial
            for trial in trials
        ]

    def _added(self, trial: TrialRecord, read: Callable[[TrialRecord, str], Series]) -> TrialRecord:
        for role in self.roles:
            section = _section(trial, role, self.key)
            if section and "series" in section:
                with contextlib.suppress(LabError, *MISSHAPEN):
                    rows = self.make(read(trial, str(section["series"])).columns, section)
                    result = {**trial.result(role), self.key: {**section, self.place: rows}}
                    trial = replace(trial, raw=replaced(trial.raw, {role: result}))
        return trial

    def of(self, trial: TrialRecord, role: str) -> Sequence[Sequence[int]]:
        """The rows added to a trial's record; empty if none were added."""
        # Rows are added to records in memory, never to records that are read on demand.
        section = None if isinstance(trial.raw, StoredRaw) else _section(trial, role, self.key)
        return cast("Sequence[Sequence[int]]", section.get(self.place, ()) if section else ())


def _section(trial: TrialRecord, role: str, key: str) -> SeriesPart | None:
    result = trial.raw.get(role)
    section = result.get(key) if isinstance(result, dict) else None
    return cast("SeriesPart", section) if isinstance(section, dict) else None
