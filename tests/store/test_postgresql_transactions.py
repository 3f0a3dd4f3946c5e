"""What is said to a PostgreSQL server, and when, without one: opening, transactions."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from lanlab.errors import StoreError
from lanlab.store import Series, parquet, postgresql
from lanlab.store.postgresql import TABLES, PostgresqlLease, PostgresqlStore
from lanlab.store.postgresql_url import parse_url
from lanlab.store.schema import APPLICATION_ID, SCHEMA_VERSION
from lanlab.store.series import SeriesEntry

TARGET = parse_url("postgresql://ada@127.0.0.1:5432/lab?schema=made")


@dataclass
class Server:
    """A server with the tables of a version of ours, or of somebody else; it notes what is said."""

    version: int | None = SCHEMA_VERSION
    application_id: int = APPLICATION_ID
    columns: tuple[tuple[str, str], ...] = (
        ("store", "application_id"),
        ("store", "schema_version"),
    )
    has_schema: bool = True
    held: int = 1
    parts: list[bytes] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)

    def connect(self, target: object) -> Session:
        assert target == TARGET
        self.said.append("connect")
        return Session(self)


@dataclass
class Session:
    server: Server
    is_lost: bool = False

    def execute(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        there = self.server
        if "pg_attribute" in sql:
            return [list(column) for column in there.columns]
        if "pg_class" in sql:
            return [] if there.version is None else [["store"], ["run"]]
        if sql == "SELECT * FROM store":
            return [[there.application_id, there.version]]
        if "FROM pg_catalog.pg_namespace WHERE" in sql:
            return [[1]] if there.has_schema else []
        if "pg_locks" in sql:
            there.values.append(values)
            return [[there.held]]
        if "FROM series_part" in sql:
            there.values.append(values)
            part = values["part"]
            return [[there.parts[part]]] if part < len(there.parts) else []
        if "current_setting('server_version')" in sql:
            return [["16.4", "on"]]
        if "pg_stat_ssl" in sql:
            return [[True]]
        there.said.append(sql.split("(")[0].strip())
        if values:
            there.values.append(values)
            there.version = values.get("version", there.version)
        return []

    def script(self, sql: str) -> None:
        self.server.said.append(sql)

    def close(self) -> None:
        self.server.said.append("close")

    def abandon(self) -> None:
        self.is_lost = True
        self.server.said.append("abandon")


def database(monkeypatch: pytest.MonkeyPatch, server: Server) -> PostgresqlStore:
    monkeypatch.setattr(postgresql, "PostgresqlSession", server.connect)
    return PostgresqlStore(TARGET)


def test_a_connection_is_made_once_and_again_only_after_it_was_lost_or_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    store = database(monkeypatch, server)
    with store.reading() as first, store.reading() as second:
        assert first is second
    assert server.said == ["connect"]
    first.is_lost = True  # type: ignore[attr-defined]
    with store.reading() as third:
        assert third is not first
    store.close()
    store.close()
    assert server.said == ["connect", "connect", "close"]
    with store.reading() as fourth:
        assert fourth is not third


def test_reading_creates_no_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Server(version=None)
    with (
        pytest.raises(StoreError, match="no results yet"),
        database(monkeypatch, nothing).reading(),
    ):
        pass
    assert nothing.said == ["connect", "close"]


@pytest.mark.parametrize("has_schema", [True, False])
def test_the_first_write_creates_all_tables_in_one_transaction(
    has_schema: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(version=None, has_schema=has_schema)
    with database(monkeypatch, server).transaction("r"):
        server.said.append("write")
    expected = ["connect", "BEGIN", "SELECT pg_catalog.pg_advisory_xact_lock"]
    expected += [] if has_schema else ['CREATE SCHEMA "made"']
    expected += [TABLES, "INSERT INTO store VALUES", "COMMIT", "close"]
    assert server.said == [*expected, "connect", "BEGIN", "write", "COMMIT"]
    assert {"id": APPLICATION_ID, "version": SCHEMA_VERSION} in server.values


@pytest.mark.parametrize(
    "other",
    [
        Server(application_id=APPLICATION_ID + 1),
        Server(columns=(("store", "application_id"),)),
        Server(columns=(("store", "schema_version"), ("store", "id"))),
    ],
)
def test_tables_of_another_program_are_refused(
    other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        pytest.raises(StoreError, match="the schema `made` of this database is of another program"),
        database(monkeypatch, other).transaction("r"),
    ):
        pass
    assert other.said == ["connect", "close"]


def test_tables_that_fail_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(version=None)

    def full(self: Session, sql: str) -> None:
        server.said.append(sql)
        if sql != "BEGIN":
            raise StoreError("the server's disk is full")

    monkeypatch.setattr(Session, "script", full)
    with (
        pytest.raises(StoreError, match="disk is full"),
        database(monkeypatch, server).transaction("r"),
    ):
        pass
    assert server.said[-2:] == ["abandon", "close"]


def test_a_transaction_is_committed_or_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    store = database(monkeypatch, server)
    with store.transaction("r"):
        server.said.append("write")
    assert server.said[-3:] == ["BEGIN", "write", "COMMIT"]
    with pytest.raises(ValueError, match="wrong"), store.transaction("r"):
        raise ValueError("wrong")
    assert server.said[-2:] == ["BEGIN", "ROLLBACK"]
    # A session that is over takes no more words; the server takes back what it had.
    with pytest.raises(StoreError), store.transaction("r") as session:
        session.abandon()  # type: ignore[attr-defined]
        raise StoreError("lost")
    assert server.said[-2:] == ["BEGIN", "abandon"]
    with pytest.raises(KeyboardInterrupt), store.transaction("r"):
        raise KeyboardInterrupt
    assert server.said[-2:] == ["BEGIN", "abandon"]


def test_a_run_without_its_lease_cannot_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    store = database(monkeypatch, server)
    store._leases["r"] = PostgresqlLease(Session(server), 7)  # type: ignore[arg-type]
    with store.transaction("r"):
        pass
    assert server.values[-1]["process_id"] == 7
    server.held = 0
    with pytest.raises(StoreError, match="run `r` lost its lease"), store.transaction("r"):
        server.said.append("write")
    assert server.said[-2:] == ["BEGIN", "ROLLBACK"]
    assert not store.is_held("r")
    server.held = 1
    assert store.is_held("r") and "process_id" not in server.values[-1]


def test_the_server_check_closes_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    facts = database(monkeypatch, server).describe()
    assert (facts.version, facts.is_encrypted, facts.keeps_what_it_acknowledges) == (
        *("16.4", True, True),
    )
    assert facts.has_tables and server.said == ["connect", "close"]


def test_a_series_is_stored_and_read_in_parts_of_a_mebibyte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The numbers are random, so that they take 2.4 MB: three parts."""
    numbers = np.random.default_rng(1).integers(0, 2**62, 300_000)
    series = Series("readings", {"n": numbers}, {"n": "ns"})
    server = Server()
    store = database(monkeypatch, server)
    with store.placed("r", 4, [series]) as placed:
        placed.add_to(Session(server))
    assert [one["part"] for one in server.values] == [0, 1, 2]
    for one in server.values:
        assert (one["run_id"], one["number"], one["name"]) == ("r", 4, "readings")
    server.parts = [one["octets"] for one in server.values]
    assert [len(part) for part in server.parts[:2]] == [parquet.CHUNK_BYTES] * 2
    [entry] = placed.entries
    assert isinstance(entry, SeriesEntry)
    assert (entry.row_count, entry.size_bytes) == (300_000, sum(map(len, server.parts)))

    server.values.clear()
    with store.octets("r", 4, entry) as file:
        found = file.read()
    assert found == b"".join(server.parts)
    assert [one["part"] for one in server.values] == [0, 1, 2, 3]
    back = parquet.read(io.BytesIO(found), "it")
    assert (back.columns["n"] == numbers).all()
    assert store.series_place("r", 4, "readings").endswith(
        "series `readings` of trial 4 of run `r`"
    )
    assert store.place == str(TARGET)
