"""
Subsets of TrueType fonts for PDF files. fontTools, which matplotlib uses, takes longer to load and
to make them than matplotlib takes to draw a figure.

Source: OpenType specification 1.9, tables `glyf`, `loca`, `hmtx`, `hhea`, `head` and `maxp`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

#: All that ISO 32000-1, section 9.9, requires of a font without a table of characters.
_TABLES = (b"cvt ", b"fpgm", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp", b"prep")
_VERSION = 0x0001_0000
#: Flags of a component of a glyph.
_WORDS, _SCALE, _MORE, _TWO_SCALES, _MATRIX = 0x01, 0x08, 0x20, 0x40, 0x80


def subset(font: bytes, glyphs: Iterable[int]) -> bytes:
    """
    A font in which all glyphs are empty but these and their components. Indices stay.

    Raises:
        ValueError: The font has no TrueType outlines.
    """
    version, count = struct.unpack_from(">IH", font)
    entries = (struct.unpack_from(">4sIII", font, 12 + 16 * place) for place in range(count))
    tables = {tag: font[at : at + size] for tag, _, at, size in entries if tag in _TABLES}
    if version != _VERSION or b"glyf" not in tables:
        raise ValueError("not a TrueType font")
    (is_long,) = struct.unpack_from(">H", tables[b"head"], 50)
    (widths,) = struct.unpack_from(">H", tables[b"hhea"], 34)
    (count,) = struct.unpack_from(">H", tables[b"maxp"], 4)
    places = struct.unpack_from(f">{count + 1}{'I' if is_long else 'H'}", tables[b"loca"])
    unit = 1 if is_long else 2

    def outline(glyph: int) -> bytes:
        return tables[b"glyf"][unit * places[glyph] : unit * places[glyph + 1]]

    wanted = [0, *glyphs]
    for glyph in wanted:
        # The list grows by components that it lacks.
        wanted += set(_components(outline(glyph))).difference(wanted)
    glyf, loca, hmtx = b"", [0], bytearray(len(tables[b"hmtx"]))
    kept = set(wanted)
    for glyph in range(count):
        if glyph in kept:
            glyf += outline(glyph) + bytes(-len(outline(glyph)) % 4)
        loca.append(len(glyf))
    # The last glyphs share a width, so that theirs are shorter.
    for glyph in (*kept, widths - 1):
        at, size = (4 * glyph, 4) if glyph < widths else (2 * (widths + glyph), 2)
        hmtx[at : at + size] = tables[b"hmtx"][at : at + size]
    head = tables[b"head"]
    tables |= {b"glyf": glyf, b"hmtx": bytes(hmtx), b"loca": struct.pack(f">{count + 1}I", *loca)}
    return _file(tables | {b"head": head[:8] + bytes(4) + head[12:50] + b"\0\1" + head[52:]})


def _components(outline: bytes) -> Iterator[int]:
    # A negative number of contours marks a glyph of components.
    at, flags = 10, _MORE if outline[:1] >= b"\x80" else 0
    while flags & _MORE:
        flags, glyph = struct.unpack_from(">HH", outline, at)
        yield glyph
        at += 8 if flags & _WORDS else 6
        at += 2 if flags & _SCALE else 4 if flags & _TWO_SCALES else 8 if flags & _MATRIX else 0


def _file(tables: dict[bytes, bytes]) -> bytes:
    count, power = len(tables), len(tables).bit_length() - 1
    search = 16 << power
    head, body = struct.pack(">I4H", _VERSION, count, search, power, 16 * count - search), b""
    for tag, octets in sorted(tables.items()):
        padded = octets + bytes(-len(octets) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) % 2**32
        head += struct.pack(">4sIII", tag, checksum, 12 + 16 * count + len(body), len(octets))
        body += padded
    return head + body
