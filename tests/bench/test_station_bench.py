"""The tables of `bench/stations.py` from trials whose ratios are known."""

import pytest
from memory_speed import copy_and_compare_ns
from station_peers import Cell, Found, table

pytestmark = pytest.mark.long


def test_the_last_column_compares_with_the_best_peer() -> None:
    plain, synced = Cell("read", 750, 15, 60_000), Cell("write", 6000, 1, 6_000_000, True)
    found = {
        (plain, "lanlab"): [Found(rate, 0.99) for rate in (300.0, 100.0, 9000.0)],
        (plain, "lanlab, compared"): [Found(225.0, 0.98)],
        (plain, "fio"): [Found(200.0, 0.5, 700.4)],
        (plain, "elbencho"): [Found(250.0, None)],
        (synced, "lanlab"): [Found(90.0, 1.0)],
        (synced, "fio"): [Found(100.0, 1.0)],
    }
    lines = list(table(["lanlab", "lanlab, compared", "fio", "elbencho"], found))
    assert lines[2:] == [
        "| read | 750 | 60000 | 15 | 300 (0.99) | 225 (0.98) | 200 (0.50; 700 ns) | "
        "250 (not told) | 1.20 | 0.90 |",
        "| write, synced | 6000 | 6000000 | 1 | 90 (1.00) |  | 100 (1.00) |  | 0.90 |  |",
    ]
    assert all(line.count("|") == 11 for line in lines)


def test_more_bytes_take_longer_to_copy_and_to_compare() -> None:
    for less, more in zip(
        copy_and_compare_ns(1000, 1000), copy_and_compare_ns(1_000_000, 1_000_000), strict=True
    ):
        assert more > 10 * less
        assert more > 1000
