"""Pages that are files: no script runs but the page's own, known by its hash."""

import base64
import hashlib
import re

import pytest

from lanlab.report.page.rendering import script_sources
from lanlab.report.published.published_chapter import study_page
from lanlab.studies.load import load_study


def test_a_page_allows_its_script_by_its_hash_and_no_other() -> None:
    page = study_page(load_study("poo-tan"))
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert found is not None
    policy = dict(part.strip().split(" ", 1) for part in found[1].split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert policy["default-src"] == "'none'"
    assert "SCRIPT-SOURCES" not in page
    assert not re.search(r"<[^>]*\son[a-z]+=", page)


@pytest.mark.parametrize("template", ["report", "frame"])
def test_every_page_template_has_a_content_security_policy(template: str) -> None:
    from lanlab.report.page.rendering import ASSETS

    text = (ASSETS / f"{template}.html.jinja").read_text()
    assert "script-src SCRIPT-SOURCES;" in text
    assert "script-src 'unsafe-inline'" not in text


def test_a_page_without_a_script_allows_none() -> None:
    assert script_sources("<p>no script</p>") == "'none'"
