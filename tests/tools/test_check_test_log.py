"""`tools/check_test_log.sh`: few tests may be tried again or skipped, and each is printed."""

from __future__ import annotations

import re
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
    done = subprocess.run(["bash", str(SCRIPT), str(log)], capture_output=True, text=True)
    return done.returncode, done.stdout


def allowed(name: str) -> int:
    """The number that the script states."""
    found = re.search(rf"^readonly {name}=(\d+)$", SCRIPT.read_text(), re.MULTILINE)
    assert found
    return int(found[1])


def test_what_is_tried_again_is_counted_by_test_and_bounded(tmp_path: Path) -> None:
    """Two attempts of one test are one test; Rust and Python count together."""
    most = allowed("MOST_TRIED_AGAIN")
    assert 1 < most < 10
    again = [f"AGAIN tests/a.py::test_{i}[x: y]: the host took 4.0% of it" for i in range(most - 1)]
    rust = "AGAIN Rust a::b: the host took 2.1% of a processor's time"
    code, said = checked(tmp_path, *again, *again, rust)
    assert code == 0
    assert f"tried again: {most} tests; allowed: {most}" in said
    assert all(line in said for line in (*again, rust))
    code, said = checked(tmp_path, *again, rust, rust.replace("a::b", "a::c"))
    assert code == 1
    assert f"tried again: {most + 1} tests" in said


def test_what_is_skipped_is_counted_and_bounded(tmp_path: Path) -> None:
    """A line of pytest may stand for many."""
    most = allowed("MOST_SKIPPED")
    pytests = f"SKIPPED [{most - 1}] tests/b.py:12: root may write everywhere"
    rust = "SKIPPED [1] Rust: vsftpd: ProFTPD is installed in its place"
    code, said = checked(tmp_path, pytests, rust)
    assert (code, f"skipped: {most} tests; allowed: {most}" in said) == (0, True)
    assert pytests in said
    assert checked(tmp_path, pytests, rust, rust)[0] == 1


def test_a_log_without_either_is_fine(tmp_path: Path) -> None:
    """Zero of both."""
    code, said = checked(tmp_path)
    assert (code, said.count(" 0 tests")) == (0, 2)
