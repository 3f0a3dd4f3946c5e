"""Pages from templates, each in a single file that opens offline."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lanlab.figures import look_matplotlib as look

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
#: Placeholder in a template for the hashes of the page's scripts.
_SCRIPTS_PLACE = "SCRIPT-SOURCES"


def rendered(template: str, home: str = "", *, has_files: bool = False, **values: object) -> str:
    """
    A page as text.

    Args:
        template: `report` for `assets/report.html.jinja`.
        home: Address of a list of runs to link to; empty for a page in a file.
        has_files: Whether folders next to the page have figures and tables.
    """
    page = str(
        environment()
        .get_template(f"{template}.html.jinja")
        .render(
            **values,
            home=home,
            files=has_files,
            css=(ASSETS / "report.css").read_text(encoding="utf-8"),
            script=(ASSETS / "report.js").read_text(encoding="utf-8"),
            themed=_themed,
        )
    )
    return page.replace(_SCRIPTS_PLACE, script_sources(page), 1)


def script_sources(page: str) -> str:
    """The content security policy for the scripts of a page: a hash for each."""
    hashes = (
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    )
    return " ".join(f"'sha256-{one}'" for one in dict.fromkeys(hashes)) or "'none'"


@functools.cache
def environment(*folders: Path, **filters: Callable[..., str]) -> jinja2.Environment:
    """
    The template environment. It escapes every value.

    Args:
        folders: Template folders that are searched before those of reports.
    """
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, ASSETS]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled(),
    )
    made.filters.update({"unbroken": _unbroken, "with_ids": _with_ids, **filters})
    return made


def _compiled() -> jinja2.BytecodeCache | None:
    """Compiled templates, next to those of this package, as Python keeps compiled modules."""
    import jinja2

    # The folder that Python made for this module.
    folder = Path(__file__).parent / "__pycache__"
    is_kept = os.access(folder, os.W_OK | os.X_OK) and not sys.dont_write_bytecode
    return jinja2.FileSystemBytecodeCache(str(folder)) if is_kept else None


def _unbroken(text: str) -> Markup:
    """A sentence with commands as code, and no line end between a number and its unit."""
    from markupsafe import Markup, escape

    kept = re.sub(
        r"(?<=\d) (?=%|±|…|\u00d7|[kMK]?B\b|[kMG]?bit|[mµn]?s\b)|(?<=[±…]) (?=\d)", "\u00a0", text
    )
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(kept))))


def _with_ids(text: str) -> Markup:
    from markupsafe import Markup, escape

    return Markup(re.sub(r"\(run (\S+)\)", r'(run <span class="id">\1</span>)', str(escape(text))))


#: Colours of a drawing, with the page's variables that replace them to support dark mode.
_THEME = {
    look.PAPER: "page",
    look.INK: "ink",
    look.MUTED: "muted",
    look.GRID: "grid",
    **{colour: f"series-{n}" for n, colour in enumerate((*look.FILLS, *look.COLOURS[4:]))},
    look.HATCH: "hatch",
}


def _themed(svg: str) -> str:
    for colour, name in _THEME.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg
