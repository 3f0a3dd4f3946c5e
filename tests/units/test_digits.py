"""A number is written in the digits 0 to 9, wherever lanlab reads one.

Python's `int`, `float` and `\\d` take the digits of every script, and would measure `10M` with an
Arabic one between as 101 Mbit/s.
"""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.cli.commands.compare import _share as margin_share
from lanlab.cli.commands.saturation import _share as goal_share
from lanlab.errors import UsageError
from lanlab.testbeds.link import parse_link
from lanlab.units import (
    parse_rate_bps,
    parse_share,
    parse_size_bytes,
    parse_time_s,
    plain_number,
)
from lanlab.workloads.copy.datasets import groups
from lanlab.workloads.services.server_url import parse_url

#: What reads a number, with a text that it takes: `{}` is where the digit goes.
READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "rate": (parse_rate_bps, ("1{}M", "{}", "1.{}5 Mbit/s", "1e{}")),
    "size": (parse_size_bytes, ("1{}0", "{}KiB")),
    "time": (parse_time_s, ("{}", "0.{}s", "2{}ms")),
    "number": (plain_number, ("{}", "1{}", "0.{}")),
    "link": (parse_link, ("10{}M", "{}0M:switch")),
    "interval": (parse_share, ("{}%", "0.{}")),
    "goals": (lambda text: goal_share("--goals", text), ("{}%", "0.{}")),
    "margin": (margin_share, ("{}%", "0.0{}")),
    "dataset": (groups, ("{}x6kB", "1{}x6kB", "10x{}kB", "2x1kB..{}MB")),
    "port": (parse_url, ("sftp://nas:2{}2/",)),
}
CASES = [(name, pattern) for name, (_, patterns) in READERS.items() for pattern in patterns]
OTHER_DIGITS = st.characters(categories=["Nd"]).filter(lambda digit: not digit.isascii())


@pytest.mark.parametrize(("name", "pattern"), CASES)
@given(digit=OTHER_DIGITS)
def test_digits_of_other_scripts_are_refused(name: str, pattern: str, digit: str) -> None:
    read, _ = READERS[name]
    read(pattern.format("2"))

    with pytest.raises((UsageError, ValueError)):
        read(pattern.format(digit))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty; a number must be given"),
        ("-1", "is negative; it must be above 0"),
        ("-1.5ms", "is negative; it must be above 0"),
        ("nan", "is not a number"),
        ("-inf", "is not a number"),
        ("1e999", "has an exponent of more than two digits; write the number with a unit"),
        ("10\u0661", "has other digits than 0 to 9"),
    ],
)
def test_invalid_quantities_are_reported_with_the_problem(text: str, problem: str) -> None:
    for read in (parse_rate_bps, parse_size_bytes, parse_time_s):
        with pytest.raises(UsageError) as raised:
            read(text)
        assert f"`{text}` {problem}" in raised.value.message
        assert raised.value.hint
