"""
Series as Parquet files, which DuckDB, pandas, polars and others can read.

The files are compressed with zstd in row groups of `BLOCK_ROWS`, so that writing and checking only
need memory for one row group and the columns. `plain_parquet` writes short series. Units and
lanlab's version are in the file's key-value metadata.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from lanlab import __version__
from lanlab.errors import StoreError
from lanlab.outside import json_of
from lanlab.store.plain_parquet import MAGIC, plain_file
from lanlab.store.series import BLOCK_ROWS, AnySeries, Series, SeriesEntry, ShortSeries, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK_BYTES = 2**20
_END_BYTES = 8
_MOST_FOOTER_BYTES = 2**20


class _Counted:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size_bytes = 0
        self.closed = False

    def write(self, octets: Any) -> int:
        view = memoryview(octets).cast("B")
        self._file.write(view)
        self.digest.update(view)
        self.size_bytes += len(view)
        return len(view)

    def tell(self) -> int:
        return self.size_bytes

    def flush(self) -> None:
        """Flushing is up to the owner of the file."""

    def close(self) -> None:
        self.closed = True


def load() -> None:
    """Import the libraries for writing in advance, so that the first series need not wait."""
    import numpy
    import pyarrow.parquet

    assert numpy and pyarrow


def is_of_lanlab(file: IO[bytes], *, is_whole: bool) -> bool:
    """Whether `write` made this file. An empty file also counts: it was created but not written."""
    head = file.read(len(MAGIC))
    if not head or (not is_whole and MAGIC.startswith(head)):
        return True
    size_bytes = file.seek(0, os.SEEK_END)
    if head != MAGIC or size_bytes < _END_BYTES:
        return False
    file.seek(size_bytes - _END_BYTES)
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size_bytes - _END_BYTES - length))
    return b"lanlab.series" in file.read(min(length, _MOST_FOOTER_BYTES))


def write(series: AnySeries, file: IO[bytes], about: Mapping[str, str]) -> SeriesEntry:
    """
    Write a series as one Parquet file.

    Args:
        series: Written in parts, so it is never copied as a whole.
        file: Open for writing, at its start; stays open and is not flushed.
        about: Additional metadata, such as the run.

    Raises:
        OSError: The file cannot be written.
    """
    metadata = {
        "lanlab.version": __version__,
        "lanlab.series": series.name,
        "lanlab.units": json.dumps(dict(series.units)),
        **{f"lanlab.{key}": value for key, value in about.items()},
    }
    if isinstance(series, ShortSeries):
        octets = plain_file(series.columns, series.rows, metadata)
        file.write(octets)
        digest = hashlib.sha256(octets).hexdigest()
        return SeriesEntry(series.name, series.rows, len(octets), digest)
    import pyarrow
    from pyarrow import parquet

    fields = []
    for name, column in series.columns.items():
        unit = series.units.get(name)
        kind = _slice(column, 0, 0).type
        fields.append(pyarrow.field(name, kind, metadata={"unit": unit} if unit else None))
    # Keys without lanlab's prefix are facts of the series.
    schema = pyarrow.schema(fields, metadata={**metadata, **series.facts})
    counted = _Counted(file)
    # Times rarely repeat, so dictionaries would double the time and increase the size by half.
    packed = {"compression": "zstd", "use_dictionary": False}
    with parquet.ParquetWriter(counted, schema, **packed) as writer:
        for first in range(0, series.rows, BLOCK_ROWS):
            columns = [
                _slice(column, first, first + BLOCK_ROWS) for column in series.columns.values()
            ]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))
    return SeriesEntry(series.name, series.rows, counted.size_bytes, counted.digest.hexdigest())


def _slice(column: NDArray[Any] | Words, first: int, end: int) -> Any:
    import numpy as np
    import pyarrow

    if isinstance(column, Words):
        codes = _slice(column.codes, first, end)
        return pyarrow.DictionaryArray.from_arrays(codes, _texts(column.values))
    part = column[first:end]
    # `pyarrow.array` would import pandas, if installed, which takes a quarter of a second, only to
    # check whether this is a pandas object.
    numbers = np.ascontiguousarray(part)
    is_there = None
    # Without masked arrays, do not import their module.
    if hasattr(part, "mask"):
        numbers, known = np.ascontiguousarray(np.ma.getdata(part)), ~np.ma.getmaskarray(part)
        is_there = pyarrow.py_buffer(np.packbits(known, bitorder="little"))
    kind = pyarrow.from_numpy_dtype(numbers.dtype)
    buffers = [is_there, pyarrow.py_buffer(numbers)]
    return pyarrow.Array.from_buffers(kind, len(numbers), buffers)


def _texts(values: Sequence[str]) -> Any:
    import numpy as np
    import pyarrow

    octets = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, octets)]).astype(np.int32)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(octets))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(octets), buffers)


def check(file: IO[bytes], entry: SeriesEntry, what: str) -> None:
    """
    Check that a file matches its entry in the store, and rewind it.

    Raises:
        StoreError: The content differs; `what` names the file in the message.
    """
    digest, size_bytes = hashlib.sha256(), 0
    while octets := file.read(CHUNK_BYTES):
        digest.update(octets)
        size_bytes += len(octets)
    if (size_bytes, digest.hexdigest()) != (entry.size_bytes, entry.sha256):
        found = f"{size_bytes} bytes" if size_bytes != entry.size_bytes else "another checksum"
        raise StoreError(
            f"{what} is damaged: found {found}, expected {entry.size_bytes} bytes with SHA-256 "
            f"{entry.sha256[:16]}…",
            hint="restore a backup of it; the rest of the run is readable",
        )
    file.seek(0)


def read(file: IO[bytes], what: str) -> Series:
    """
    Read the series from a Parquet file written by `write`.

    Raises:
        StoreError: `write` did not write it; `what` names the file in the message.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            table = opened.read(use_threads=False)
        metadata = table.schema.metadata or {}
        units = json_of(metadata[b"lanlab.units"])
        name = metadata[b"lanlab.series"].decode()
        facts = {
            key.decode(): value.decode()
            for key, value in metadata.items()
            if not key.startswith((b"lanlab.", b"ARROW:"))
        }
        columns = {column: _values(table.column(column)) for column in table.column_names}
    except (pyarrow.ArrowException, KeyError, ValueError) as error:
        raise StoreError(
            f"{what}: not a lanlab series: {error}",
            hint="restore a backup of it; the rest of the run is readable",
        ) from error
    return Series(name, columns, units, facts)


def _values(column: Any) -> NDArray[Any] | Words:
    import numpy as np
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, pyarrow.ChunkedArray):  # without rows
            return Words(np.zeros(0, dtype=np.int32), ())
        return Words(_numbers(whole.indices), tuple(whole.dictionary.to_pylist()))
    return _numbers(column)


def _numbers(values: Any) -> NDArray[Any]:
    import numpy as np

    if values.null_count == 0:
        return _whole(values)
    return np.ma.MaskedArray(_whole(values.fill_null(0)), mask=_whole(values.is_null()))


def _whole(values: Any) -> NDArray[Any]:
    import numpy as np
    import pyarrow

    if pyarrow.types.is_boolean(values.type):
        # Arrow stores booleans as bits.
        return _whole(values.cast(pyarrow.uint8())).astype(np.bool_)
    whole = values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
    if isinstance(whole, pyarrow.ChunkedArray):  # without rows
        return np.zeros(0, dtype=whole.type.to_pandas_dtype())
    return np.from_dlpack(whole)
