"""What a store asks SQLite and the system for, and small things that other tests pass by."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import UnknownName, UsageError
from lanlab.linux import file_system_in
from lanlab.store import lease, open_store
from lanlab.store.intervals import take_intervals
from lanlab.store.labels import id_among
from lanlab.store.series_files import SeriesFiles
from lanlab.store.sqlite import SqliteStore


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of every connection, in order; `= name` where one begins."""
    told: list[str] = []

    class Noted(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            told.append(sql)
            return super().execute(sql, *values)

    real = sqlite3.connect

    def connect(name: Any, **options: Any) -> sqlite3.Connection:
        told.append(f"= {Path(str(name)).name}")
        # Debian's SQLite takes every name for a URL, others' do not.
        assert options.get("uri", False) is str(name).startswith("file:")
        return real(name, factory=Noted, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    return told


def test_full_synchronisation_is_set_explicitly(tmp_path: Path, statements: list[str]) -> None:
    """Before the last change to a new file, which takes all of it to the disk before the file has
    its name, and at each opening."""
    with open_store(str(tmp_path / "s")) as store:
        store.start_run(a_run()).release()
    made = statements[statements.index("= s.new") : statements.index("= s?mode=rw")]
    last = made.index("PRAGMA journal_mode = WAL")
    assert made[last - 2 : last] == ["PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON"]
    opened = statements[statements.index("= s?mode=rw") :]
    asked = {
        "PRAGMA trusted_schema = OFF",
        "PRAGMA cell_size_check = ON",
        "PRAGMA mmap_size = 0",
        "PRAGMA foreign_keys = ON",
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",
    }
    assert asked <= set(opened)
    # Nothing of the file is read before its version is known to be one of ours.
    assert opened[1] == "PRAGMA user_version"


def test_locked_stores_are_retried_for_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = []
    real = lease.acquire

    def acquire(path: Path, what: str, **more: float) -> lease.FileLease:
        patience.append((path.name, what, more))
        return real(path, what, **more)

    monkeypatch.setattr(lease, "acquire", acquire)
    path = tmp_path / "s"
    with open_store(str(path)) as store:
        store.start_run(a_run()).release()
    assert patience[0] == ("s.lock", "the store", {"patience_s": 10.0})
    connection = SqliteStore(path)._connect("mode=rw")
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (10_000,)
    assert connection.isolation_level is None
    connection.close()


@pytest.fixture
def any_mode() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("any_mode")
def test_files_can_be_read_and_written_but_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    with store_with_run(tmp_path / "s") as store, store.acquire_run("last"):
        assert mode(tmp_path / f"s.{a_run().id}.lock") == 0o666
    assert mode(tmp_path / "s") == 0o666

    def refused(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    # A file system without hard links.
    monkeypatch.setattr("os.link", refused)
    with store_with_run(tmp_path / "t"):
        pass
    with open_store(str(tmp_path / "t")) as store:
        assert store.run("last").id == a_run().id
    assert mode(tmp_path / "t") == 0o666
    assert sorted(path.name for path in tmp_path.glob("t*") if path.suffix != ".lock") == ["t"]


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        # One that is close, and not the next as well.
        ("20260101-milanovik", ["20260101-milanovic"]),
        # Nothing is close: the five newest.
        ("zzz", [f"2026010{day}-manford" for day in range(2, 7)]),
    ],
)
def test_a_wrong_name_is_answered_with_the_closest_or_the_newest(
    name: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[list[str]] = []
    real = UnknownName.__init__

    def noted(self: UnknownName, kind: str, wrong: str, known: list[str]) -> None:
        told.append(known)
        real(self, kind, wrong, known)

    monkeypatch.setattr(UnknownName, "__init__", noted)
    ids = ["20260101-milanovic", "20260102-milanovic"]
    ids += [f"2026010{day}-manford" for day in range(1, 7)]
    with pytest.raises(UnknownName):
        id_among(name, ids)
    assert told == [offered]


def test_a_prefix_of_many_ids_names_ten_and_counts_the_rest() -> None:
    with pytest.raises(UsageError) as refused:
        id_among("2026", [f"2026-{place:04}" for place in range(1_200)])

    said = refused.value.message
    assert said.startswith("`2026` is a prefix of 1,200 run ids: 2026-0000, 2026-0001, ")
    assert said.endswith(", 2026-0009 and 1,190 more")


def test_files_that_were_opened_at_once_stay_in_the_order_of_the_trial() -> None:
    count = 100
    told = {
        "number": list(range(count)),
        "opened_ns": [place % 2 for place in range(count)],
        "bytes": [1] * count,
    }
    _, (files,) = take_intervals(a_trial(raw={"client": {"file_times": told}}))
    numbers = files.columns["number"]
    assert list(numbers) == [*range(0, count, 2), *range(1, count, 2)]  # type: ignore[arg-type]


def test_a_mount_without_options_is_a_mount() -> None:
    assert file_system_in("9 1 0:9 / /five - xfs", Path("/five/x")) == "xfs"


def test_a_series_file_is_named_by_number_and_name_in_its_run_folder(tmp_path: Path) -> None:
    files = SeriesFiles(tmp_path / "s.sqlite")
    assert files.path("r", 3, "client-files") == tmp_path.joinpath(
        "s.sqlite.series", "r", "3-client-files.parquet"
    )
