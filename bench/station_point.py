"""
What lanlab adds to a published point: the whole command's time beside the time in which stations
were at work, which is the server's and the network's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lanlab.store import open_store

_STUDY = Path(__file__).with_name("published-point.toml")
#: The server needs ten minutes; a run that takes longer by far is stuck.
_WITHIN_S = 3600.0


def measured() -> Iterator[str]:
    """One run: a table, by lines."""
    lanlab = Path(sys.executable).with_name("lanlab")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "store.sqlite"))
        began = time.monotonic()
        command = [lanlab, "run", _STUDY, "--scale", "full", "--store", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_WITHIN_S)
        whole_s = time.monotonic() - began
        with open_store(path) as store:
            (run,) = store.runs()
            trials = store.trials(run.id)
    yield "## A published point"
    yield ""
    yield "15 levels of stations, 3 sizes, 2 operations, 800 readings a station: SMB, 100 Mbit/s."
    yield ""
    yield "| octets | trials | stations at work | errors |"
    yield "|---|---|---|---|"
    for size in sorted({trial.factors["message_size_bytes"] for trial in trials}):
        own = [trial for trial in trials if trial.factors["message_size_bytes"] == size]
        work_s = sum(trial.metrics["elapsed_s"] for trial in own)
        errors = sum(trial.metrics["errors"] for trial in own)
        yield f"| {size} | {len(own)} | {work_s:.1f} s | {errors:.0f} |"
    work_s = sum(trial.metrics["elapsed_s"] for trial in trials)
    more_s = whole_s - work_s
    yield ""
    yield f"The whole command took {whole_s:.1f} s, {more_s / work_s:.1%} more than {work_s:.1f} s:"
    yield f"{more_s / len(trials):.2f} s a trial."
    yield ""
