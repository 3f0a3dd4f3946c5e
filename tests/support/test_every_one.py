"""All values that fail are named, whatever is raised, and no other."""

import pytest
from every_one import check_each


def test_every_value_that_fails_is_named() -> None:
    def check(value: int) -> None:
        assert 10 // value == 2, "not 2"

    check_each([("first", 5), ("third", 4)], check)
    with pytest.raises(pytest.fail.Exception) as caught:
        check_each([("first", 5), ("second", 0), ("third", 4), ("fourth", 7)], check)
    head, second, fourth, *_ = str(caught.value).splitlines()
    assert head == "2 of them are wrong"
    assert second.startswith("second: ZeroDivisionError: ")
    assert fourth.startswith("fourth: AssertionError: not 2")
