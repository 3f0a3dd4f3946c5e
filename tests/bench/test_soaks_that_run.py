"""`bench/soak.py` run: that it finds leaks by name, and nothing where nothing leaks."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import soak as soak_command
from missing import missing
from preloadable_engine import preloadable_engine
from programs import ran
from soak_run import soak
from soak_verdict import judge

from lanlab.store import Series, TrialRecord
from lanlab.store.database import Store

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.long

KIB = 1024

HELD = ("descriptors", "threads")


class _SlowerStore:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._commits = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit_trial(self, trial: TrialRecord, series: Sequence[Series] = ()) -> None:
        self._commits += 1
        time.sleep(self._commits * 0.001)
        self._store.commit_trial(trial, series)


# It has 140 real trials.
@pytest.mark.long
def test_leaks_in_lanlab_and_engines_and_a_slow_store_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("cc") is None:
        missing("needs a C compiler")
    monkeypatch.setenv("LANLAB_ENGINE", str(leaking_engine(tmp_path)))
    kept: list[Any] = []
    forgotten: list[object] = []

    def leak(number: int) -> None:
        kept.append(bytearray(4 * KIB))
        forgotten.extend(object() for _ in range(20))
        if number % 10 == 0:
            # One every tenth trial.
            kept.append((tmp_path / f"kept {number}").open("w"))
            Path(os.environ["TMPDIR"], f"left {number}").touch()

    try:
        soaked = soak(
            time_s=240,
            most_trials=140,
            testbed="loopback",
            link="unshaped",
            seed=17,
            store=str(tmp_path / "soak" / "store.sqlite"),
            also=leak,
            wrap=_SlowerStore,  # type: ignore[arg-type]
        )
    finally:
        for each in kept:
            if not isinstance(each, bytearray):
                each.close()
    found = {line.name for line in judge(soaked.samples) if line.finding}
    assert found >= {
        "lanlab: heap in use",
        "lanlab: Python objects",
        "lanlab: descriptors",
        "source engine: memory",
        "target engine: memory",
        "temporary files",
        "commit of a trial",
    }
    steady = {"lanlab: threads", "processes", "network namespaces", "log of the store"}
    steady |= {f"{end} engine: {held}" for end in ("source", "target") for held in HELD}
    assert not found & steady
    monkeypatch.setattr(soak_command, "_soak", lambda asked, store: soaked)
    monkeypatch.setattr(sys, "argv", ["soak.py", "--testbed", "loopback"])
    assert soak_command.main() == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-1].endswith("grew.") and "commit of a trial" in told[-1]
    assert sum(line.startswith("found: ") for line in told) == len(found)


#: Leaks 4 KiB every 50 ms into whatever it is loaded into.
_LEAK = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *leak(void *unused) {
    for (;;) { memset(malloc(4096), 1, 4096); usleep(50000); }
    return unused;
}
__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    pthread_create(&thread, 0, leak, 0);
}
"""


def leaking_engine(folder: Path) -> Path:
    (folder / "leak.c").write_text(_LEAK)
    library = folder / "leak.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-pthread", "-o", library, folder / "leak.c"], check=True
    )
    program = folder / "lanlab-engine"
    program.write_text(f"#!/bin/sh\nLD_PRELOAD='{library}' exec '{preloadable_engine()}' \"$@\"\n")
    program.chmod(0o755)
    return program


#: The arenas that glibc gives to threads fill for hundreds of trials (mallopt(3)), which in a soak
#: of a minute looks like a leak.
_PLAIN_ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}


def run_soak(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return ran(
        [sys.executable, str(BENCH / "soak.py"), "--testbed", "loopback", *arguments],
        env=os.environ | _PLAIN_ALLOCATOR | environment,
    )


# Memory is judged from a hundred trials on; all else is from the first.
@pytest.mark.parametrize("trials", [30, pytest.param(120, marks=pytest.mark.long)])
def test_a_soak_passes_names_failures_and_leaves_only_its_results(
    tmp_path: Path, trials: int
) -> None:
    done = run_soak(
        *("--time", "240", "--trials", f"{trials}", "--seed", "17"),
        *("--store", str(tmp_path / "store.sqlite"), "--json", str(tmp_path / "soak.json")),
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing grew" in done.stdout.splitlines()[-1]
    told = json.loads((tmp_path / "soak.json").read_text())
    assert len(told["samples"]) == trials
    assert {line["name"] for line in told["judged"]} >= {"lanlab: memory", "target engine: threads"}
    outcomes = {(each["on_purpose"], each["outcome"]) for each in told["samples"]}
    assert ("killed engine", "EngineLost") in outcomes
    left = {path.name for path in tmp_path.iterdir()} - {"soak.json"}
    assert {name for name in left if not name.startswith("store.sqlite")} == set()
