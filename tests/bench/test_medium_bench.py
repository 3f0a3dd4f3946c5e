"""`bench/medium.py` run: its counts are tshark's, and a part that is not there is refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from missing import missing

from lanlab.testbeds.needs import needs
from lanlab.testbeds.tools import find_tool

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"

if not BENCH.is_dir():
    pytest.skip("the bench is not part of what is installed", allow_module_level=True)


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, BENCH / "medium.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


# A capture loses frames when it has no processor in time.
@pytest.mark.alone
def test_frames_are_counted_as_tshark_counts_them() -> None:
    lacking = [need.name for need in needs("virtual") if not need.found]
    if lacking:
        missing(f"the virtual LAN needs {', '.join(lacking)}")
    if find_tool("tshark") is None:
        missing("need `tshark` to count frames independently; apt install tshark")
    done = bench("--parts", "counts")
    assert done.returncode == 0, done.stderr
    numbers = [int(each) for each in re.findall(r"\d+", done.stdout)]
    sent, at_sender, at_receiver, offered, delivered, lost, in_flight, received, missed = numbers
    assert at_sender == sent > 1000
    assert at_receiver == received == sent - missed
    assert offered == delivered + lost + in_flight
    assert lost >= missed > 0


def test_a_part_that_is_not_there_is_refused() -> None:
    done = bench("--parts", "idle,noise")
    assert done.returncode == 2
    assert "found `noise`; allowed: idle, goodput" in done.stderr
