"""`docs/security.md`: each promise has tests, and these exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"


PROMISES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "security_promises.toml").read_text()
)["promise"]


def test_each_promise_of_the_page_is_listed_with_its_tests() -> None:
    text = PAGE.read_text().split("## Promises", 1)[1].split("\n## ", 1)[0]

    assert re.findall(r"^- (.*)$", text, re.MULTILINE) == [each["text"] for each in PROMISES]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise["text"][:50])
def test_each_promise_has_tests_that_exist(promise: dict[str, Any]) -> None:
    assert promise["tests"], "no test is named"
    for named in promise["tests"]:
        path, test = named.split("::")
        text = (ROOT / path).read_text()
        if path.endswith(".py"):
            defined = rf"^\s*def {test}\("
        else:
            # `#[test]` above a function, or the name that a macro gives one.
            defined = rf"^\s*fn {test}\(|^\s*{test}[,!:;) =]|\b{test}\b"
        assert re.search(defined, text, re.MULTILINE), f"{path} has no test {test}"
