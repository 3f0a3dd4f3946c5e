"""
Memory that a copy will fill, made ready before it is timed.

A virtual machine tells its host which memory is free (free page reporting, virtio-balloon), and the
host takes it back: whoever uses it next waits until it is there again. A copy into such memory took
two to four times as long as the next one, which got what the first had freed. So as much as the
copy will fill is used and freed right before it, whatever the service, in each trial.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_MEMORY_FACTS = Path("/proc/meminfo")
#: A file takes whole pages.
_PAGE_BYTES = 4096
#: Less than that costs more to make ready than it saves.
_LEAST_BYTES = 2**20
#: Of the memory that is free: more would drive out what the system keeps of files.
FREE_SHARE = 0.75
_WITHIN_S = 120.0
#: In a process of its own: where memory is limited, the system ends that one and not lanlab.
_TOUCH = """
import mmap, sys
with open("/proc/self/oom_score_adj", "w") as mine:
    mine.write("1000")
size = int(sys.argv[1])
held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held[::4096] = bytes(len(range(0, size, 4096)))
"""


def make_ready(octets: int, files: int) -> dict[str, Any]:
    """
    Have the system hold free memory for so much of files.

    Returns:
        For the record: `wanted_bytes`; `ready_bytes`, which is less where less is free;
        `elapsed_s`, or `reason` where none was made ready.
    """
    wanted = octets + files * _PAGE_BYTES
    told: dict[str, Any] = {"wanted_bytes": wanted, "ready_bytes": 0}
    free = _free_bytes()
    if free is None:
        return {**told, "reason": "this system does not say how much memory is free"}
    size = min(wanted, int(FREE_SHARE * free))
    if size < _LEAST_BYTES:
        return {**told, "reason": "too little to matter" if wanted == size else "too little free"}
    began = time.monotonic()
    try:
        command = [sys.executable, "-I", "-S", "-c", _TOUCH, str(size)]
        done = subprocess.run(command, check=False, capture_output=True, timeout=_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {**told, "reason": f"it failed: {type(error).__name__}"}
    if done.returncode:
        return {**told, "reason": f"it failed: exit code {done.returncode}"}
    return {**told, "ready_bytes": size, "elapsed_s": time.monotonic() - began}


def _free_bytes() -> int | None:
    """Memory that nothing uses, files that the system keeps included in what is used (proc(5))."""
    try:
        lines = _MEMORY_FACTS.read_text().splitlines()
    except OSError:
        return None
    free = (line.split()[1] for line in lines if line.startswith("MemFree:"))
    return next((1024 * int(kib) for kib in free), None)
