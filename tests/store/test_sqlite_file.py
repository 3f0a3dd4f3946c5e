"""The file of a store in SQLite: made, judged, carried forward, never harmed."""

import os
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError, UsageError
from lanlab.store import default_store, open_store, sqlite
from lanlab.store.schema import APPLICATION_ID, SCHEMA_VERSION


def header(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    return struct.unpack(">I", data[60:64])[0], struct.unpack(">I", data[68:72])[0]


def files(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in directory.iterdir()}


def test_the_first_write_makes_the_folders_and_one_file_of_our_format(tmp_path: Path) -> None:
    where = tmp_path / "new" / "deep" / "store.sqlite"
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0))
    with open_store(str(where)) as store:
        store.trials("last")

    assert header(where) == (SCHEMA_VERSION, APPLICATION_ID)
    assert list(files(where.parent)) == ["store.sqlite"]


def test_every_commit_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`synchronous` is FULL (2) where the file is made and where it is written: NORMAL loses the
    last trials with the power, and nothing else shows it."""
    levels: list[int] = []

    class Noted(sqlite3.Connection):
        def close(self) -> None:
            levels.extend(self.execute("PRAGMA synchronous").fetchone())
            super().close()

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, factory=Noted, **k))
    with store_with_run(tmp_path / "s") as store:
        store.commit_trial(a_trial(0))
    assert len(levels) >= 2 and set(levels) == {2}


def test_trials_cannot_be_changed_or_removed_even_by_sql(tmp_path: Path) -> None:
    with store_with_run(tmp_path / "s") as store:
        store.commit_trial(a_trial(0))
    connection = sqlite3.connect(tmp_path / "s")
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        connection.execute("UPDATE trial SET elapsed_s = 1")
    with pytest.raises(sqlite3.IntegrityError, match="never removed"):
        connection.execute("DELETE FROM trial")
    connection.close()


def write_text(path: Path) -> None:
    path.write_text("goodput,loss\n" * 50)


def write_short(path: Path) -> None:
    write_newer(path, 0)
    path.write_bytes(path.read_bytes()[:99])


def write_other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (name)")
    connection.close()


def write_newer(path: Path, by: int = 1) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + by}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def write_older(path: Path) -> None:
    write_newer(path, -1)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (write_text, "not an SQLite file"),
        (write_short, "not an SQLite file"),
        (write_other_database, "an SQLite file of another program"),
        (write_newer, f"has schema version {SCHEMA_VERSION + 1}; this lanlab knows version"),
        (write_older, f"has schema version {SCHEMA_VERSION - 1}; this lanlab knows version"),
        (Path.mkdir, "is a directory"),
    ],
)
def test_a_foreign_file_is_refused_and_not_changed(
    tmp_path: Path, write: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "store.sqlite"
    write(path)
    before = files(tmp_path) if path.is_file() else {}
    with pytest.raises(StoreError, match=message) as caught:
        open_store(str(path))

    assert caught.value.hint is not None
    assert not path.is_file() or files(tmp_path) == before


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        # The name of a socket is short.
        here = Path.cwd()
        os.chdir(path.parent)
        listening.bind(path.name)
        os.chdir(here)


def make_null_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, Path("/dev/null").stat().st_rdev)
    except PermissionError:
        pytest.skip("devices are made by root")


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_null_device])
@pytest.mark.parametrize("linked", [False, True])
def test_only_a_regular_file_is_a_store(
    tmp_path: Path, make: Callable[[Path], None], linked: bool
) -> None:
    path = tmp_path / "special"
    make(path)
    before = path.lstat()
    named = path
    if linked:
        named = tmp_path / "link"
        named.symlink_to(path)
    with pytest.raises(StoreError, match="a store is a regular file") as caught:
        open_store(str(named))
    assert caught.value.hint is not None
    assert path.lstat() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == (["link"] if linked else []) + ["special"]


def test_records_go_to_the_target_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "store.sqlite"
    link.symlink_to(tmp_path / "disk" / "real.sqlite")
    for number in (0, 1):
        with open_store(str(link)) as store:
            if number == 0:
                store.start_run(a_run()).release()
            store.commit_trial(a_trial(number))
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["real.sqlite"]
    with open_store(str(tmp_path / "disk" / "real.sqlite")) as store:
        assert len(store.trials("last")) == 2


def test_circular_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(StoreError, match="cannot be read"):
        open_store(str(tmp_path / "a"))


def test_an_empty_file_becomes_a_store_and_keeps_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(sqlite, "sync_directory", synced.append)
    path = tmp_path / "s"
    path.touch()
    path.chmod(0o640)
    with open_store(str(path)) as store:
        with pytest.raises(StoreError, match="no results yet"):
            store.runs()
        store.start_run(a_run()).release()
        assert store.runs() == [a_run()]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert header(path) == (SCHEMA_VERSION, APPLICATION_ID)
    assert synced == [tmp_path]


@pytest.mark.parametrize("suffix", [".lock", ".new", f".{a_run().id}.lock"])
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "fifo"])
def test_a_users_file_next_to_a_store_is_never_removed(
    tmp_path: Path, suffix: str, kind: str
) -> None:
    (tmp_path / "elsewhere").write_text("mine")
    path = tmp_path / f"s{suffix}"
    if kind == "file":
        path.write_text("mine")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    before = path.lstat()
    with open_store(str(tmp_path / "s")) as store, pytest.raises(StoreError) as caught:
        store.start_run(a_run()).release()
        store.acquire_run(a_run().id)
    assert str(path) in caught.value.message
    after = path.lstat()
    assert (after.st_ino, after.st_mode, after.st_size) == (
        before.st_ino,
        before.st_mode,
        before.st_size,
    )
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_a_newer_version_in_the_write_ahead_log_is_refused(tmp_path: Path) -> None:
    where = str(tmp_path / "s")
    with open_store(where) as store:
        store.start_run(a_run()).release()
    newer = sqlite3.connect(where)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.commit()
    assert header(Path(where))[0] == SCHEMA_VERSION
    with (
        open_store(where) as store,
        pytest.raises(StoreError, match="schema version 9"),
    ):
        store.runs()
    newer.close()


def test_a_damaged_store_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with open_store(str(path)) as store:
        store.start_run(a_run()).release()
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    with open_store(str(path)) as store, pytest.raises(StoreError, match=r"damaged|not an SQLite"):
        store.runs()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("https://example.org/x", "no store of the kind `https://`"),
        ("", "empty"),
        ("sqlite://", "empty"),
        ("a\0b", "NUL"),
    ],
)
def test_a_url_of_another_kind_is_refused(where: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_store(where)


def test_the_default_is_a_folder_here_or_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LANLAB_STORE", "")
    assert default_store() == "lanlab-results/store.sqlite"
    monkeypatch.setenv("LANLAB_STORE", "/data/lab.sqlite")
    assert default_store() == "/data/lab.sqlite"


def test_a_network_share_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 8:1 / / rw - ext4 d rw\n2 1 0:9 / {tmp_path} rw - nfs4 srv:/h rw\n")
    monkeypatch.setattr("lanlab.linux.MOUNTS", mounts)
    with open_store(str(tmp_path / "s")) as store, pytest.raises(StoreError, match=r"\(nfs4\)"):
        store.start_run(a_run()).release()
    assert not (tmp_path / "s").exists()


def test_an_interrupted_creation_is_repeated(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "other")) as other:
        other.start_run(a_run()).release()
        other.delete_run("last")
    (tmp_path / "other").rename(tmp_path / "s.new")
    (tmp_path / "s.lock").touch()
    with store_with_run(tmp_path / "s") as store:
        assert store.runs() == [a_run()]
    assert list(files(tmp_path)) == ["s"]


def test_a_store_that_appears_during_the_creation_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.sqlite"
    with open_store(str(there)) as store:
        store.start_run(a_run()).release()
    fill = sqlite.SqliteStore._fill

    def slowly(self: sqlite.SqliteStore, unfinished: Path) -> None:
        fill(self, unfinished)
        self.path.write_bytes(there.read_bytes())

    monkeypatch.setattr(sqlite.SqliteStore, "_fill", slowly)
    with open_store(str(tmp_path / "store.sqlite")) as store:
        store.start_run(a_run(id="another")).release()
        assert len(store.runs()) == 2


def test_a_copied_store_with_runs_is_never_mistaken_for_an_unfinished_one(tmp_path: Path) -> None:
    copy = tmp_path / "s.new"
    with open_store(str(copy)) as other:
        other.start_run(a_run()).release()
    before = copy.read_bytes()
    taken = pytest.raises(StoreError, match="which is taken")
    with open_store(str(tmp_path / "s")) as store, taken:
        store.start_run(a_run()).release()
    assert copy.read_bytes() == before and not (tmp_path / "s").exists()


def test_sqlite_is_loaded_on_first_use() -> None:
    code = "import sys, lanlab.store; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
