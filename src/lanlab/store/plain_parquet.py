"""
Reads and writes Parquet files of plain numbers. A library would take 170 MB of disk, and 0.1 s of
processor time to load.

`parquet.thrift` of Apache Parquet 2.10, structures in Thrift's compact protocol. Lists of integers
are not compressed: that would save only a few kB, and a compressor's buffers fragment the memory of
long runs. Arrays are compressed with zstd.
"""

from __future__ import annotations

import itertools
import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import IO, Any

from lanlab.store.series import Column, Numbers

MAGIC = b"PAR1"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
#: Values of `Type`, `FieldRepetitionType`, `Encoding`, `CompressionCodec` and `PageType`.
_INT32, _INT64, _FLOAT, _DOUBLE = 1, 2, 4, 5
_REQUIRED, _OPTIONAL, _PLAIN, _RLE, _UNCOMPRESSED, _ZSTD, _DATA_PAGE = 0, 1, 0, 3, 0, 6, 0
#: `Type` and `ConvertedType` of numpy's types. Short integers are stored with 32 bits.
_TYPES: Mapping[str, tuple[int, int | None]] = {
    "int64": (_INT64, None),
    "int32": (_INT32, None),
    "uint8": (_INT32, 11),
    "uint16": (_INT32, 12),
    "uint32": (_INT32, 13),
    "uint64": (_INT64, 14),
    "int8": (_INT32, 15),
    "int16": (_INT32, 16),
    "float32": (_FLOAT, None),
    "float64": (_DOUBLE, None),
}
_STORED = {_INT32: "<i4", _INT64: "<i8", _FLOAT: "<f4", _DOUBLE: "<f8"}
_END_BYTES = 8
_MOST_FOOTER_BYTES = 2**22
_MOST_PAGE_ROWS = 2**24
#: Bytes that are read and unpacked: more than lanlab writes, as an engine has 1 GiB of memory.
_MOST_BYTES = 2**31

#: Fields of a structure by their numbers.
_Fields = dict[int, Any]


class _Long(int):
    """An integer that is written with 64 bits."""


def zstd() -> ModuleType:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def file_parts(
    columns: Mapping[str, Column],
    rows: int,
    metadata: Mapping[str, str],
    group_rows: int,
) -> Iterator[bytes]:
    """
    The parts of a file, in order.

    Args:
        rows: Number of rows.
        metadata: Written into the footer.
        group_rows: Maximum rows of a row group, whose columns have one page each.
    """
    yield MAGIC
    at, groups = len(MAGIC), []
    unmeasured = {name for name, one in columns.items() if getattr(one, "is_unmeasured", False)}
    types = {name: _TYPES[str(getattr(one, "dtype", "int64"))] for name, one in columns.items()}
    for first in range(0, max(rows, 1), max(group_rows, 1)):
        chunks, begin, here = [], at, min(group_rows, rows - first)
        for name, column in columns.items():
            is_packed = hasattr(column, "dtype")
            whole, page = _page(column[first : first + here], here, types[name][0])
            encodings = [_PLAIN, _RLE] if name in unmeasured else [_PLAIN]
            about = {1: types[name][0], 2: encodings, 3: [name]}
            about |= {4: _ZSTD if is_packed else _UNCOMPRESSED, 5: _Long(here)}
            about |= {6: _Long(whole), 7: _Long(len(page)), 9: _Long(at)}
            chunks.append({2: _Long(at), 3: about})
            yield page
            at += len(page)
        groups.append({1: chunks, 2: _Long(at - begin), 3: _Long(here)})
    schema: list[_Fields] = [{4: "schema", 5: len(columns)}]
    for name, (kind, converted) in types.items():
        repetition = _OPTIONAL if name in unmeasured else _REQUIRED
        of_short = {} if converted is None else {6: converted}
        schema.append({1: kind, 3: repetition, 4: name, **of_short})
    said = [{1: key, 2: value} for key, value in metadata.items()]
    footer = _struct({1: 1, 2: schema, 3: _Long(rows), 4: groups, 5: said, 6: "lanlab"})
    yield footer + struct.pack("<I", len(footer)) + MAGIC


def _page(values: Any, rows: int, kind: int) -> tuple[int, bytes]:
    """A page with its header, and its size without compression."""
    if isinstance(values, list) and values[:1] == [None]:
        # The level of each row is 0, meaning no value: a single run of zeros.
        run = _varint(rows << 1) + b"\0"
        plain = packed = struct.pack("<I", len(run)) + run
    elif hasattr(values, "dtype"):
        plain = values.astype(_STORED[kind]).tobytes()
        packed = zstd().compress(plain, 1)
    else:
        plain = packed = struct.pack(f"<{rows}q", *values)
    data = {1: rows, 2: _PLAIN, 3: _RLE, 4: _RLE}
    head = _struct({1: _DATA_PAGE, 2: len(plain), 3: len(packed), 5: data})
    return len(head) + len(plain), head + packed


def _struct(fields: _Fields) -> bytes:
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


def read_footer(file: IO[bytes]) -> _Fields:
    """The fields of a file's `FileMetaData` by number.

    Raises:
        ValueError: It is not a Parquet file.
    """
    size_bytes = file.seek(0, os.SEEK_END)
    file.seek(max(0, size_bytes - _END_BYTES))
    end = file.read(_END_BYTES)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > min(size_bytes - _END_BYTES, _MOST_FOOTER_BYTES):
        raise ValueError("not a Parquet file")
    file.seek(size_bytes - _END_BYTES - length)
    return _Thrift(file.read(length)).struct()


def read_columns(file: IO[bytes], footer: _Fields) -> dict[str, Column]:
    """
    The columns of numbers, by name; masked if all values are missing. Lists of integers are read as
    lists, without numpy.

    Raises:
        LookupError, TypeError, ValueError: The file is damaged, or has other columns.
    """
    found: dict[str, Column] = {}
    left_bytes = _MOST_BYTES
    known = {kind: dtype for dtype, kind in _TYPES.items()}
    for place, column in enumerate(footer[2][1:]):
        dtype = known[column[1], column.get(6)]
        parts: list[Any] = []
        for group in footer[4]:
            about = group[1][place][3]
            file.seek(about[9])
            packed = file.read(about[7])
            octets, missing = _Thrift(packed), group[3]
            left_bytes -= len(packed)
            while missing > 0:
                part = octets.page(dtype, about, column[3] == _OPTIONAL)
                parts.append(part)
                missing -= len(part)
                left_bytes -= getattr(part, "nbytes", 8 * len(part))
                if left_bytes < 0:
                    raise ValueError(f"more than {_MOST_BYTES} bytes")
        found[column[4].decode()] = _joined(parts, dtype)
    return found


def _joined(parts: Sequence[Any], dtype: str) -> Any:
    if parts and all(isinstance(part, Numbers) for part in parts):
        return Numbers(itertools.chain.from_iterable(parts))
    import numpy as np

    if not parts:
        return np.zeros(0, dtype)
    is_masked = any(hasattr(part, "mask") for part in parts)
    return (np.ma.concatenate if is_masked else np.concatenate)(parts)


class _Thrift:
    """Reads Thrift's compact protocol, and the pages of a column."""

    def __init__(self, octets: bytes) -> None:
        self._octets, self._at = octets, 0

    def take(self, count: int) -> bytes:
        first, self._at = self._at, self._at + count
        if not first <= self._at <= len(self._octets):
            raise ValueError("truncated")
        return self._octets[first : self._at]

    def page(self, dtype: str, about: _Fields, is_optional: bool) -> Column:
        head = self.struct()
        page, rows = self.take(head[3]), head[5][1]
        is_packed = about[4] == _ZSTD
        # A value has 8 bytes and a level.
        if not 0 <= rows <= _MOST_PAGE_ROWS or head[2] > 9 * rows + _END_BYTES:
            raise ValueError(f"{rows} rows of {head[2]} bytes in a page")
        if is_packed:
            page = zstd().ZstdDecompressor().decompress(page, max_length=max(0, head[2]))
        if head[1] != _DATA_PAGE or head[5][2] != _PLAIN or len(page) != head[2]:
            raise ValueError("unknown kind of page")
        is_short = dtype == "int64" and not is_packed
        if not is_short:
            import numpy as np
        if is_optional:
            levels = _Thrift(page)
            known = _Thrift(levels.take(int.from_bytes(levels.take(4), "little"))).ones(rows)
            if known == 0 and rows and is_short:
                return Numbers([None] * rows)
            if known == 0 and rows:
                return np.ma.MaskedArray(np.zeros(rows, dtype), mask=True)
            if known < rows:
                raise ValueError("values are missing")
            page = levels.take(len(page) - levels._at)
        if not is_short:
            return np.frombuffer(page, _STORED[_TYPES[dtype][0]], rows).astype(dtype)
        if len(page) < 8 * rows:
            raise ValueError("truncated")
        return Numbers(struct.unpack_from(f"<{rows}q", page))

    def ones(self, count: int) -> int:
        """The number of ones among levels of one bit, which are in runs or groups of eight."""
        found = 0
        while count > 0:
            head = self._varint()
            if head & 1:
                bits = int.from_bytes(self.take(head >> 1), "little")
                found += (bits & ((1 << min(count, 8 * (head >> 1))) - 1)).bit_count()
                count -= 8 * (head >> 1)
            else:
                found += self.take(1)[0] * min(count, head >> 1)
                count -= head >> 1
        return found

    def struct(self) -> _Fields:
        found, number = {}, 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._number()
            found[number] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (3, 7):
            return self.take(1 if kind == 3 else 8)
        if kind in (4, _I32, _I64):
            return self._number()
        if kind == _BINARY:
            return self.take(self._varint())
        if kind == _STRUCT:
            return self.struct()
        head = self.take(1)[0]
        count = self._varint() if head >> 4 == 15 else head >> 4
        # Flags take no octets here, so that their number would be unbounded.
        if kind != _LIST or head & 15 < 3:
            raise ValueError("unknown structure")
        return [self._value(head & 15) for _ in range(count)]

    def _number(self) -> int:
        coded = self._varint()
        return coded >> 1 ^ -(coded & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 64, 7):
            octet = self.take(1)[0]
            value |= (octet & 0x7F) << shift
            if octet < 0x80:
                return value
        raise ValueError("a number is too long")
