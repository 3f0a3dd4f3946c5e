"""Lists and ranges as values of options."""

import pytest
from command_line import Lanlab

from lanlab.cli.options.levels import levels_of
from lanlab.errors import UsageError
from lanlab.workloads import workload
from lanlab.workloads.definitions import definitions

STREAM = definitions(workload("stream").Parameters)


@pytest.mark.parametrize(
    ("key", "text", "levels"),
    [
        ("message_size_bytes", "64,512, 1408", ["64", "512", "1408"]),
        ("message_size_bytes", "64..1024/x4", [64, 256, 1024]),
        ("message_size_bytes", "1k..2k/300,64KiB", [1000, 1300, 1600, 1900, "64KiB"]),
        ("rate_bps", "1M..3M/1M", [1_000_000, 2_000_000, 3_000_000]),
        ("rate_bps", "1MB/s..2MB/s/500kB/s", [8_000_000, 12_000_000, 16_000_000]),
        ("time_s", "0.1..0.3/100ms", [0.1, 0.2, 0.3]),
        ("flows", "1..3/1", [1, 2, 3]),
        ("flows", "4", [4]),
        ("ip_version", "4,6", [4, 6]),
        ("port", "5201-5210", ["5201-5210"]),
        ("congestion_control", "cubic,reno", ["cubic,reno"]),
        ("congestion_control", "cubic;reno", ["cubic", "reno"]),
        ("rate_bps", None, [None]),
    ],
)
def test_lists_and_ranges_are_read(key: str, text: str | None, levels: list[object]) -> None:
    found = levels_of(STREAM[key], text)

    assert list(found) == levels
    assert found.count == len(levels)


@pytest.mark.parametrize(
    "text", ["1M..2M", "2M..1M/1M", "1M..2M/0", "0..2M/x2", "1M..2M/x1", "..2M/1M", "1M,,2M", "1M,"]
)
def test_invalid_lists_and_ranges_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--rate: found `"):
        list(levels_of(STREAM["rate_bps"], text))


@pytest.mark.parametrize(
    ("key", "text", "hint"),
    [
        ("rate_bps", "1,5M", "write `--rate 1.5M`, or as a list `--rate 1bit/s,5M`"),
        ("rate_bps", "100,5M", "write `--rate 100.5M`, or as a list `--rate 100bit/s,5M`"),
        ("message_size_bytes", "1,5k", "write `--size 1.5k`, or as a list `--size 1B,5k`"),
        ("message_size_bytes", "1,000", "write `--size 1000`, or a list without zeros before"),
        ("message_size_bytes", "1,048,576", "write `--size 1048576`, or a list"),
        ("time_s", "0,5", "write `--time 0.5`, or as a list `--time 0s,5s`"),
        ("time_s", "0,05", "write `--time 0.05`, or a list"),
        ("time_s", "1,5 ms", "write `--time 1.5ms`, or as a list `--time 1s,5ms`"),
        ("flows", "1,000", "write `--flows 1000`, or a list"),
    ],
)
def test_a_decimal_comma_is_no_list(key: str, text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=r"which may be one number or a list of ") as refused:
        levels_of(STREAM[key], text)
    assert (refused.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("message_size_bytes", "512,1k"),
        ("message_size_bytes", "1,1024,64k"),
        ("rate_bps", "1bit/s,5M"),
        ("time_s", "0s,5s"),
        ("time_s", "1,10"),
        ("flows", "0,5"),
        ("flows", "10,100"),
    ],
)
def test_unambiguous_lists_are_accepted(key: str, text: str) -> None:
    assert levels_of(STREAM[key], text).count == text.count(",") + 1


def test_a_comma_in_a_single_number_is_explained(lanlab: Lanlab) -> None:
    for args in (
        ("saturation", "--low", "1,5M"),
        ("saturation", "--goals", "0,1%"),
        ("echo", "--testbed", "loopback", "--command-timeout", "1,5", "--prepare", "true"),
        ("stream", "--link", "2,5M"),
        ("stream", "--link", "10M:cable,delay=1,5ms"),
        ("stream", "--link", "10M:cable,loss=0,1%"),
    ):
        said = lanlab(*args)
        assert said.code == 2
        assert "decimal point" in said.err, said.err


def test_numbers_in_lists_need_plain_digits(lanlab: Lanlab) -> None:
    for value in ("1,2_0", "1,x", "x"):
        said = lanlab("stream", "--testbed", "loopback", "--flows", value)
        assert said.code == 2
        assert said.err.startswith("error: --flows: found `")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2M..1M/1M", "`2M..1M/1M`, which goes down;"),
        ("1M..2M/0", "`1M..2M/0`, whose step is not above 0;"),
        ("1M..2M/x1", "`1M..2M/x1`, whose step is not above 1;"),
        ("1M..2M/1.1M", "`1M..2M/1.1M`, whose first step leads beyond 2M;"),
        ("1M..2M/x3", "`1M..2M/x3`, whose first step leads beyond 2M;"),
        ("0..2M/x2", "`0..2M/x2`, which begins at 0 and has a factor;"),
    ],
)
def test_an_endless_range_is_refused_with_the_reason(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        levels_of(STREAM["rate_bps"], text)
    assert fault in refused.value.message
