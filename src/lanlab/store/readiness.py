"""Checks for `lanlab doctor` whether a store can be used, without changing anything."""

from __future__ import annotations

import os
from pathlib import Path

from lanlab.errors import LabError, StoreError
from lanlab.frozen import dataclass
from lanlab.store.place import default_store, refuse_network_share, store_place


@dataclass(frozen=True)
class Readiness:
    #: `sqlite` or `postgresql`.
    kind: str
    place: str
    is_usable: bool
    detail: str
    how_to_get: str = ""


def readiness(where: str | None) -> Readiness:
    """The state of the store that `where` names, or of the default store."""
    text = default_store() if where is None else where
    # A refused URL may contain a password, so it is not repeated.
    kind = "postgresql" if text.startswith("postgres") and "://" in text else "sqlite"
    shown = "that URL" if kind == "postgresql" else text
    try:
        place = store_place(text)
        if isinstance(place, Path):
            return _of_file(place)
        return _of_database(place)
    except LabError as error:
        return Readiness(kind, shown, False, error.message, error.hint or "")


def _of_file(path: Path) -> Readiness:
    from lanlab.store.schema import check_header

    refuse_network_share(path)
    is_there = check_header(path)
    existing = next(parent for parent in path.absolute().parents if parent.exists())
    writable = [path, path.parent] if is_there else [existing]
    shut = [each for each in writable if not os.access(each, os.W_OK)]
    if shut:
        raise StoreError(
            f"{shut[0]} cannot be written",
            hint="check its owner and mode, or name another store with --store or LANLAB_STORE",
        )
    return Readiness("sqlite", str(path), True, "there" if is_there else "made by the first run")


def _of_database(url: str) -> Readiness:
    from lanlab.store.postgresql import PostgresqlStore
    from lanlab.store.postgresql_url import parse_url

    target = parse_url(url)
    place = str(target)
    try:
        found = PostgresqlStore(target).describe()
    except LabError as error:
        detail = error.message.removeprefix(f"{place}: ")
        return Readiness("postgresql", place, False, detail, error.hint or "")
    if not found.keeps_what_it_acknowledges:
        return Readiness(
            "postgresql",
            place,
            False,
            f"PostgreSQL {found.version} with fsync off loses what it acknowledged in a power cut",
            "set `fsync = on` in the server's configuration",
        )
    detail = (
        f"PostgreSQL {found.version}, {'TLS' if found.is_encrypted else 'no TLS'}, tables "
        f"{'there' if found.has_tables else 'made by the first run'}"
    )
    return Readiness("postgresql", place, True, detail)
