"""
`tools/check_test_log.sh`: few tests may be tried again or skipped, and each is printed; no file of
tests takes more than its budget.
"""

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
    beside = [
        f"AGAIN tests/a.py::test_{i}: it failed beside other tests, and passed alone"
        for i in range(3)
    ]
    host = [f"AGAIN tests/a.py::test_h{i}[x: y]: the host took 4.0% of it" for i in range(6)]
    rust = "AGAIN Rust a::b: the host took 2.1% of a processor's time"
    code, said = checked(tmp_path, *beside[:2], *host[:5], *host[:5], rust)
    assert code == 0
    assert "tried again: 2 tests; allowed: 2" in said
    assert "the processors: 6 tests; allowed: 6" in said
    assert all(line in said for line in (*beside[:2], *host[:5], rust))
    code, said = checked(tmp_path, *beside)
    assert (code, "tried again: 3 tests" in said) == (1, True)
    code, said = checked(tmp_path, *host, rust)
    assert (code, "the processors: 7 tests" in said) == (1, True)


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
    assert (code, said.count(" 0 tests")) == (0, 3)


@pytest.mark.parametrize("times", ["22.4 s 5.0 s", "5.1 s 7.4 s"])
def test_a_file_within_its_budget_is_fine(tmp_path: Path, times: str) -> None:
    """Five seconds of the processors, half more on a slow machine; with others it lasts."""
    assert checked(tmp_path, f"FILE {times} tests/b.py")[0] == 0


@pytest.mark.parametrize("times", ["4.0 s 7.6 s", "22.6 s 0.1 s"])
def test_a_file_over_its_budget_is_named(tmp_path: Path, times: str) -> None:
    """A new test that takes long is seen the day it comes."""
    code, said = checked(tmp_path, f"FILE {times} tests/b.py", "FILE 0.1 s 0.1 s tests/c.py")
    assert code == 1
    assert said.splitlines()[-1].startswith("tests/b.py: ")
    assert said.endswith("budget: 7.5 s\n")


def test_parts_of_a_file_add_up(tmp_path: Path) -> None:
    """Some of its tests run alone, and some beside others."""
    assert checked(tmp_path, *["FILE 3.0 s 3.8 s tests/b.py"] * 2)[0] == 1


def test_a_file_with_a_reason_has_its_own_budget(tmp_path: Path) -> None:
    """Each exception is a file that is there, and more than the common budget."""
    exceptions = [
        line.split()
        for line in (SCRIPT.parents[1] / "tests/slow_files.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    for seconds, path, *reason in exceptions:
        assert (SCRIPT.parents[1] / path).is_file(), path
        assert int(seconds) > 5 and reason, path
        most_s = 1.5 * int(seconds)
        assert checked(tmp_path, f"FILE 1.0 s {most_s} s {path}")[0] == 0
        assert checked(tmp_path, f"FILE 1.0 s {most_s + 0.1} s {path}")[0] == 1
