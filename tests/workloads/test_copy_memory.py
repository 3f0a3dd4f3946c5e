"""Memory that a copy will fill is there before the copy is timed."""

import signal
import subprocess
import sys

import pytest
from copying import copy, metrics_of
from programs import ran
from trial_running import Pair

from lanlab.engine import engine_path

pytestmark = [
    pytest.mark.usefixtures("cache"),
]

#: As much as makes memory ready, and what files take of it in whole pages.
_LARGE = {"dataset": "2x1MB"}
_SIZE = 2_000_000 + 2 * 4096
#: Prints the largest resident size of a process that uses memory, in KiB (getrusage(2)).
_LARGEST = """
import resource, subprocess, sys
subprocess.run([sys.argv[1], "touch-memory", sys.argv[2]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("service", ["directory", "ftp", "smb"])
@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize("medium", ["disk", "tmpfs"])
def test_each_trial_records_its_preparation(
    pair: Pair, service: str, direction: str, medium: str
) -> None:
    for _ in range(2):
        exchange = copy(pair.engines, service=service, direction=direction, medium=medium, **_LARGE)
        metrics_of(exchange)
        told = exchange.setup["memory"]
        assert (told["wanted_bytes"], told["ready_bytes"]) == (_SIZE, _SIZE)
        assert told["elapsed_s"] > 0


def test_downloads_to_memory_reserve_none(pair: Pair) -> None:
    exchange = copy(pair.engines, service="ftp", direction="download", medium="memory")
    assert "memory" not in exchange.setup


def test_memory_is_used_and_freed(pair: Pair) -> None:
    size = 300 << 20
    engine = pair.engines[0]
    told = engine.start({"type": "ready_memory", "bytes": size}).result(60)
    assert (told["ready_bytes"], told["reason"]) == (size, None)
    used = ran([sys.executable, "-c", _LARGEST, engine_path(), str(size)], check=True)
    assert int(used.stdout) * 1024 >= size


def test_files_in_memory_take_that_of_their_file_system() -> None:
    limited = ["prlimit", "--fsize=1000000", engine_path(), "touch-memory", "2000000"]
    assert subprocess.run(limited, check=False, timeout=60).returncode == 0
    written = subprocess.run([*limited, "/dev/shm"], check=False, timeout=60)
    assert written.returncode == -signal.SIGXFSZ
    whole = [*limited[2:], "/dev/shm"]
    assert subprocess.run(whole, check=False, timeout=60).returncode == 0


def test_a_small_machine_copies_without_reserving_memory(pair: Pair) -> None:
    told = pair.engines[0].start({"type": "ready_memory", "bytes": 1000}).result(60)
    assert (told["ready_bytes"], told["reason"]) == (0, "too little to matter")


@pytest.mark.parametrize("size", ["0", "-1", "much", ""])
def test_memory_holder_requires_size(size: str) -> None:
    done = ran([engine_path(), "touch-memory", size])
    assert done.returncode == 2
    assert "allowed: a number of bytes above 0" in done.stderr
