"""`bench/ssh_times.py` run with few trials: every kind of time is there."""

import os
import re
import sys
from pathlib import Path

import pytest
from missing import missing
from programs import ran

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"


# Over lanlab's own medium the copy of the engine takes some seconds of a processor.
@pytest.mark.parametrize(
    "link", ["unshaped:switch", pytest.param("100M:switch,delay=0.5ms", marks=pytest.mark.long)]
)
def test_each_kind_of_time_is_measured_and_has_a_bound(link: str) -> None:
    if os.geteuid() != 0:
        missing("hosts with ssh servers take root")
    command = [sys.executable, BENCH / "ssh_times.py", "--repeats", "1", "--trials", "3"]
    command += ["--link", link]
    done = ran(command)
    rows = re.findall(r"^\| (\w.*) \| (\S+) \| \S+ … \S+ \| (\S+) \|$", done.stdout, re.MULTILINE)
    assert len(rows) == 4, done.stderr
    *times, (_, skew, _) = rows
    assert all(float(median) > 0 for _, median, _ in times)
    # Both hosts are this machine: they may start within a microsecond of each other.
    assert float(skew) >= 0
    too_long = any(float(median) > float(bound) for _, median, bound in rows)
    assert done.returncode == int(too_long), done.stdout
