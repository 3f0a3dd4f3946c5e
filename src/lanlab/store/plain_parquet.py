"""
Writes Parquet files of a few integers without pyarrow, which takes 173 ms of processor time to load
(minimum of 5, 2 virtual cores, 2026-11-26).

A file has one row group with one page of plain values per column: `parquet.thrift` of Apache
Parquet 2.10, structures in Thrift's compact protocol. Nothing is compressed: that would save only a
few kB, and zlib's buffers of a quarter of a megabyte fragment the memory of long runs.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

MAGIC = b"PAR1"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
#: Values of `Type`, `FieldRepetitionType`, `Encoding`, `CompressionCodec` and `PageType`.
_INT64, _REQUIRED, _OPTIONAL, _PLAIN, _RLE, _UNCOMPRESSED, _DATA_PAGE = 2, 0, 1, 0, 3, 0, 0

Column = Sequence[int] | None


class _Long(int):
    """An integer that is written with 64 bits."""


def plain_file(columns: Mapping[str, Column], rows: int, metadata: Mapping[str, str]) -> bytes:
    """
    Encode a complete file.

    Args:
        columns: By name, signed 64-bit numbers; `None` where nothing was measured.
        rows: Number of rows.
    """
    octets, chunks = bytearray(MAGIC), []
    for name, values in columns.items():
        chunk = _page(values, rows)
        sizes = {6: _Long(len(chunk)), 7: _Long(len(chunk)), 9: _Long(len(octets))}
        encodings = [_PLAIN] if values is not None else [_PLAIN, _RLE]
        about = {1: _INT64, 2: encodings, 3: [name], 4: _UNCOMPRESSED, 5: _Long(rows), **sizes}
        chunks.append({2: _Long(len(octets)), 3: about})
        octets += chunk
    schema: list[dict[int, Any]] = [{4: "schema", 5: len(columns)}]
    for name, values in columns.items():
        schema.append({1: _INT64, 3: _OPTIONAL if values is None else _REQUIRED, 4: name})
    footer = _struct(
        {
            1: 1,
            2: schema,
            3: _Long(rows),
            4: [{1: chunks, 2: _Long(len(octets) - len(MAGIC)), 3: _Long(rows)}],
            5: [{1: key, 2: value} for key, value in metadata.items()],
            6: "lanlab",
        }
    )
    return bytes(octets) + footer + struct.pack("<I", len(footer)) + MAGIC


def _page(values: Column, rows: int) -> bytes:
    if values is None:
        # The level of each row is 0, meaning no value: a single run of zeros.
        run = _varint(rows << 1) + b"\0"
        plain = struct.pack("<I", len(run)) + run
    else:
        plain = struct.pack(f"<{rows}q", *values)
    data = {1: rows, 2: _PLAIN, 3: _RLE, 4: _RLE}
    return _struct({1: _DATA_PAGE, 2: len(plain), 3: len(plain), 5: data}) + plain


def _struct(fields: Mapping[int, Any]) -> bytes:
    """Encode fields by number; each number must be at most 15 above the previous one."""
    octets, last = bytearray(), 0
    for number, value in fields.items():
        kind, encoded = _encoded(value)
        octets += bytes([(number - last) << 4 | kind]) + encoded
        last = number
    return bytes(octets) + b"\0"


def _encoded(value: Any) -> tuple[int, bytes]:
    if isinstance(value, dict):
        return _STRUCT, _struct(value)
    if isinstance(value, list):
        each = [_encoded(one) for one in value]
        kind, count = each[0][0], len(each)
        head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + _varint(count)
        return _LIST, head + b"".join(encoded for _, encoded in each)
    if isinstance(value, int):
        return _I64 if isinstance(value, _Long) else _I32, _varint(value << 1)
    text = value.encode()
    return _BINARY, _varint(len(text)) + text


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])
