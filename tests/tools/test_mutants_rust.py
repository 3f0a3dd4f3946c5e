"""Which faults of Rust are left out, and when a process takes too long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from mutants_engine import _TESTS, _outlasts
from mutants_rust import _is_alike

ROOT = Path(__file__).parents[2]


def test_a_fault_is_left_out_by_its_text_or_by_its_line_alone(tmp_path: Path) -> None:
    """Wherever it has moved to."""
    (tmp_path / "a.rs").write_text("fn f() {\n    a && b;\n    c && d;\n}\n")
    fault = "a.rs:{}:7: replace && with || in f"
    assert _is_alike(tmp_path, fault.format(2), {"a.rs: replace && with || in f"})
    one = {"a.rs: replace && with || in f in `a && b;`"}
    assert _is_alike(tmp_path, fault.format(2), one)
    assert not _is_alike(tmp_path, fault.format(3), one)
    assert not _is_alike(tmp_path, fault.format(2), {"b.rs: replace && with || in f"})


@pytest.mark.parametrize(("sleep_s", "is_over"), [(0, False), (30, True)])
def test_a_process_is_ended_after_its_time(sleep_s: int, is_over: bool) -> None:
    """With all that it has started."""
    command = [sys.executable, "-c", f"import time; time.sleep({sleep_s})"]
    process = subprocess.Popen(command, start_new_session=True)
    assert _outlasts(process, 2.0 if is_over else 20.0) == is_over
    assert (process.returncode == 0) != is_over


def test_every_folder_has_tests_that_are_there() -> None:
    """Of each folder and file of the workloads; but what only names others has none."""
    below = ROOT / "crates/engine/src/workloads"
    assert {path.name for path in below.iterdir()} - {"mod.rs"} == set(_TESTS)
    for names in _TESTS.values():
        for name in names.split():
            assert (ROOT / f"tests/{name}.py").exists(), name
