"""Durable records of runs and trials."""

from __future__ import annotations

from lanlab.store.base import Store
from lanlab.store.lease import Lease
from lanlab.store.place import default_store_path, store_path
from lanlab.store.records import Level, RunRecord, TrialRecord

__all__ = [
    "Lease",
    "Level",
    "RunRecord",
    "Store",
    "TrialRecord",
    "default_store_path",
    "open_store",
]


def open_store(where: str | None = None) -> Store:
    """Open the store at a path or URL, by default at `default_store_path()`.

    Nothing is made before the first write.

    Raises:
        UsageError: A URL of a kind of store that there is not.
        StoreError: The file that is there is no store of ours, or of a newer version.
    """
    from lanlab.store.sqlite import SqliteStore

    return SqliteStore(store_path(where))
