"""Tests that may be tried again: those that `tests/flaky.txt` names."""

from __future__ import annotations

from pathlib import Path

_LIST = Path(__file__).parents[1] / "flaky.txt"
ATTEMPTS_AGAIN = 2


def flaky_tests() -> list[str]:
    """The first word of each line that is no comment."""
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]
