"""Stores that older versions made are read with all that is in them."""

import gzip
import json
import sqlite3
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_disks import on_mount
from store_samples import a_trial

from lanlab.errors import StoreError, UnknownName, UsageError
from lanlab.roles import ROLES
from lanlab.store import Series, TrialRecord, Words, open_store, sqlite
from lanlab.store.rows import TRIAL_COLUMNS
from lanlab.store.schema import MIGRATIONS

OLD_STORES = Path(__file__).parent / "old_stores"
_JSON = ("factors", "parameters", "metrics", "raw", "error")


def unpacked(version: int, folder: Path) -> Path:
    path = folder / "old.sqlite"
    if version < 3:
        with gzip.open(OLD_STORES / f"schema-{version}.sqlite.gz") as packed:
            path.write_bytes(packed.read())
    else:
        # With the files of its series.
        with tarfile.open(OLD_STORES / f"schema-{version}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (version,)
    connection.close()
    return path


@pytest.fixture(params=[1, 2, 3, 4, 5, 6])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(request.param, tmp_path)


@pytest.fixture(params=[1, 2])
def without_series(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store of each version that had its series within the records."""
    return unpacked(request.param, tmp_path)


def trials_in(path: Path) -> list[TrialRecord]:
    """The trials of a store file, read without the code that is tested."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    found = connection.execute("SELECT * FROM trial ORDER BY number").fetchall()
    connection.close()
    records = []
    for row in found:
        fields: dict[str, Any] = {name: row[name] for name in TRIAL_COLUMNS}
        for name in _JSON:
            fields[name] = None if row[name] is None else json.loads(row[name])
        records.append(TrialRecord(**fields))
    return records


def with_its_roles(trial: TrialRecord) -> TrialRecord:
    if "source" not in trial.raw:
        return trial
    first, second = ROLES[trial.workload]
    raw, setup = dict(trial.raw), dict(trial.raw["setup"])
    names = {"connector": first, "listener": second}
    setup["capabilities"] = {names[end]: can for end, can in setup["capabilities"].items()}
    setup["requests"] = {role: setup.pop(f"{end}_request") for end, role in names.items()}
    for moment in ("before", "after"):
        if moment in (setup.get("clocks") or {}):
            known = setup["clocks"][moment]
            renamed = {names.get(key, key): value for key, value in known.items()}
            setup["clocks"] = {**setup["clocks"], moment: renamed}
    raw |= {"setup": setup, first: raw.pop("source"), second: raw.pop("target")}
    if "pollution" in raw:
        ends = {"source": first, "target": second}
        found = [{**each, "end": ends[each["end"]]} for each in raw["pollution"]["findings"]]
        raw["pollution"] = {**raw["pollution"], "findings": found}
    return replace(trial, raw=raw)


def values(series: Series) -> dict[str, list[Any]]:
    """The values of each column that has numbers, `None` where there is none."""
    return {
        name: column.tolist()
        for name, column in series.columns.items()
        if not isinstance(column, Words)
    }


def test_migration_keeps_every_trial(old: Path) -> None:
    before = trials_in(old)
    assert len(before) >= 3
    run_id = before[0].run_id

    with open_store(str(old)) as store:
        read = store.trials("last")
        assert read == store.outlines("last") == [with_its_roles(trial) for trial in before]
        assert (store.run("last").id, store.run("last").study_id) == (run_id, "small")
        new = a_trial(9, run_id=run_id, purpose="curve")
        store.commit_trial(new)

    with open_store(str(old)) as store:
        assert store.trials("last") == [*map(with_its_roles, before), new]
    assert trials_in(old) == [*before, new]


def test_interval_series_within_records_are_read_like_any_other(without_series: Path) -> None:
    before = trials_in(without_series)
    with open_store(str(without_series)) as store:
        for trial in map(with_its_roles, before):
            told = trial.raw[ROLES[trial.workload][1]].get("intervals")
            series = store.series("last", trial.number)
            assert tuple(series) == store.series_names("last", trial.number)
            if told is None:
                assert series == {}
                continue
            (found,) = series.values()
            columns = values(found)
            assert found.name == "receiver-intervals"
            assert columns["bytes"] == told["bytes"]
            assert columns["messages"] == (told["messages"] or [None] * len(told["bytes"]))
            assert columns["start_ns"] == [
                place * told["interval_ns"] for place in range(len(told["bytes"]))
            ]
        assert any(store.series_names("last", trial.number) for trial in before)
        with pytest.raises(UnknownName):
            store.series("last", 0, ["readings"])
        with pytest.raises(UsageError, match="has no trial 77"):
            store.series("last", 77)


@pytest.mark.parametrize("version", [3, 4])
def test_series_in_files_are_read_and_deleted_with_their_run(version: int, tmp_path: Path) -> None:
    """What schemas 3 and 4 kept beside the store; runs of 3 have no command."""
    path = unpacked(version, tmp_path)
    with open_store(str(path)) as store:
        run = store.run("last")
        assert (run.command is None) == (version == 3)
        assert run.alternation is None
        assert store.series_names(run.id, 0) == ("target-intervals",)
        assert sum(values(store.series(run.id, 0)["target-intervals"])["bytes"]) > 0
        deleted = store.delete_run(run.id)
        assert (deleted.trials, deleted.series) == (3, 2)
        assert store.runs() == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.sqlite"]


def test_an_interrupted_migration_leaves_the_old_store(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = sqlite3.connect(old).execute("PRAGMA user_version").fetchone()
    step = f"{MIGRATIONS[7]} SELECT no_such_function();"
    monkeypatch.setattr(sqlite, "MIGRATIONS", {**MIGRATIONS, 7: step})
    with open_store(str(old)) as store, pytest.raises(StoreError):
        store.runs()
    connection = sqlite3.connect(old)
    assert connection.execute("PRAGMA user_version").fetchone() == (max(version, 6),)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "trial" in tables and "digest" not in tables
    connection.close()
    monkeypatch.undo()
    with open_store(str(old)) as store:
        assert store.outlines("last") == store.trials("last")


def test_migration_keeps_the_triggers(old: Path) -> None:
    with open_store(str(old)) as store:
        store.runs()
    connection = sqlite3.connect(old)

    for statement in ("UPDATE trial SET block = 7", "DELETE FROM trial"):
        with pytest.raises(sqlite3.IntegrityError, match="a trial is never"):
            connection.execute(statement)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute(
            "INSERT INTO trial SELECT run_id, 9, experiment, workload, factors, parameters, block, "
            "'other', status, started_at, elapsed_s, metrics, raw, error FROM trial LIMIT 1"
        )
    connection.close()


def test_a_read_only_old_store_is_read_unchanged(old: Path) -> None:
    code = """
import subprocess, sys
from lanlab.store import open_store
subprocess.run(["mount", "-o", "remount,bind,ro", sys.argv[1]], check=True)
with open_store(sys.argv[2]) as store:
    print(len(store.trials("last")), len(store.series("last", 0)))
"""
    before, names = old.read_bytes(), {path.name for path in old.parent.iterdir()}
    said = on_mount(["--bind", str(old.parent)], old.parent, code, str(old))

    assert said.split() == [str(len(trials_in(old))), "1"]
    assert old.read_bytes() == before
    assert {path.name for path in old.parent.iterdir()} == names
