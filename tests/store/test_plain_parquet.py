"""Files that are written without pyarrow, as pyarrow reads them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lanlab.store import parquet as ours
from lanlab.store.plain_parquet import plain_file
from lanlab.store.series import ShortSeries

NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=300)
NAMES = st.lists(st.text("abc_", min_size=1, max_size=70), unique=True, min_size=1, max_size=40)


@given(numbers=NUMBERS, names=NAMES, is_there=st.lists(st.booleans(), min_size=40, max_size=40))
def test_every_number_is_read_as_it_was_written(
    numbers: list[int], names: list[str], is_there: list[bool]
) -> None:
    """More than 15 columns too, which the format counts otherwise."""
    columns = {
        name: numbers[place:] + numbers[:place] if known else None
        for place, (name, known) in enumerate(zip(names, is_there, strict=False))
    }
    octets = plain_file(columns, len(numbers), {"lanlab.version": "1", "größer": "µ" * 200})
    with parquet.ParquetFile(io.BytesIO(octets)) as opened:
        table = opened.read()
        assert opened.metadata.num_rows == len(numbers)
    assert table.to_pydict() == {
        name: [None] * len(numbers) if column is None else list(column)
        for name, column in columns.items()
    }
    assert {str(field.type) for field in table.schema} == {"int64"}
    assert table.schema.metadata == {
        b"lanlab.version": b"1",
        "größer".encode(): ("µ" * 200).encode(),
    }


def test_a_number_that_has_no_place_is_refused() -> None:
    with pytest.raises(Exception, match=r"out of range|format requires"):
        plain_file({"a": [2**63]}, 1, {})


def test_a_short_series_comes_back_as_others_do() -> None:
    short = ShortSeries("x-intervals", {"a": [3, 1, 2], "b": None}, {"a": "ns"})
    file = io.BytesIO()
    entry = ours.write(short, file, {"run": "r"})
    file.seek(0)
    ours.check(file, entry, "it")
    back = ours.read(file, "it")
    assert (back.rows, back.name, back.units) == (3, short.name, short.units)
    assert {name: column.tolist() for name, column in back.columns.items()} == {  # type: ignore[union-attr]
        "a": [3, 1, 2],
        "b": [None, None, None],
    }
