"""The tables of `bench/copy_clients.py` from trials whose ratios are known."""

import pytest
from copy_tables import Trial, tables

pytestmark = pytest.mark.long


def trial(block: int, label: str, elapsed_s: float, service: str = "ftp") -> Trial:
    return Trial(block, service, "many-small", "upload", label, 6_000_000, 1000, elapsed_s)


def test_ratios_compare_goodput_within_blocks_at_equal_concurrency() -> None:
    trials = [
        *(trial(block, "lanlab 1", 1.0 + block) for block in range(6)),
        *(trial(block, "curl 1", 2.0 + 2 * block) for block in range(6)),
        trial(6, "curl 1", 1000.0),
        *(trial(block, "lanlab 4", 0.5) for block in range(6)),
        *(trial(block, "rclone 4", 2.0) for block in range(6)),
    ]
    lines = list(tables(trials))
    assert "| ftp | many-small | upload | 1 | curl | 2 (2 … 2) |" in lines
    assert "| ftp | many-small | upload | 4 | rclone | 4 (4 … 4) |" in lines
    assert "| ftp | many-small | upload | rclone 4 | 6 | 3 (3 … 3) | 500 (500 … 500) |" in lines
    assert not any("| 4 | curl" in line for line in lines)
