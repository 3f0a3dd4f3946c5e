"""Pages from templates: each one file that opens offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_ASSETS = Path(__file__).parent / "assets"


def rendered(template: str, **values: Any) -> str:
    """
    A page as text.

    Args:
        template: `report` for `assets/report.html.jinja`.
        values: What it speaks of. `has_files` says whether figures lie beside the page as files.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = _unbroken
    return environment.get_template(f"{template}.html.jinja").render(
        **values,
        css=(_ASSETS / "report.css").read_text(encoding="utf-8"),
        script=(_ASSETS / "report.js").read_text(encoding="utf-8"),
        themed=_themed,
    )


def _unbroken(text: str) -> str:
    """Text in which no line ends between a number and its unit or interval."""
    return re.sub(r"(?<=\d) (?=%|±|…|[kM]?B\b|[kMG]bit|ms\b)|(?<=[±…]) (?=\d)", "\u00a0", text)


#: What a drawing is coloured with, and what the page calls it, so that it follows the dark mode.
_THEME = {
    "#1b1f24": "var(--ink)",
    "#5b6470": "var(--muted)",
    "#dfe3e8": "var(--grid)",
    "#0072b2": "var(--series-0)",
    "#d55e00": "var(--series-1)",
    "#009e73": "var(--series-2)",
    "#aa4499": "var(--series-3)",
    "#e69f00": "var(--series-4)",
    "#56b4e9": "var(--series-5)",
    "#f0e442": "var(--series-6)",
    "#9aa3ad": "var(--series-7)",
    "#6b7480": "var(--series-8)",
    "#1b1f25": "var(--hatch)",
}


def _themed(svg: str) -> str:
    """A drawing in the page's colours."""
    for colour, name in _THEME.items():
        svg = svg.replace(colour, name)
    return svg
