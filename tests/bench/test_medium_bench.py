"""`bench/medium.py` run: its counts are tshark's, and a part that is not there is refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from missing import missing
from programs import ran

from lanlab.testbeds.needs import needs
from lanlab.testbeds.tools import find_tool

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, BENCH / "medium.py", *arguments]
    return ran(command)


# A capture loses frames when it has no processor in time.
@pytest.mark.figures
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
