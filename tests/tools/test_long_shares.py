"""Every long test is in one share, and a share that there is not is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from long_tests import check_choice, is_chosen

NAMES = [f"tests/a/test_{number}.py::test_it[{number}]" for number in range(400)]


def test_shares_divide_the_long_tests() -> None:
    """Each runs in one share, and the shares are of like size."""
    shares = [[name for name in NAMES if is_chosen(name, f"{share}/4")] for share in range(4)]
    assert Counter(name for share in shares for name in share) == Counter(NAMES)
    assert all(70 < len(share) < 130 for share in shares)


def test_all_and_none_are_what_they_say() -> None:
    """Without a choice no long test runs."""
    assert all(is_chosen(name, "all") for name in NAMES)
    assert not any(is_chosen(name, "none") for name in NAMES)


@pytest.mark.parametrize("choice", ["all", "none", "0/1", "3/4"])
def test_a_choice_is_taken(choice: str) -> None:
    """No error."""
    check_choice(choice)


@pytest.mark.parametrize("choice", ["", "some", "4/4", "-1/4", "1/0", "1", "1/4 "])
def test_what_is_no_choice_is_refused(choice: str) -> None:
    """With what was found and what is allowed."""
    with pytest.raises(ValueError, match="allowed: all, none, or K/N"):
        check_choice(choice)
