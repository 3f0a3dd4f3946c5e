"""Tests that may be tried again: those that `tests/flaky.txt` names."""

from pathlib import Path

_LIST = Path(__file__).parents[1] / "flaky.txt"
ATTEMPTS_AGAIN = 2


def flaky_tests() -> list[str]:
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]
