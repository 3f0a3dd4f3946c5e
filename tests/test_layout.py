"""What lets pytest collect any part of the tests: no two modules have one name."""

from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent


def test_no_two_modules_have_one_name() -> None:
    places = defaultdict(list)
    for module in TESTS.rglob("*.py"):
        if module.name != "conftest.py":
            places[module.name].append(str(module.relative_to(TESTS)))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
