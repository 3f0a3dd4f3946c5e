"""Series come back as they went in, whole or not at all, from stores of either kind."""

import array
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import ran
from store_samples import a_run, a_trial, store_with_run

from lanlab import __version__
from lanlab.errors import StoreError, UnknownName
from lanlab.store import Series, open_store, parquet
from lanlab.store.series import BLOCK_ROWS, Numbers

READINGS = Series(
    "readings",
    {
        "start_ns": np.arange(5, dtype=np.int64) * 10**12,
        "time_ns": np.array([7, 2**40, 2**64 - 1, 0, 3], np.uint64),
        "share": np.array([0.1, -0.0, 1e300, 5e-324, 2.0]),
        "small": np.array([1, 2, 3, 4, 255], np.uint8),
    },
    {"start_ns": "ns", "time_ns": "ns"},
)
ODD = Series("odd", {"n": np.zeros(0, np.int32), "x": np.zeros(0, np.float32)})


def values(series: Series) -> dict[str, tuple[str, list[Any]]]:
    return {name: (str(column.dtype), column.tolist()) for name, column in series.columns.items()}


def test_series_round_trip(where: str) -> None:
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0), [READINGS, ODD])
        store.commit_trial(a_trial(1))

    with open_store(where) as store:
        found = store.series("last", 0)
        assert store.series_names("last", 0) == ("odd", "readings") == tuple(found)
        for series in (READINGS, ODD):
            assert values(found[series.name]) == values(series)
            assert found[series.name].units == series.units
            assert found[series.name].rows == series.rows
        assert list(store.series("last", 0, ["odd"])) == ["odd"]
        assert store.series("last", 1) == {}
        with pytest.raises(UnknownName, match="no series named `reading`"):
            store.series("last", 0, ["reading"])
        assert store.trials("last") == [a_trial(0), a_trial(1)]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
@settings(max_examples=40)
def test_any_series_round_trips_through_a_file(numbers: list[int]) -> None:
    """In columns of every type, as our reader and pyarrow read them."""
    whole = np.array(numbers, np.int64)
    kinds = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    columns = {kind: whole.astype(kind) for kind in (*kinds, "float32", "float64")}
    series = Series("s", columns, {"int8": "ns"}, {"every": "10"})
    file = io.BytesIO()
    entry = parquet.write(series, file, {})
    file.seek(0)
    parquet.check(file, entry, "file")

    found = parquet.read(file, "file")
    assert values(found) == values(series)
    assert (found.units, found.facts) == (series.units, series.facts)
    with pyarrow.parquet.ParquetFile(file) as opened:
        table = opened.read()
    assert {f.name: str(f.type.to_pandas_dtype().__name__) for f in table.schema} == {
        name: name for name in columns
    }
    assert table.to_pydict() == {name: column.tolist() for name, column in columns.items()}


def of_pyarrow(columns: dict[str, Any], **settings: Any) -> io.BytesIO:
    """As lanlab once wrote series."""
    file, about = io.BytesIO(), {"lanlab.series": "s", "lanlab.units": '{"n": "ns"}', "every": "2"}
    table = pyarrow.table(columns).replace_schema_metadata(about)
    packed: dict[str, Any] = {"compression": "zstd", "use_dictionary": False, **settings}
    pyarrow.parquet.write_table(table, file, **packed)
    return file


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000, 300_000])
def test_series_that_pyarrow_wrote_are_read(rows: int) -> None:
    numbers = np.arange(rows, dtype=np.int64) * 3
    columns = {"n": numbers, "u": (numbers % 256).astype(np.uint8), "x": numbers / 7}
    file = of_pyarrow({**columns, "none": pyarrow.nulls(rows, pyarrow.int64())})
    found = parquet.read(file, "file")
    assert (found.name, found.units, found.facts) == ("s", {"n": "ns"}, {"every": "2"})
    missing = found.columns.pop("none")  # type: ignore[attr-defined]
    assert missing.tolist() == [None] * rows
    assert values(found) == values(Series("s", columns))


@pytest.mark.parametrize(
    ("columns", "settings"),
    [
        ({"n": [1, None, 3]}, {}),
        ({"n": ["x"]}, {}),
        ({"n": [True]}, {}),
        ({"n": [[1]]}, {}),
        ({"n": [1]}, {"use_dictionary": True}),
        ({"n": [1]}, {"compression": "snappy"}),
        ({"n": [1]}, {"data_page_version": "2.0"}),
        ({"n": [1]}, {"column_encoding": "DELTA_BINARY_PACKED"}),
    ],
)
def test_other_columns_are_refused(columns: dict[str, Any], settings: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="file: not a lanlab series"):
        parquet.read(of_pyarrow(columns, **settings), "file")


def test_a_damaged_file_is_refused_or_read() -> None:
    """Whatever its octets are: without memory for more numbers than it has, and without hanging."""
    whole = of_pyarrow({"n": np.arange(50), "x": np.arange(50) / 3}).getvalue()
    short = io.BytesIO()
    parquet.write(Series("s", {"n": Numbers([1, 2]), "m": Numbers([None, None])}), short, {})
    rng, read = np.random.default_rng(1), 0
    for _ in range(1500):
        for octets in (bytearray(whole), bytearray(short.getvalue())):
            for place in rng.integers(0, len(octets), rng.integers(1, 4)):
                octets[place] = rng.integers(0, 256)
            try:
                parquet.read(io.BytesIO(octets), "file")
                read += 1
            except StoreError as refused:
                assert refused.message.startswith("file: not a lanlab series")
    assert 0 < read < 3000


def test_buffers_are_taken_without_being_copied() -> None:
    numbers = array.array("q", [1, 2, 3])
    series = Series("s", {"n": numbers})  # type: ignore[dict-item]
    column = series.columns["n"]

    assert isinstance(column, np.ndarray)
    numbers[0] = 99
    assert column.tolist() == [99, 2, 3]


@pytest.mark.parametrize(
    ("name", "columns", "units", "message"),
    [
        ("../x", {"n": np.zeros(1)}, {}, "cannot have the name `../x`"),
        ("s", {}, {}, "has no column"),
        ("s", {"N": np.zeros(1)}, {}, "allowed in its name: lower-case"),
        ("s", {"a": np.zeros(1), "b": np.zeros(2)}, {}, "different lengths: a 1, b 2"),
        ("s", {"a": np.zeros((1, 1))}, {}, "has 2 dimensions; allowed: 1"),
        ("s", {"a": np.array([None])}, {}, "of type object; allowed: whole numbers"),
        ("s", {"a": np.zeros(1, ">i8")}, {}, "of type >i8"),
        ("s", {"a": np.zeros(1, np.float16)}, {}, "of type float16"),
        ("s", {"a": np.array([0.0, np.nan])}, {}, "is nan in row 1; allowed: finite"),
        ("s", {"a": np.array([np.inf])}, {}, "is inf in row 0"),
        ("s", {"a": np.zeros(1)}, {"b": "ns"}, "a unit for the unknown column `b`"),
    ],
)
def test_values_that_cannot_be_stored_exactly_are_refused(
    name: str, columns: dict[str, Any], units: dict[str, str], message: str
) -> None:
    with pytest.raises(StoreError) as refused:
        Series(name, columns, units)
    assert message in refused.value.message


def test_names_and_numbers_are_kept_up_to_their_limits() -> None:
    long = "n" * 64
    for kind in (np.int8, np.uint64, np.float32, np.float64):
        assert Series(long, {long: np.zeros(2, kind)}, {long: "ns"}).rows == 2
    for name, columns in (("n" * 65, {"a": np.zeros(1)}), ("s", {"a" * 65: np.zeros(1)})):
        with pytest.raises(StoreError, match="allowed"):
            Series(name, columns)


def test_every_block_of_a_long_column_is_checked() -> None:
    rows = BLOCK_ROWS + 3
    for row in (0, BLOCK_ROWS - 1, BLOCK_ROWS, rows - 1):
        numbers = np.zeros(rows)
        numbers[row] = np.nan
        with pytest.raises(StoreError, match=f"is nan in row {row}; allowed"):
            Series("s", {"a": numbers})


def test_a_series_of_several_blocks_round_trips() -> None:
    rows = BLOCK_ROWS + 2
    facts = {"every": "10"}
    columns = {"n": np.arange(rows), "w": np.arange(rows, dtype=np.int32) % 3}
    series = Series("s", columns, {"n": "ns"}, facts)
    file = io.BytesIO()
    entry = parquet.write(series, file, {"run": "r"})
    assert (entry.name, entry.row_count) == ("s", rows)
    assert entry.size_bytes == len(file.getvalue())
    assert entry.sha256 == hashlib.sha256(file.getvalue()).hexdigest()
    file.seek(0)
    found = parquet.read(file, "file")

    assert (found.name, found.units, found.facts) == ("s", {"n": "ns"}, facts)
    assert values(found)["n"] == values(series)["n"]
    assert values(found)["w"] == values(series)["w"]
    with pyarrow.parquet.ParquetFile(file) as opened:
        groups = [opened.metadata.row_group(at).num_rows for at in range(2)]
        assert (opened.num_row_groups, groups) == (2, [BLOCK_ROWS, 2])


def test_a_file_written_by_another_program_is_not_a_series() -> None:
    for written in (pyarrow.table({"n": [1]}), None):
        file = io.BytesIO(b"PAR1 and no more")
        if written is not None:
            file = io.BytesIO()
            pyarrow.parquet.write_table(written, file)
            file.seek(0)
        with pytest.raises(StoreError, match="file: not a lanlab series") as refused:
            parquet.read(file, "file")
        assert "the rest of the run is readable" in str(refused.value.hint)


def test_columns_of_a_short_series_are_equally_long_with_gaps() -> None:
    short = Series("s", {"a": Numbers([None] * 3), "b": Numbers([4, 5, 6])}, {"b": "B"})
    assert short.rows == 3
    assert Series("s", {"a": Numbers([])}).rows == 0
    with pytest.raises(StoreError, match="series `s` has columns of different lengths: b 2, c 1"):
        Series("s", {"b": Numbers([1, 2]), "c": Numbers([3])})


def test_facts_follow_the_naming_rules_of_columns() -> None:
    assert Series("s", {"a": np.zeros(1)}, {}, {"every": "10"}).facts == {"every": "10"}
    with pytest.raises(StoreError, match="series `s` has a fact `Every`; allowed: as a column"):
        Series("s", {"a": np.zeros(1)}, {}, {"Every": "10"})


def test_a_refused_trial_keeps_the_series_of_the_first(where: str) -> None:
    other = Series("readings", {"n": np.arange(3)})
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0), [READINGS])
        for series in ([other], [], [ODD], [ODD, other]):
            with pytest.raises(StoreError, match="already has a trial 0; nothing was overwritten"):
                store.commit_trial(a_trial(0, elapsed_s=9.0), series)
        with pytest.raises(StoreError, match="unknown run `other`"):
            store.commit_trial(a_trial(0, run_id="other"), [other])
        with pytest.raises(StoreError, match="two series with the same name"):
            store.commit_trial(a_trial(1), [other, other])

        assert store.trials("last") == [a_trial(0)]
        assert values(store.series("last", 0)["readings"]) == values(READINGS)
        assert store.series_names("last", 0) == ("readings",)
    if not where.startswith("postgresql:"):
        left = [path.name for path in Path(where + ".series").rglob("*.parquet*")]
        assert left == ["0-readings.parquet"]


def test_a_series_file_describes_itself_to_other_programs(tmp_path: Path) -> None:
    from pyarrow import parquet

    with store_with_run(tmp_path / "s") as store:
        store.commit_trial(a_trial(3), [READINGS])
    path = tmp_path / "s.series" / a_run().id / "3-readings.parquet"
    metadata = parquet.read_metadata(path)
    told = {key.decode(): value.decode() for key, value in metadata.metadata.items()}

    assert told["lanlab.version"] == __version__
    assert json.loads(told["lanlab.units"]) == {"start_ns": "ns", "time_ns": "ns"}
    assert (told["lanlab.run"], told["lanlab.trial"]) == (a_run().id, "3")
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert parquet.read_table(path).column("small").to_pylist()[4] == 255


def test_millions_of_readings_are_written_in_little_memory(where: str) -> None:
    code = """
import resource, sys
import numpy as np
from lanlab.store import Series, open_store, parquet
from lanlab.store.series import BLOCK_ROWS, Numbers
from store_samples import a_run, a_trial, store_with_run

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

rng = np.random.default_rng(1)
def series(rows):
    return Series("readings", {
        "start_ns": np.arange(rows, dtype=np.int64),
        "time_ns": rng.integers(0, 2**40, rows, dtype=np.int64),
        "bytes": np.full(rows, 65536, dtype=np.int32),
        "outcome": np.zeros(rows, np.uint8),
    })
with open_store(sys.argv[1]) as store:
    store.start_run(a_run()).release()
    # With what loading and a block take.
    store.commit_trial(a_trial(0), [series(2**19)])
    many = series(3_000_000)
    before = megabytes()
    store.commit_trial(a_trial(1), [many])
    print(megabytes() - before)
    found = store.series("last", 1)["readings"]
    assert (found.columns["time_ns"] == many.columns["time_ns"]).all()
"""
    done = ran(
        [sys.executable, "-c", code, where],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 25, done.stdout


def test_reading_records_needs_no_numbers(where: str) -> None:
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0), [Series("short", {"n": Numbers([5]), "m": Numbers([None])})])
    code = """
import sys
from lanlab.store import open_store
with open_store(sys.argv[1]) as store:
    store.trials("last")
    assert store.series("last", 0)["short"].columns == {"n": [5], "m": [None]}
sys.exit("numpy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code, where], check=False).returncode == 0
