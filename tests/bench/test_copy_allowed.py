"""`bench/copy_allowed.py` run on a record of a copy on the virtual LAN, and on one of loopback."""

import re
import sys
from pathlib import Path

import pytest
from programs import ran

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = [
    pytest.mark.long,
]


def _run(*argv: str | Path) -> str:
    done = ran([sys.executable, *argv])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_reached_share_of_a_copy_follows_from_its_record(tmp_path: Path) -> None:
    store, lanlab = str(tmp_path / "store.sqlite"), "from lanlab.cli.app import run; run()"
    copy = ("copy", "1x100kB", "--trials", "1", "--store", store)
    _run("-c", lanlab, *copy, "--service", "smb1+nbf", "--link", "10M")
    said = _run(BENCH / "copy_allowed.py", "last", "--store", store)
    found = re.search(r"frames ([\d.]+) s \((\d+) of them, simulated (\d+)\), waits (\S+) s", said)
    assert found is not None, said
    took_s, frames, simulated, waits_s = map(float, found.groups())
    # 100 kB and what is around it, at 10 Mbit/s.
    assert 0.080 < took_s < 0.095 and abs(waits_s) < 0.02
    assert abs(frames - simulated) <= 4
    _run("-c", lanlab, *copy, "--service", "smb1", "--testbed", "loopback")
    assert "no frames were counted" in _run(BENCH / "copy_allowed.py", "last", "--store", store)
