"""`tools/check_test_log.sh`: few tests may be tried again or skipped, and each is printed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_test_log.sh"

if not SCRIPT.is_file():
    pytest.skip("the tools are not part of what is installed", allow_module_level=True)


def checked(folder: Path, *lines: str) -> tuple[int, str]:
    """The exit code for a log of these lines, and what is printed."""
    log = folder / "log"
    log.write_text("\n".join(("....", *lines, "9 passed", "")))
    command = ["bash", str(SCRIPT), str(log)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def test_what_is_tried_again_is_counted_by_test_and_bounded(tmp_path: Path) -> None:
    """Two attempts of one test are one test; Rust and Python count together."""
    again = [f"AGAIN tests/a.py::test_{i}[x: y]: the host took 4.0% of it" for i in range(7)]
    rust = "AGAIN Rust a::b: the host took 2.1% of a processor's time"
    code, said = checked(tmp_path, *again, *again, rust)
    assert code == 0
    assert "tried again: 8 tests; allowed: 8" in said
    assert all(line in said for line in (*again, rust))
    beside = "AGAIN tests/a.py::test_b: it failed beside other tests, and passed alone"
    code, said = checked(tmp_path, *again, rust, beside)
    assert (code, "tried again: 9 tests" in said) == (1, True)


def test_what_is_skipped_is_skipped_for_a_known_reason(tmp_path: Path) -> None:
    """A line of pytest may stand for many tests."""
    known = "SKIPPED [12] tests/b.py:12: root may write everywhere"
    rust = "SKIPPED [1] Rust: vsftpd: ProFTPD is installed in its place"
    code, said = checked(tmp_path, known, rust)
    assert (code, "skipped: 13 tests" in said, known in said) == (0, True, True)
    other = "SKIPPED [1] tests/c.py:3: need `iperf3`, not found on PATH"
    code, said = checked(tmp_path, known, other)
    assert code == 1
    assert said.endswith(f"check_test_log.sh:\n{other}\n")


def test_a_log_without_either_is_fine(tmp_path: Path) -> None:
    """Zero of both."""
    code, said = checked(tmp_path)
    assert (code, said.count(" 0 tests")) == (0, 2)
