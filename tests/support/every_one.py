"""One test for many values of which each is held to the same: all that fail are named."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Value = TypeVar("Value")


def check_each(values: Iterable[tuple[str, Value]], check: Callable[[Value], None]) -> None:
    """Fail if any value fails the check, with the name of each that does and what is wrong."""
    wrong = []
    for name, value in values:
        try:
            check(value)
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} of them are wrong", *wrong]), pytrace=False)
