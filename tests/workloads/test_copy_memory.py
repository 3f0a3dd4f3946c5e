"""Memory that a copy will fill is there before the copy is timed."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from copying import copy, metrics_of, own_cache
from trial_running import Pair, opened_pair

from lanlab.performers import memory as copy_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is free")

_SIZE = 400_000 + 6 * 4096


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two engines on this machine."""
    with opened_pair() as opened:
        yield opened


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for datasets and directories of trials of the test's own."""
    return own_cache(tmp_path, monkeypatch)


@pytest.mark.parametrize("service", ["directory", "ftp", "smb"])
@pytest.mark.parametrize("direction", ["upload", "download"])
def test_each_trial_tells_what_was_made_ready(
    pair: Pair, service: str, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every service and way whose files come to this machine; not only of the first trial."""
    monkeypatch.setattr(copy_memory, "_LEAST_BYTES", 1)
    for _ in range(2):
        exchange = copy(pair.engines, service=service, direction=direction, medium="disk")
        metrics_of(exchange)
        told = exchange.setup["memory"]
        assert (told["wanted_bytes"], told["ready_bytes"]) == (_SIZE, _SIZE)
        assert told["elapsed_s"] > 0


def test_what_is_kept_nowhere_needs_no_memory(pair: Pair) -> None:
    """Of a download to memory only hashes are kept."""
    exchange = copy(pair.engines, service="ftp", direction="download", medium="memory")
    assert "memory" not in exchange.setup


def test_memory_is_used_and_freed() -> None:
    """Each page of it: only then has the system brought it here."""
    size = 300 << 20
    assert copy_memory.make_ready(size, 0)["ready_bytes"] == size
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 >= size


def test_no_more_than_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system keeps of files stays; nothing is said to be ready that is not."""
    facts = tmp_path / "meminfo"
    monkeypatch.setattr(copy_memory, "_MEMORY_FACTS", facts)
    told = copy_memory.make_ready(1 << 40, 0)
    assert told["ready_bytes"] == 0 and "does not say" in told["reason"]

    facts.write_text("MemTotal: 24684288 kB\nMemFree: 8192 kB\nMemAvailable: 20000000 kB\n")
    assert copy_memory.make_ready(1 << 40, 0)["ready_bytes"] == 6 << 20

    facts.write_text("MemFree: 1 kB\n")
    told = copy_memory.make_ready(1 << 40, 0)
    assert (told["ready_bytes"], told["reason"]) == (0, "too little free")


def test_a_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy goes on without, and its record says so."""
    monkeypatch.setattr(copy_memory, "_TOUCH", "raise SystemExit(9)")
    told = copy_memory.make_ready(2 << 20, 0)
    assert (told["ready_bytes"], told["reason"]) == (0, "it failed: exit code 9")
