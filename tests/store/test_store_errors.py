"""Errors at a store's file name their cause, and nothing unfinished is left."""

import errno
import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from store_samples import a_run, store_with_run

from lanlab.errors import StoreError, UnknownName
from lanlab.store import Series, lease, open_store, schema, series_files, sqlite
from lanlab.store.encoding import to_json, utc_now
from lanlab.store.place import refuse_network_share
from lanlab.store.readiness import readiness
from lanlab.store.schema import check_header
from lanlab.store.series_files import SeriesFiles
from lanlab.store.sqlite import SqliteStore
from lanlab.store.sqlite_errors import explained

READINGS = Series("readings", {"n": np.arange(3)})


def sqlite_error(code: int, text: str = "said") -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "cause", "hint"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full", "make room on it"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written", "check the owner"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "cannot be opened", "check the owner"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "another process kept it locked for 10 s", "end the other"),
        (sqlite3.SQLITE_IOERR_WRITE, "the disk failed, or is full", "look at its free space"),
        (sqlite3.SQLITE_CORRUPT, "is damaged", "restore a backup"),
        (sqlite3.SQLITE_NOTADB, "is not an SQLite file", "name another file"),
        (sqlite3.SQLITE_ERROR, "said", None),
    ],
)
def test_sqlite_errors_are_classified_by_primary_code(
    code: int, cause: str, hint: str | None
) -> None:
    told = explained(sqlite_error(code), Path("s"))
    assert told.message == f"s: {cause}"
    assert (told.hint or "").startswith(hint or "")
    assert (told.hint is None) == (hint is None)


def test_only_an_error_of_the_disk_may_have_committed() -> None:
    for code, may_be in (
        (sqlite3.SQLITE_IOERR_FSYNC, True),
        (sqlite3.SQLITE_IOERR, True),
        (sqlite3.SQLITE_FULL, False),
        (sqlite3.SQLITE_BUSY, False),
    ):
        told = StoreError("it failed")
        told.__cause__ = sqlite_error(code)
        assert sqlite._may_be_committed(told) is may_be
    assert not sqlite._may_be_committed(KeyboardInterrupt())


@pytest.mark.parametrize(
    ("code", "stays"), [(sqlite3.SQLITE_IOERR_FSYNC, True), (sqlite3.SQLITE_FULL, False)]
)
def test_files_of_a_trial_stay_if_its_row_may_be_in_the_log(
    tmp_path: Path, code: int, stays: bool
) -> None:
    path = tmp_path / "s"
    with open_store(str(path)) as store:
        store.start_run(a_run()).release()
    database = SqliteStore(path)
    with (
        pytest.raises(StoreError),
        database.placed(a_run().id, 0, [READINGS]),
        database._errors(),
    ):
        raise sqlite_error(code)
    database.close()
    kept = [one.name for one in tmp_path.glob("s.series/*/*")]
    assert kept == (["0-readings.parquet"] if stays else [])


def test_invalid_utf_8_is_damage_and_other_errors_keep_their_cause(tmp_path: Path) -> None:
    database = SqliteStore(tmp_path / "s")
    for error in (
        sqlite_error(sqlite3.SQLITE_ERROR, "Could not decode to UTF-8 column 'id'"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
    ):
        with (
            pytest.raises(StoreError, match="is damaged: a text is not UTF-8") as told,
            database._errors(),
        ):
            raise error
        assert "restore a backup" in str(told.value.hint)
    with pytest.raises(StoreError, match="the disk is full"), database._errors():
        raise sqlite_error(sqlite3.SQLITE_FULL)


def test_a_store_is_not_read_without_its_log(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with store_with_run(path) as store:
        # While the log is left out, the copy has no run.
        alone = Path(shutil.copy(path, tmp_path / "copy"))
    with open_store(str(alone)) as store:
        assert store.runs() == []
    alone.with_name("copy-wal").mkdir()
    with open_store(str(alone)) as store, pytest.raises(StoreError, match="cannot be opened"):
        store.runs()


@pytest.mark.parametrize(
    ("number", "cause", "hint"),
    [
        (errno.ENOSPC, "the disk is full", "make room on it"),
        (errno.EDQUOT, "the disk is full", "make room on it"),
        (errno.ENOENT, "cannot be written: its directory is gone", "look where"),
        (errno.EACCES, "cannot be written: Permission denied", "check the owner"),
        (errno.EPERM, "cannot be written: Operation not permitted", "check the owner"),
        (errno.EROFS, "cannot be written: Read-only file system", "remount its file system"),
        (errno.EIO, "Input/output error", "check the system log"),
    ],
)
def test_a_series_that_cannot_be_written_gives_the_reason_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cause: str, hint: str
) -> None:
    files = SeriesFiles(tmp_path / "s")
    path = files.path("run", 0, "readings")

    def failing(directory: Path) -> None:
        if directory == path.parent:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(series_files, "sync_directory", failing)
    with pytest.raises(StoreError) as told:
        files.write("run", 0, READINGS)
    assert told.value.message == f"{path}: {cause}"
    assert str(told.value.hint).startswith(hint)
    assert list(path.parent.iterdir()) == []


def test_a_series_is_never_written_over_another_file(tmp_path: Path) -> None:
    files = SeriesFiles(tmp_path / "s")
    path = files.path("run", 0, "readings")
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        files.write("run", 0, READINGS)
    assert (path.read_text(), [one.name for one in path.parent.iterdir()]) == ("mine", [path.name])


def test_a_written_series_is_on_disk_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted(descriptor: int) -> None:
        done.append(f"sync {Path(f'/proc/self/fd/{descriptor}').readlink()}")
        fsync(descriptor)

    def named(path: str, target: str, **more: int) -> None:
        done.append("name")
        replace(path, target, **more)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", named)
    folder = tmp_path / "s.series"
    SeriesFiles(tmp_path / "s").write("run", 0, READINGS)
    assert done == [
        f"sync {tmp_path}",
        f"sync {folder}",
        f"sync {folder / 'run' / '0-readings.parquet.new'}",
        "name",
        f"sync {folder / 'run'}",
    ]


def test_cleanup_removes_matching_files_and_empty_folders(tmp_path: Path) -> None:
    files = SeriesFiles(tmp_path / "s")
    for number in (0, 1):
        files.write("run", number, READINGS)
    folder = files.path("run", 0, "readings").parent
    (folder / "3-a.parquet.new").touch()
    (folder / "x-a.parquet").touch()
    files.tidy("run", {(1, "readings"), (0, "other")})
    assert sorted(one.name for one in folder.iterdir()) == ["1-readings.parquet", "x-a.parquet"]
    files.tidy("no-such-run", set())
    files.remove("run", 1, ["readings", "gone"])
    files.remove_empty_folders("run")
    assert folder.exists()
    (folder / "x-a.parquet").unlink()
    files.remove_empty_folders("run")
    assert not files.directory.exists()
    folder.parent.write_text("in the way")
    with pytest.raises(StoreError, match="Not a directory"):
        files.tidy("run", set())


def test_only_regular_files_are_opened_and_a_swap_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo, regular = tmp_path / "fifo", tmp_path / "regular"
    os.mkfifo(fifo)
    regular.touch()
    opened: list[object] = []
    with monkeypatch.context() as patch:
        real = os.open
        patch.setattr(os, "open", lambda *a: opened.append(a) or real(*a))
        with pytest.raises(StoreError, match="a store is a regular file"):
            check_header(fifo)
    assert opened == []
    assert not check_header(regular / "below-a-file")
    facts = regular.stat()
    with monkeypatch.context() as patch:
        patch.setattr(schema.Path, "stat", lambda self: facts)
        with pytest.raises(StoreError, match="a store is a regular file"):
            check_header(fifo)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "afs", "ceph"])
def test_shares_of_other_machines_are_refused_and_unknown_ones_are_not(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr("lanlab.linux.MOUNTS", mounts)
    refuse_network_share(tmp_path / "s")
    mounts.write_text("1 0 8:1 / / rw - ext4 d rw\n")
    refuse_network_share(tmp_path / "s")
    mounts.write_text(f"1 0 8:1 / / rw - {kind} d rw\n")
    with pytest.raises(StoreError, match=rf"is on a network share \({kind}\)"):
        refuse_network_share(tmp_path / "s")


def test_the_doctor_names_what_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    with open_store(str(path)) as store:
        store.start_run(a_run()).release()
    shut: set[Path] = set()
    monkeypatch.setattr(os, "access", lambda one, mode: mode == os.W_OK and Path(one) not in shut)
    for each, where in ((path, path), (tmp_path, path), (tmp_path, tmp_path / "new" / "er" / "s")):
        shut.clear()
        assert readiness(str(where)).is_usable
        shut.add(each)
        found = readiness(str(where))
        assert (found.is_usable, found.detail) == (False, f"{each} cannot be written")
        assert found.how_to_get.startswith("check its owner and mode")


def test_a_busy_lease_is_retried_and_its_holder_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, waits = [100.0], []

    def sleep(duration_s: float) -> None:
        waits.append(duration_s)
        now[0] += duration_s

    monkeypatch.setattr(lease.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(lease.time, "sleep", sleep)
    path = tmp_path / "lock"
    held = lease.acquire(path, "run `r`")
    assert lease.is_held(path) and waits == []
    with pytest.raises(StoreError, match="run `r` is still running in another process"):
        lease.acquire(path, "run `r`", patience_s=1.0)
    assert 1.0 <= sum(waits) <= 1.01 and len(waits) > 20
    held.release()
    held.release()
    assert not path.exists() and not lease.is_held(path)
    path.touch()
    assert not lease.is_held(path), "a file that is not locked holds nothing"
    lease.acquire(path, "run `r`").release()


@pytest.mark.parametrize("kind", ["text", "folder"])
def test_a_foreign_file_is_not_mistaken_for_a_lease(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    if kind == "text":
        path.write_text("mine")
    else:
        path.mkdir()
    assert not lease.is_held(path)
    with pytest.raises(lease.NoLockFile, match=str(path)):
        lease.acquire(path, "run `r`")
    assert path.exists()


def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(StoreError, match="has no locks: No locks available") as told:
        lease.acquire(tmp_path / "lock", "run `r`")
    assert "local disk" in str(told.value.hint)


def test_json_is_written_without_blanks_and_the_time_with_microseconds_and_its_zone() -> None:
    assert to_json({"a": [1, 2.5, None, True, "µ"], "b": ()}, "x") == (
        '{"a":[1,2.5,null,true,"\\u00b5"],"b":[]}'
    )
    assert len(utc_now()) == len("2026-11-21T08:15:00.000001+00:00")
    assert utc_now().endswith("+00:00")


def test_a_prefix_finds_a_run_only_if_it_is_not_a_run_id(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "s")) as store:
        for number in range(10, 17):
            store.start_run(a_run(id=f"{number}-run")).release()
        store.start_run(a_run(id="10")).release()
        assert store.run("10").id == "10"
        assert store.run("11").id == "11-run"
        with pytest.raises(UnknownName, match="no run named `zzzz`") as refused:
            store.run("zzzz")
    for name in ("13-run", "14-run", "15-run", "16-run", "`10`"):
        assert name.strip("`") in f"{refused.value.message} {refused.value.hint}"
    assert "12-run" not in f"{refused.value.message} {refused.value.hint}"
