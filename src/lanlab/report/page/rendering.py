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


def _unbroken(text: str) -> str:
    return re.sub(
        r"(?<=\d) (?=%|±|…|\u00d7|[kMK]?B\b|[kMG]?bit|[mµn]?s\b)|(?<=[±…]) (?=\d)", "\u00a0", text
    )


def _with_ids(text: str) -> Markup:
    from markupsafe import Markup, escape

    return Markup(re.sub(r"\(run (\S+)\)", r'(run <span class="id">\1</span>)', str(escape(text))))


#: Colours of a drawing, with the page's variables that replace them to support dark mode.
_THEME = {
    "#fefefe": "var(--page)",
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
    "#332288": "var(--series-9)",
    "#7f7000": "var(--series-10)",
    "#882255": "var(--series-11)",
    "#117799": "var(--series-12)",
    "#1b1f25": "var(--hatch)",
    "#edf0f4": "var(--shade-0)",
    "#b6d0ea": "var(--shade-1)",
    "#8ab2dc": "var(--shade-2)",
    "#5f95cb": "var(--shade-3)",
    "#3c77b5": "var(--shade-4)",
    "#205692": "var(--shade-5)",
    "#0d2f5e": "var(--shade-6)",
}


def _themed(svg: str) -> str:
    for colour, name in _THEME.items():
        svg = svg.replace(colour, name)
    return svg
