"""Which faults of Rust are left out, and when a process takes too long."""

from pathlib import Path
from typing import Any

import pytest
from mutants_engine import _TESTS
from mutants_together import with_faults

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_every_workload_folder_has_existing_tests() -> None:
    below = ROOT / "crates/engine/src/workloads"
    assert {path.name for path in below.iterdir()} - {"mod.rs"} == set(_TESTS)
    for names in _TESTS.values():
        for name in names.split():
            assert (ROOT / f"tests/{name}.py").exists(), name


_TWO_FUNCTIONS = """\
/// Not this {, and not this fn add.
pub fn add(a: [u8; 1], b: char) -> bool {
    let brace = '{'; // }
    a[0] > 1 && b == brace
}

const fn two() -> u32 {
    1 + 1
}
"""


def _fault(function: tuple[str, int, int], at: tuple[int, int], length: int) -> dict[str, Any]:
    name, first, last = function
    line, column = at
    return {
        "function": {
            "function_name": f"Some::{name}",
            "span": {"start": {"line": first, "column": 1}, "end": {"line": last, "column": 2}},
        },
        "span": {
            "start": {"line": line, "column": column},
            "end": {"line": line, "column": column + length},
        },
        "replacement": "NEW",
    }


def test_a_function_has_a_body_for_each_fault_and_its_own() -> None:
    add, two = ("add", 1, 5), ("two", 7, 9)
    faults = {3: _fault(add, (4, 10), 1), 4: _fault(add, (4, 14), 2), 5: _fault(two, (8, 7), 1)}
    lines = with_faults(_TWO_FUNCTIONS, faults).splitlines()
    assert lines[1].endswith("-> bool { match crate::fault_in_use() {")
    bodies = [line.strip() for line in lines if "a[0]" in line]
    assert bodies == [
        "a[0] NEW  1 && b == brace",
        "a[0] > 1 NEW  b == brace",
        "a[0] > 1 && b == brace",
    ]
    assert [line for line in lines if "=> {" in line] == [
        "/* fault 3. */ 3 => { ",
        "/* fault 4. */ 4 => { ",
        "_ => { ",
        "/* fault 5. */ 5 => { ",
        "_ => { ",
    ]
    assert "fn two() -> u32 { match crate::fault_in_use() {" in lines
    assert with_faults(_TWO_FUNCTIONS, {}) == _TWO_FUNCTIONS
