"""Durable records of runs and trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.store.base import Deleted, Lease, RunHead
from lanlab.store.intervals import take_intervals
from lanlab.store.place import default_store, store_option, store_place
from lanlab.store.records import Level, RunRecord, TrialHead, TrialRecord
from lanlab.store.series import Series

if TYPE_CHECKING:
    from lanlab.store.database import Store

__all__ = [
    "Deleted",
    "Lease",
    "Level",
    "RunHead",
    "RunRecord",
    "Series",
    "TrialHead",
    "TrialRecord",
    "default_store",
    "open_store",
    "store_option",
    "take_intervals",
]


def open_store(where: str | None = None) -> Store:
    """Open the store at a path or URL; by default `default_store()`.

    Nothing is created before the first write, and no connection is made before the first use.

    Raises:
        UsageError: The URL names an unknown kind of store, or contains something that is not
            allowed.
        UnmetNeed: Software that a PostgreSQL store needs is not installed.
        StoreError: The existing file is not one of lanlab's stores, or has another version.
    """
    place = store_place(where)
    found: Store
    if isinstance(place, str):
        from lanlab.store.postgresql import PostgresqlStore
        from lanlab.store.postgresql_url import parse_url

        found = PostgresqlStore(parse_url(place))
    else:
        from lanlab.store.sqlite import SqliteStore

        found = SqliteStore(place)
    found.option = store_option(where)
    return found
