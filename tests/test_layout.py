"""What keeps the house in order: names of test modules, lengths of functions."""

import ast
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
MOST_LINES = 80


def test_no_two_modules_have_one_name() -> None:
    places = defaultdict(list)
    for module in TESTS.rglob("*.py"):
        if module.name != "conftest.py":
            places[module.name].append(str(module.relative_to(TESTS)))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_function_of_the_product_is_longer_than_80_lines() -> None:
    lengths = {
        f"{module.name}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for module in (TESTS.parent / "src").rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lengths) > 3_000
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
