"""What tests may take and which may be tried again is bounded."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
budgets = pytest.importorskip("check_budgets", reason="the tools are not part of what is installed")

SLOW_FILES = (ROOT / "tests/slow_files.txt").read_text(encoding="utf-8")
SLOW = "".join(f"20 tests/test_{name}.py reason {name}\n" for name in ("slow", "b", "c"))


def test_slow_files_exist_and_their_sum_is_bounded() -> None:
    assert budgets.wrong_exceptions(SLOW_FILES) == []
    assert [file for file in budgets.slow_files(SLOW_FILES) if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(
    ("times", "over"),
    [
        (
            "12.4 tests/test_a.py\n49 tests/test_slow.py\n19 tests/test_b.py\n19 tests/test_c.py\n",
            [],
        ),
        ("12.6 tests/test_a.py\n", ["tests/test_a.py"]),
        ("7 tests/test_a.py\n7 tests/test_a.py\n", ["tests/test_a.py"]),
        ("51 tests/test_slow.py\n9 tests/test_b.py\n9 tests/test_c.py\n", ["tests/test_slow.py"]),
        # A machine of half the speed.
        ("24 tests/test_a.py\n40 tests/test_b.py\n59 tests/test_c.py\n", []),
        ("51 tests/test_a.py\n40 tests/test_b.py\n40 tests/test_c.py\n", ["tests/test_a.py"]),
    ],
)
def test_a_file_fails_above_two_and_a_half_times_its_budget(times: str, over: list[str]) -> None:
    assert [line.partition(":")[0] for line in budgets.over_budget(times, SLOW)] == over


@pytest.mark.parametrize(
    "text",
    [
        "601 tests/test_a.py a reason\n",
        "".join(f"6 tests/test_{number}.py reason {number}\n" for number in range(31)),
        "6 tests/test_a.py a reason\n6 tests/test_b.py a reason\n",
        "6 tests/test_a.py\n",
    ],
)
def test_a_wrong_list_of_slow_files_is_reported(text: str) -> None:
    assert budgets.wrong_exceptions(text)
    assert budgets.wrong_exceptions(SLOW) == []


def test_at_most_three_tests_may_be_tried_again() -> None:
    nextest = (ROOT / ".config/nextest.toml").read_text(encoding="utf-8")
    flaky = (ROOT / "tests/flaky.txt").read_text(encoding="utf-8").splitlines()
    named = [line for line in flaky if line and not line.startswith("#")]
    assert len(named) + nextest.count("\n[[profile.default.overrides]]") <= 3


def test_the_command_fails_for_a_file_over_its_budget(tmp_path: Path) -> None:
    times = tmp_path / "times"
    for text, code in (("3 tests/test_a.py\n", 0), ("30 tests/test_a.py\n", 1)):
        times.write_text(text)
        command = [sys.executable, ROOT / "tools/check_budgets.py", times]
        assert subprocess.run(command, capture_output=True, check=False).returncode == code
