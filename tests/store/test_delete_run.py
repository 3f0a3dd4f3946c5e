"""A run is deleted whole, with its series, and nothing else is."""

import sqlite3
from pathlib import Path

import pytest
from store_samples import a_run, a_trial

from lanlab.errors import StoreError, UnknownName
from lanlab.store import Series, open_store

OTHER = "20261122-081500-other-aaaa"
READINGS = Series("readings", {"start_ns": [1, 2, 3]})


def filled(where: str) -> None:
    with open_store(where) as store:
        for run_id in (a_run().id, OTHER):
            store.start_run(a_run(id=run_id)).release()
            with store.acquire_run(run_id):
                store.commit_trial(a_trial(0, run_id=run_id), [READINGS])
                store.commit_trial(a_trial(1, run_id=run_id))


def test_deleting_a_run_removes_its_trials_and_series_only(where: str) -> None:
    filled(where)
    with open_store(where) as store:
        deleted = store.delete_run(a_run().id)

    assert (deleted.run_id, deleted.trials, deleted.series) == (a_run().id, 2, 1)
    with open_store(where) as store:
        assert [run.id for run in store.runs()] == [OTHER]
        assert len(store.trials(OTHER)) == 2
        assert list(store.series(OTHER, 0)["readings"].columns["start_ns"]) == [1, 2, 3]
        with pytest.raises(UnknownName):
            store.trials(a_run().id)
        store.start_run(a_run()).release()
        assert store.trials(a_run().id) == []


def test_a_running_run_is_not_deleted(where: str) -> None:
    filled(where)
    with open_store(where) as executing, open_store(where) as store:
        with executing.acquire_run(OTHER), pytest.raises(StoreError, match="still running"):
            store.delete_run(OTHER)
        assert len(store.trials(OTHER)) == 2
        assert store.delete_run(OTHER).trials == 2


def test_deleting_a_run_removes_only_its_files(tmp_path: Path) -> None:
    where = tmp_path / "store.sqlite"
    filled(str(where))
    folder = tmp_path / "store.sqlite.series"
    (folder / a_run().id / "notes.txt").write_text("mine")
    with open_store(str(where)) as store:
        store.delete_run(a_run().id)
        assert [path.name for path in (folder / a_run().id).iterdir()] == ["notes.txt"]
        assert [path.name for path in (folder / OTHER).iterdir()] == ["0-readings.parquet"]
        store.delete_run(OTHER)
    assert not (folder / OTHER).exists()
    assert {path.name for path in tmp_path.iterdir()} == {"store.sqlite", folder.name}


def test_the_database_forbids_trials_without_a_run(tmp_path: Path) -> None:
    where = tmp_path / "store.sqlite"
    filled(str(where))
    connection = sqlite3.connect(where, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    for table in ("trial", "series"):
        with pytest.raises(sqlite3.IntegrityError, match="never removed"):
            connection.execute(f"DELETE FROM {table}")
    connection.execute("BEGIN")
    connection.execute("PRAGMA defer_foreign_keys = ON")
    connection.execute("DELETE FROM run WHERE id = ?", [OTHER])
    connection.execute("DELETE FROM series WHERE run_id = ?", [OTHER])
    connection.execute("DELETE FROM trial WHERE run_id = ? AND number = 0", [OTHER])
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        connection.execute("COMMIT")
    connection.close()
