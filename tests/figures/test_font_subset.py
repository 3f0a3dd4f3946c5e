"""Fonts of PDF files, as fontTools reads them."""

import io
import zlib
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from fontTools.pens.recordingPen import DecomposingRecordingPen  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib.backends import _backend_pdf_ps

from lanlab.figures.drawing import load

FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
#: Letters, letters of several components, and ones that share their width with the last glyph.
TEXT = "Mbit/s µ é ü … ½ ≤ 1234567890"


def shape(font: TTFont, glyph: int) -> tuple[object, int]:
    glyphs, pen = font.getGlyphSet(), DecomposingRecordingPen(font.getGlyphSet())
    drawn = glyphs[font.getGlyphName(glyph)]
    drawn.draw(pen)
    return pen.value, drawn.width


@pytest.mark.parametrize("name", ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf"])
def test_a_subset_draws_each_glyph_as_its_font_does(name: str) -> None:
    load()
    embedded: Any = _backend_pdf_ps
    whole = TTFont(FONTS / name)
    glyphs = {whole.getGlyphID(whole.getBestCmap()[ord(letter)]) for letter in TEXT}
    with embedded.get_glyphs_subset(FONTS / name, glyphs) as found:
        octets, places = embedded.font_as_file(found.font).getvalue(), found.glyph_index_map

    # It raises an error for a wrong checksum.
    part = TTFont(io.BytesIO(octets), checkChecksums=2)
    assert {n: shape(part, places[n]) for n in glyphs} == {n: shape(whole, n) for n in glyphs}
    drawn = [one for one in range(part["maxp"].numGlyphs) if shape(part, one)[0]]
    assert len(glyphs) - 1 <= len(drawn) < 2 * len(glyphs)
    assert len(zlib.compress(octets)) < 20_000
    assert "name" not in part
