"""Pages and parts of pages as HTML, from templates that escape every value."""

from __future__ import annotations

from pathlib import Path

from lanlab.report.page import rendering
from lanlab.units import format_duration

_ASSETS = Path(__file__).parent / "assets"

FILES = {
    "report.css": (rendering.ASSETS / "report.css", "text/css"),
    "report.js": (rendering.ASSETS / "report.js", "text/javascript"),
    "web.css": (_ASSETS / "web.css", "text/css"),
    **{
        name: (_ASSETS / name, "text/javascript")
        for name in ("live.js", "list.js", "run.js", "chart.js", "trials.js")
    },
}

#: Only our own scripts and styles; no content of other sites, no embedding in frames, and no data
#: sent elsewhere.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def policy_of_report(page: str) -> str:
    """The policy for a page in one file (from `lanlab report` or `lanlab compare`): its script is
    allowed by its hash, and figures have inline styles.
    """
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src {rendering.script_sources(page)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def rendered(template: str, **values: object) -> str:
    """A page or part of a page.

    Args:
        template: `run` for `assets/run.html.jinja`.
        values: Values for the template.
    """
    environment = rendering.environment(_ASSETS, duration=format_duration)
    return str(environment.get_template(f"{template}.html.jinja").render(**values))
