"""Tests that are named in lists: what may be tried again, and which files take long."""

from pathlib import Path

_TESTS = Path(__file__).parents[1]
ATTEMPTS_AGAIN = 2


def flaky_tests() -> list[str]:
    return [words[0] for words in _listed("flaky.txt")]


def slow_files() -> list[str]:
    return [words[1] for words in _listed("slow_files.txt")]


def _listed(name: str) -> list[list[str]]:
    lines = (_TESTS / name).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]
