"""Files as pyarrow reads and writes them."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lanlab.store import parquet as ours
from lanlab.store import plain_parquet
from lanlab.store.plain_parquet import file_parts
from lanlab.store.series import Numbers, Series

NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=300)
NAMES = st.lists(st.text("abc_", min_size=1, max_size=70), unique=True, min_size=1, max_size=40)


def plain_file(columns: Mapping[str, Any], rows: int, metadata: Mapping[str, str]) -> bytes:
    known = {name: Numbers([None] * rows if c is None else c) for name, c in columns.items()}
    return b"".join(file_parts(known, rows, metadata, rows))


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


@pytest.mark.parametrize("names", range(12, 18))
def test_lists_of_14_and_15_columns_are_written(names: int) -> None:
    columns = {f"c{place}": [place, -place] for place in range(names)}
    with parquet.ParquetFile(io.BytesIO(plain_file(columns, 2, {"k": "v"}))) as opened:
        assert opened.read().to_pydict() == columns


def test_the_footer_describes_the_columns() -> None:
    """Two columns of five numbers, of which the second has none: 40 bytes of numbers, and a run of
    two bytes with its length in four; each behind the head of its page."""
    octets = plain_file({"a": [1, 2, 3, 4, 5], "b": None}, 5, {"k": "v"})
    with parquet.ParquetFile(io.BytesIO(octets)) as opened:
        about = opened.metadata
    assert (about.num_rows, about.num_columns, about.num_row_groups) == (5, 2, 1)
    assert (about.created_by, about.format_version) == ("lanlab", "1.0")
    group = about.row_group(0)
    a, b = group.column(0), group.column(1)
    assert [column.path_in_schema for column in (a, b)] == ["a", "b"]
    assert [column.num_values for column in (a, b)] == [5, 5]
    assert [column.compression for column in (a, b)] == ["UNCOMPRESSED"] * 2
    assert [set(column.encodings) for column in (a, b)] == [{"PLAIN"}, {"PLAIN", "RLE"}]
    # The magic number, then the pages one behind the other, then the footer with its length.
    footer = int.from_bytes(octets[-8:-4], "little") + 8
    assert a.data_page_offset == len(b"PAR1") == a.file_offset
    assert b.data_page_offset == 4 + a.total_compressed_size == b.file_offset
    assert b.data_page_offset + b.total_compressed_size == len(octets) - footer
    assert a.total_uncompressed_size == a.total_compressed_size
    assert b.total_uncompressed_size == b.total_compressed_size
    assert group.total_byte_size == a.total_compressed_size + b.total_compressed_size
    head = a.total_compressed_size - 40
    assert octets[4 + head : 4 + head + 8] == (1).to_bytes(8, "little")
    assert 0 < head == b.total_compressed_size - 6 < 20


def test_pages_that_claim_more_than_their_rows_are_refused() -> None:
    """Before they are unpacked: 2 kB of zstd can be 64 MiB."""
    zeros = np.zeros(2**23, "int64")
    octets = b"".join(file_parts({"a": zeros}, len(zeros), {"k": "v"}, len(zeros)))
    assert len(octets) < 10_000
    file = io.BytesIO(octets)
    (page,) = plain_parquet.read_columns(file, plain_parquet.read_footer(file)).values()
    assert len(page) == len(zeros)
    # The number of rows in the page's head, whose structure begins with the data page's (field 5).
    rows = plain_parquet._varint(len(zeros) << 1)
    file = io.BytesIO(octets.replace(b"\x15" + rows, b"\x15" + plain_parquet._varint(2), 1))
    with pytest.raises(ValueError, match="1 rows of 67108864 bytes in a page"):
        plain_parquet.read_columns(file, plain_parquet.read_footer(file))


def test_files_of_more_rows_than_lanlab_writes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of missing values has 20 bytes for any number of rows."""
    monkeypatch.setattr(plain_parquet, "_MOST_BYTES", 2**20)
    for rows, is_read in ((2**16, True), (2**18, False)):
        file = io.BytesIO(
            b"".join(file_parts({"a": Numbers([None] * rows)}, rows, {"k": "v"}, 2**14))
        )
        footer = plain_parquet.read_footer(file)
        if is_read:
            (column,) = plain_parquet.read_columns(file, footer).values()
            assert len(column) == rows
        else:
            with pytest.raises(ValueError, match="more than 1048576 bytes"):
                plain_parquet.read_columns(file, footer)


def test_unrepresentable_numbers_are_refused() -> None:
    with pytest.raises(Exception, match=r"out of range|format requires"):
        plain_file({"a": [2**63]}, 1, {})


def test_a_short_series_round_trips() -> None:
    columns = {"a": Numbers([3, 1, 2]), "b": Numbers([None] * 3)}
    short = Series("x-intervals", columns, {"a": "ns"})
    file = io.BytesIO()
    entry = ours.write(short, file, {"run": "r"})
    file.seek(0)
    ours.check(file, entry, "it")
    back = ours.read(file, "it")
    assert (back.rows, back.name, back.units) == (3, short.name, short.units)
    assert {name: column.tolist() for name, column in back.columns.items()} == {
        "a": [3, 1, 2],
        "b": [None, None, None],
    }
