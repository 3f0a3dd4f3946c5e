"""The small faults that `make mutants` puts in: each a program, none where it could not show."""

from __future__ import annotations

import pytest
from mutate import mutants

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("x = a < b", {"a <= b", "a >= b"}),
        ("x = a == b", {"a != b"}),
        ("x = a + b * 2", {"a - b * 2", "b / 2", "3"}),
        ("x = a and not b", {"a or not b", "b"}),
        ("x = max(a, 0)", {"min(a, 0)", "1"}),
        ("x = f(a, b, side=c)", {"f(b, a, side=c)", "f(a, b)"}),
        ("x = a if b else c", {"not b", "a", "c"}),
        ("assert_it(0.5)", {"pass", "0.55"}),
    ],
)
def test_each_operator_has_its_faults(line: str, faults: set[str]) -> None:
    found = mutants(f"def f(a, b, c):\n    {line}\n")
    assert {mutant.now for mutant in found} == faults
    for mutant in found:
        assert mutant.where == "f" and mutant.line == 2
        compile(mutant.source, "mutant", "exec")
