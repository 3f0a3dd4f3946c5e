"""Examples in docstrings do what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import lanlab

PACKAGE = Path(lanlab.__file__).parent
MODULES = [
    ".".join(("lanlab", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_modules_with_examples_are_found() -> None:
    assert len(MODULES) > 50
