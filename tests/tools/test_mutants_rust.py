"""Which faults of Rust are left out, and when a process takes too long."""

import re
from pathlib import Path

import pytest
from mutants_engine import _TESTS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_every_workload_folder_has_existing_tests() -> None:
    below = ROOT / "crates/engine/src/workloads"
    assert {path.name for path in below.iterdir()} - {"mod.rs"} == set(_TESTS)
    for names in _TESTS.values():
        for name in names.split():
            assert (ROOT / f"tests/{name}.py").exists(), name


def test_every_file_with_equivalent_faults_exists() -> None:
    lines = (ROOT / "tools/mutants_alike.txt").read_text().splitlines()
    named = {line.split()[0].rstrip(":") for line in lines if re.match(" (src|crates)/", line)}
    assert len(named) > 50
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
