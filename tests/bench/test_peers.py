"""`bench/peers.py` runs, and names what is missing."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from missing import missing
from programs import ran

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.long


# Who watches the wire misses frames when it has no processor in time.
@pytest.mark.figures
def test_the_bench_runs_and_names_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "peers.json"
    asked = ["--quick", "--only", "pace-64,queue-64", "--ip", "4", "--json", str(file)]
    for name in ("cat", "env", "ip", "iperf3", "nsenter", "setpriv", "sh", "taskset", "unshare"):
        if (found := shutil.which(name)) is not None:
            (tmp_path / name).symlink_to(found)
    done = ran(
        [sys.executable, str(BENCH / "peers.py"), *asked], env={**os.environ, "PATH": str(tmp_path)}
    )
    if done.returncode and "network namespaces" in done.stderr:
        missing(done.stderr.splitlines()[-1])

    assert done.returncode == 0, done.stderr
    assert "| neper | missing: build it from https://github.com/google/neper |" in done.stdout
    log: dict[str, Any] = json.loads(file.read_text())
    ours = [trial for trial in log["trials"] if trial["label"].startswith("lanlab ")]
    assert {(trial["site"], trial["cell"]) for trial in ours} == {
        ("veth", "pace-64"),
        ("veth", "queue-64"),
        ("loopback", "pace-64"),
    }
    paced = [trial["metrics"] for trial in ours if trial["cell"] == "pace-64"]
    for metrics in paced:
        # Whatever the machine did to the gaps: every datagram was seen on its way, once.
        assert metrics["seen"] == pytest.approx(1.2 * 9766, rel=0.2)
