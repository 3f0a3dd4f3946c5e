"""`bench/copy_allowed.py` run on a record of a copy on the virtual LAN, and on one of loopback."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from copy_allowed import line
from programs import ran

BENCH = Path(__file__).parents[2] / "bench"


def _run(*argv: str | Path) -> str:
    done = ran([sys.executable, *argv])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("service", "carrier", "topology", "parallel", "expected"),
    [
        # 100 kB and 100 frames are 102 kB: 81.6 ms. 4 kB and 50 frames are 5 kB: 4 ms.
        ("smb1+nbf", "nbf", "cable", 1, "the busier direction: 0.082 s, 9.8 Mbit/s; reached 81.6%"),
        ("smb1+nbf", "nbf", "bus", 1, "all, one after another: 0.086 s, 9.3 Mbit/s; reached 85.6%"),
        ("smb1+ipx", "ipx", "cable", 1, "all, one after another: 0.086 s"),
        ("ncp", "tcp", "switch", 1, "all, one after another: 0.086 s"),
        ("ncp", "tcp", "switch", 2, "the busier direction: 0.082 s"),
    ],
)
def test_closed_form_depends_on_whether_frames_can_overlap(
    service: str, carrier: str, topology: str, parallel: int, expected: str
) -> None:
    sent = {
        "client": {"frames": 100, "bytes": 100_000},
        "server": {"frames": 50, "bytes": 4_000},
    }
    run: Any = SimpleNamespace(
        testbed={"link_facts": {"rate_bps": 10_000_000, "topology": topology}}
    )
    trial: Any = SimpleNamespace(
        number=0,
        status="done",
        is_disturbed=False,
        raw={"setup": {"medium": {"sent": sent}}},
        metrics={"elapsed_s": 0.1, "copied_bytes": 100_000},
        parameters={
            "service": service,
            "carrier": carrier,
            "dataset": "1x100kB",
            "direction": "upload",
            "parallel_files": parallel,
        },
    )
    assert expected in line(run, trial)


@pytest.mark.long
def test_reached_share_of_a_copy_follows_from_its_record(tmp_path: Path) -> None:
    store, lanlab = str(tmp_path / "store.sqlite"), "from lanlab.cli.app import run; run()"
    copy = ("copy", "1x100kB", "--trials", "1", "--store", store)
    _run("-c", lanlab, *copy, "--service", "smb1+nbf", "--link", "10M")
    said = _run(BENCH / "copy_allowed.py", "last", "--store", store)
    found = re.search(r"direction: ([\d.]+) s, [\d.]+ Mbit/s; reached ([\d.]+)%", said)
    assert found is not None, said
    took_s, reached_percent = map(float, found.groups())
    # 100 kB and what is around it, at 10 Mbit/s.
    assert 0.080 < took_s < 0.095 and 0 < reached_percent <= 100
    _run("-c", lanlab, *copy, "--service", "smb1", "--testbed", "loopback")
    assert "no frames were counted" in _run(BENCH / "copy_allowed.py", "last", "--store", store)
