"""A store that somebody else made or damaged is refused in a sentence, and never changed."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_samples import RUN, a_run, a_trial, store_with_run

from lanlab.errors import LabError, StoreError
from lanlab.store import open_store
from lanlab.store.shape import reading_records


def good_store(path: Path, trials: int = 12) -> bytes:
    with store_with_run(path) as store:
        for number in range(trials):
            store.commit_trial(a_trial(number, raw={"readings": list(range(200))}))
        store.finish_run(RUN.id, "done")
    assert not path.with_name(f"{path.name}-wal").exists(), "all of it is in the file"
    return path.read_bytes()


def read_all(path: Path) -> str | None:
    """What is wrong with a store, or `None`: whatever can be read of it is read."""
    try:
        with open_store(str(path)) as store:
            for run in (*store.runs(), store.run("last")):
                store.trials(run.id)
                for trial in store.outlines(run.id):
                    with reading_records(run.id):
                        dict(trial.raw)
                store.is_executing(run.id)
    except LabError as error:
        assert len(error.message) < 600
        return error.message
    return None


def unchanged(path: Path, octets: bytes) -> bool:
    """Whether a file is as it was, and nothing but lock files is left beside it."""
    beside = {one.name for one in path.parent.iterdir()} - {path.name}
    return path.read_bytes() == octets and all(name.endswith(".lock") for name in beside)


@pytest.fixture(scope="module")
def octets(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return good_store(tmp_path_factory.mktemp("good") / "store.sqlite")


def test_the_unmodified_store_is_valid(tmp_path: Path, octets: bytes) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(octets)
    assert read_all(path) is None
    assert unchanged(path, octets)


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_truncated_store_is_refused(tmp_path: Path, octets: bytes, data: st.DataObject) -> None:
    length = data.draw(st.integers(1, len(octets) - 1) | st.sampled_from([1, 99, 100, 4095, 4096]))
    path = tmp_path / "store.sqlite"
    path.write_bytes(octets[:length])
    assert read_all(path) is not None
    assert path.read_bytes() == octets[:length]


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_store_with_bytes_changed_is_read_or_refused(
    tmp_path: Path, octets: bytes, data: st.DataObject
) -> None:
    places = st.integers(0, len(octets) - 1) | st.integers(0, 4200)
    changed = bytearray(octets)
    for place in data.draw(st.lists(places, min_size=1, max_size=8)):
        changed[place] = data.draw(st.integers(0, 255))
    # An older schema is carried forward, which changes the file: that is asked for elsewhere.
    changed[60:64] = octets[60:64]
    path = tmp_path / "store.sqlite"
    path.write_bytes(changed)
    read_all(path)
    assert path.read_bytes() == changed


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300) | st.binary(max_size=200).map(b"SQLite format 3\0".__add__))
def test_a_file_of_any_bytes_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(content)
    assert read_all(path) is not None
    assert path.read_bytes() == content


def test_a_journal_that_names_another_file_is_refused(tmp_path: Path, octets: bytes) -> None:
    """SQLite would remove the named file: the name is before the journal's last eight bytes."""
    path = tmp_path / "store.sqlite"
    path.write_bytes(octets)
    first = bytes.fromhex("d9d505f920a163d7")
    journal = tmp_path / "store.sqlite-journal"
    journal.write_bytes(first + bytes(504) + first)
    assert read_all(path) is not None
    assert (path.read_bytes(), journal.stat().st_size) == (octets, 520)


@pytest.fixture
def spoilt(tmp_path: Path, octets: bytes) -> Iterator[Callable[[str], Path]]:
    def spoil(sql: str) -> Path:
        path = tmp_path / "store.sqlite"
        path.write_bytes(octets)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON;")
            connection.executescript(sql)
        return path

    yield spoil


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
OBJECTS = {
    "an endless view for runs": f"""
        ALTER TABLE run RENAME TO old; CREATE VIEW run AS {ENDLESS}
        SELECT x AS sequence, 'r' || x AS id, 's' AS study_id, '{{}}' AS study, 'q' AS scale,
        1 AS seed, '{{}}' AS testbed, '{{}}' AS versions, 'done' AS status, '' AS started_at,
        '' AS ended_at FROM n;""",
    "a trigger that loads a library": """
        CREATE TRIGGER t AFTER INSERT ON trial BEGIN SELECT load_extension('/tmp/x'); END;""",
    "a trigger that removes": """
        CREATE TRIGGER t BEFORE UPDATE ON run BEGIN DELETE FROM run; END;""",
    "a trigger that was changed": """
        DROP TRIGGER trial_is_never_changed;
        CREATE TRIGGER trial_is_never_changed BEFORE UPDATE ON trial BEGIN SELECT 1; END;""",
    "no trigger": "DROP TRIGGER trial_is_never_removed;",
    "another table": "CREATE TABLE more (x);",
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(x);",
    "another column": "ALTER TABLE run ADD COLUMN extra TEXT;",
    "an index by a function": "CREATE INDEX i ON run (upper(id));",
    "a generated column": "ALTER TABLE run ADD COLUMN g AS (zeroblob(1000000000));",
    "no table": "DROP TABLE trial;",
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_store_with_a_program_in_it_is_refused(spoilt: Callable[[str], Path], name: str) -> None:
    try:
        path = spoilt(OBJECTS[name])
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite does not make such a store: {error}")
    octets = path.read_bytes()
    said = read_all(path)
    assert said is not None
    assert "not a lanlab store" in said
    with open_store(str(path)) as store, pytest.raises(StoreError):
        store.start_run(a_run(id="another")).release()
    assert unchanged(path, octets)


def free(sql: str) -> str:
    guards = """
        CREATE TRIGGER trial_is_never_changed BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'a trial is never changed'); END;"""
    return f"DROP TRIGGER trial_is_never_changed; {sql}; {guards}"


DEEP = "[" * 100_000
VALUES: dict[str, tuple[str, Any]] = {
    "no JSON": ("raw", "{"),
    "JSON of a list": ("raw", "[]"),
    "JSON of a text": ("metrics", '"fast"'),
    "deep JSON": ("raw", DEEP),
    "NaN": ("metrics", '{"goodput_bps": NaN}'),
    "infinite": ("metrics", '{"goodput_bps": 1e999}'),
    "very huge": ("metrics", '{"goodput_bps": ' + 5_000 * "9" + "}"),
    "a metric that is a text": ("metrics", '{"goodput_bps": "=cmd|x"}'),
    "a metric that is a truth": ("metrics", '{"goodput_bps": true}'),
    "a metric that is nothing": ("metrics", '{"goodput_bps": null}'),
    "a level that is a list": ("factors", '{"rate_bps": [1]}'),
    "an error that is a text": ("error", '"no"'),
    "octets for a text": ("workload", b"\xff\xfe"),
    "octets for JSON": ("raw", b"{}"),
    "a text for a time": ("elapsed_s", "soon"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_record_of_another_shape_is_refused(spoilt: Callable[[str], Path], name: str) -> None:
    column, value = VALUES[name]
    literal = f"x'{value.hex()}'" if isinstance(value, bytes) else f"'{value}'"
    path = spoilt(free(f"UPDATE trial SET {column} = {literal} WHERE number = 3"))
    octets = path.read_bytes()
    said = read_all(path)
    assert said is not None
    assert unchanged(path, octets)


@pytest.mark.parametrize(
    "run_id", ["../../../etc/x", "a/b", "last", "", "-x", "a\u001b[2J", "x" * 300, "..", "a\0b"]
)
def test_a_run_whose_id_cannot_be_a_file_name_is_refused(
    spoilt: Callable[[str], Path], run_id: str
) -> None:
    path = spoilt("PRAGMA foreign_keys = OFF;")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE run SET id = ?", (run_id,))
    octets = path.read_bytes()
    with open_store(str(path)) as store:
        with pytest.raises(StoreError, match="an invalid id"):
            store.runs()
        with pytest.raises(LabError):
            store.is_executing("last")
    assert unchanged(path, octets)


def test_a_value_above_64_mib_is_refused(spoilt: Callable[[str], Path]) -> None:
    text = "'{\"more\": \"' || replace(hex(zeroblob(33554500)), '0', 'x') || '\"}'"
    path = spoilt(free(f"UPDATE trial SET raw = {text} WHERE number = 3"))
    said = read_all(path)
    assert said is not None
    assert "too big" in said


def test_the_malformed_samples_are_valid_json() -> None:
    assert json.loads(json.dumps(RUN.study)) == RUN.study
