"""Durable records of runs and trials."""

from __future__ import annotations

from lanlab.store.base import Deleted, Lease, RunHead, Store
from lanlab.store.intervals import take_intervals
from lanlab.store.place import default_store, store_place
from lanlab.store.records import Level, RunRecord, TrialRecord
from lanlab.store.series import Series, Words

__all__ = [
    "Deleted",
    "Lease",
    "Level",
    "RunHead",
    "RunRecord",
    "Series",
    "Store",
    "TrialRecord",
    "Words",
    "default_store",
    "open_store",
    "take_intervals",
]


def open_store(where: str | None = None) -> Store:
    """Open the store at a path or URL, by default at `default_store()`.

    Nothing is made before the first write, and no connection before the first use.

    Raises:
        UsageError: A URL of a kind of store that there is not, or with something in it that is
            not allowed.
        UnmetNeed: What a PostgreSQL store needs is not installed.
        StoreError: The file that is there is no store of ours, or of a newer version.
    """
    place = store_place(where)
    if isinstance(place, str):
        from lanlab.store.postgresql import PostgresqlStore

        return PostgresqlStore(place)
    from lanlab.store.sqlite import SqliteStore

    return SqliteStore(place)
