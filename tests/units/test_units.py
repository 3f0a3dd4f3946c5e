"""Quantities as people write them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.errors import UnknownName, UsageError
from lanlab.testbeds.link import parse_link
from lanlab.units import (
    format_rate,
    format_size,
    format_time,
    parse_rate_bps,
    parse_share,
    parse_size_bytes,
    parse_time_s,
)


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("10", 10),
        ("10M", 10_000_000),
        ("1e6", 1_000_000),
        ("2.5 Gbit/s", 2_500_000_000),
        ("500kB/s", 4_000_000),
        ("1KiB/s", 8192),
        (".5k", 500),
    ],
)
def test_rates_read_in_every_unit(text: str, rate_bps: int) -> None:
    assert parse_rate_bps(text) == rate_bps


@pytest.mark.parametrize("text", ["", "M", "ten", "10X", "10m", "-5M", "1.5", "0.3bps", "1" * 400])
def test_an_invalid_rate_is_refused_with_the_allowed_values(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rate_bps(text)

    assert text in caught.value.message


@pytest.mark.parametrize(
    ("text", "size_bytes"), [("500", 500), ("64KiB", 65_536), ("1.5kB", 1500), ("16Mi", 2**24)]
)
def test_sizes_tell_kilo_from_kibi(text: str, size_bytes: int) -> None:
    assert parse_size_bytes(text) == size_bytes


def test_times_read_in_seconds() -> None:
    """Seconds unless a unit says otherwise."""
    assert [parse_time_s(text) for text in ("3", "250ms", "20us", "2min", "1h")] == [
        3.0,
        0.25,
        pytest.approx(20e-6),
        120.0,
        3600.0,
    ]


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_rate_bps, parse_size_bytes, parse_time_s):
        try:
            assert parse(text) >= 0
        except UsageError:
            continue


@given(st.floats(min_value=1000, max_value=1e12))
def test_a_shown_quantity_reads_back_within_its_three_digits(value: float) -> None:
    assert parse_rate_bps(format_rate(value)) == pytest.approx(value, rel=0.006)
    assert parse_size_bytes(format_size(int(value))) == pytest.approx(value, rel=0.006)
    assert parse_time_s(format_time(value / 1e9)) == pytest.approx(value / 1e9, rel=0.006)


def test_an_unknown_name_comes_with_the_nearest_known_one() -> None:
    assert UnknownName("testbed", "virtal", ["loopback", "virtual"]).hint == (
        "did you mean `virtual`?"
    )
    assert UnknownName("testbed", "x", ["b", "a"]).hint == "known: a, b"


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("5mbit", 5_000_000),
        ("100 Mbps", 100_000_000),
        ("100Mb/s", 100_000_000),
        ("2 MBps", 16_000_000),
        ("9.5 Mbits/sec", 9_500_000),
        ("3 Gbit", 3_000_000_000),
        ("64 Kbit/s", 64_000),
    ],
)
def test_rates_are_read_as_other_programs_write_them(text: str, rate_bps: int) -> None:
    assert parse_rate_bps(text) == rate_bps


@pytest.mark.parametrize(
    ("parse", "text", "hint"),
    [
        (parse_rate_bps, "100 mbps", "did you mean `100Mbit/s` or `100MB/s`?"),
        (parse_rate_bps, "5 MB", "did you mean `5MB/s` or `5Mbit/s`?"),
        (parse_rate_bps, "5m", "did you mean `5M`?"),
        (parse_rate_bps, "5 MBytes/sec", "did you mean `5MB/s` or `5MiB/s`?"),
        (parse_size_bytes, "64KB", "did you mean `64kB` or `64KiB`?"),
        (parse_size_bytes, "1mb", "did you mean `1MB` or `1MiB`?"),
        (parse_time_s, "5 S", "did you mean `5s`?"),
        (parse_link, "100mbps", "did you mean `100Mbit/s` or `100MB/s`?"),
    ],
)
def test_a_unit_with_two_meanings_is_not_guessed(
    parse: Callable[[str], object], text: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)

    assert caught.value.hint == hint


def test_shares_are_read_in_per_cent_or_as_numbers() -> None:
    assert [parse_share(text) for text in ("5%", "0.05", "0.1 %", "100%")] == [0.05, 0.05, 0.001, 1]
    for text in ("", "%", "5 percent", "-1%"):
        with pytest.raises(UsageError):
            parse_share(text)
