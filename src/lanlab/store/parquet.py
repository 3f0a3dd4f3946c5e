"""
Series as Parquet files, which DuckDB, pandas, polars and others can read.

Row groups have `BLOCK_ROWS`, so that writing and checking only need memory for one row group and
the columns. Units and lanlab's version are in the file's key-value metadata.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import IO

from lanlab import __version__
from lanlab.errors import StoreError
from lanlab.outside import json_of
from lanlab.store.plain_parquet import MAGIC, file_parts, read_columns, read_footer, zstd
from lanlab.store.series import BLOCK_ROWS, Series, SeriesEntry
from lanlab.store.shape import MISSHAPEN

CHUNK_BYTES = 2**20
_END_BYTES = 8
_MOST_FOOTER_BYTES = 2**20


def load() -> None:
    """Import the libraries for writing in advance, so that the first series need not wait."""
    import numpy

    assert numpy and zstd()


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


def write(series: Series, file: IO[bytes], about: Mapping[str, str]) -> SeriesEntry:
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
    # Keys without lanlab's prefix are facts of the series.
    metadata |= getattr(series, "facts", {})
    digest, size_bytes = hashlib.sha256(), 0
    for part in file_parts(series.columns, series.rows, metadata, BLOCK_ROWS):
        file.write(part)
        digest.update(part)
        size_bytes += len(part)
    return SeriesEntry(series.name, series.rows, size_bytes, digest.hexdigest())


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
    try:
        footer = read_footer(file)
        said = {one[1].decode(): one[2].decode() for one in footer.get(5, ())}
        name, units = said["lanlab.series"], json_of(said["lanlab.units"])
        facts = {
            key: value for key, value in said.items() if not key.startswith(("lanlab.", "ARROW:"))
        }
        return Series(name, read_columns(file, footer), units, facts)
    except (*MISSHAPEN, StoreError, zstd().ZstdError) as error:
        raise StoreError(
            f"{what}: not a lanlab series: {error}",
            hint="restore a backup of it; the rest of the run is readable",
        ) from error
