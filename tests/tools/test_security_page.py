"""`docs/security.md`: every test that a promise rests on is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"

if not PAGE.is_file():
    pytest.skip("the documentation is not part of what is installed", allow_module_level=True)

NAMED = re.compile(r"`((?:tests|crates)/[\w/.]+\.(?:py|rs))::(\w+)`")


def promises() -> list[str]:
    """Return the rows of the table of promises, heading and rule left out."""
    text = PAGE.read_text().split("## Promises", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


@pytest.mark.parametrize("row", promises(), ids=lambda row: row[2:50])
def test_every_promise_has_tests_that_are_there(row: str) -> None:
    named = NAMED.findall(row)
    assert named, "no test is named"
    for path, test in named:
        text = (ROOT / path).read_text()
        if path.endswith(".py"):
            defined = rf"^\s*def {test}\("
        else:
            # `#[test]` above a function, or the name that a macro makes one of.
            defined = rf"^\s*fn {test}\(|^\s*{test}[,!:;) =]|\b{test}\b"
        assert re.search(defined, text, re.MULTILINE), f"{path} has no test {test}"
