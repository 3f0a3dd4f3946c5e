"""
Small faults in the engine's workloads that its Rust tests miss, tried with Python tests that
measure with the engine: for `tools/mutants_rust.py`.

Each fault is built into a debug engine, which `LANLAB_ENGINE` names to the tests of its folder, and
those of every engine. A test takes part if it passes with the engine without a fault, within
`SLOW_S`. A fault is caught if a test fails twice with it, and in between not without it (to take
`LONG_S` is to fail), or if all tests do not end within `MOST_S`. A fault that leaves the engine as
it is, byte for byte, is in code of another system, or compiles to the same, and is none.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

#: A test of more takes no part, in seconds without a fault.
SLOW_S = 20.0
#: A test with a fault ends there.
LONG_S = 60.0
#: All tests of one fault.
MOST_S = 360.0
#: All tests of a folder without a fault: those that take longest are left out.
FOLDER_S = 120.0

_EVERY = "engine/test_engine_contract engine/test_engine_bad_requests engine/test_engine_life"
_TESTS = {
    "copy": "workloads/test_copy workloads/test_copy_cut workloads/test_copy_kept "
    "workloads/test_copy_refused workloads/test_copy_wrong cli/test_copy_command",
    "dataset": "workloads/test_copy workloads/test_copy_kept engine/test_engine_commands",
    "echo": "workloads/test_echo_numbers workloads/test_exchange workloads/test_clocks "
    "workloads/test_receive_modes workloads/test_lost_datagrams engine/test_hostile_peers "
    "workloads/test_every_size workloads/test_peer_echo cli/test_outstanding",
    "metadata": "workloads/test_metadata",
    "path_mtu": "engine/test_engine_paths testbeds/test_ssh_paths",
    "pcap_file.rs": "engine/test_engine_simulate",
    "segment.rs": "cli/test_without_ip",
    "recorded.rs": "engine/test_engine_simulate cli/test_serve_netbeui cli/test_without_ip",
    "serve": "cli/test_serve cli/test_own_server cli/test_serve_netbeui "
    "workloads/test_station_fairness",
    "setup": "workloads/test_exchange workloads/test_fixed_port workloads/test_strangers "
    "workloads/test_stream_numbers engine/test_engine_commands engine/test_hostile_strangers "
    "workloads/test_every_size",
    "simulate": "engine/test_engine_simulate run/test_simulated_run run/test_simulated_worlds "
    "cli/test_simulated_commands",
    "stations": "workloads/test_stations workloads/test_station_fairness cli/test_stations_command",
    "stream": "workloads/test_stream_numbers workloads/test_stream_impaired "
    "workloads/test_receive_modes workloads/test_lost_datagrams cli/test_stream_start "
    "engine/test_hostile_peers workloads/test_every_size run/test_trial_ends "
    "workloads/test_peer_streams workloads/test_peer_serving workloads/test_small_stack",
    "worker_threads.rs": "workloads/test_copy workloads/test_metadata",
}
_REPORT = "LANLAB_MUTANTS_REPORT"
_LIMIT = "LANLAB_MUTANTS_LIMIT_S"


def pytest_runtest_logreport(report: Any) -> None:
    """As a plugin of pytest: add a line to the report."""
    with Path(os.environ[_REPORT]).open("a") as told:
        print(json.dumps([report.nodeid, report.outcome, report.duration]), file=told)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """As a plugin of pytest: let a test fail that takes too long."""

    def too_long(*_: object) -> None:
        raise TimeoutError("the test takes too long")

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, float(os.environ[_LIMIT]))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Engines:
    """The engine without a fault, that with one, and what is known of tests with the former."""

    def __init__(self, work: Path, tree: Path, environment: dict[str, str]) -> None:
        self._work, self._tree, self._environment = work, tree, environment
        self._mutated = Path(environment["CARGO_TARGET_DIR"], "debug/lanlab-engine")
        self._sound = work / "lanlab-engine"
        self._kept = work / "engine-tests.json"
        self._known = json.loads(self._kept.read_text()) if self._kept.exists() else {}
        # What was mutated last may lie there with the time of its change.
        (tree / "crates/engine/src/lib.rs").touch()
        self._build()
        if not (self._sound.exists() and filecmp.cmp(self._mutated, self._sound, shallow=False)):
            shutil.copy2(self._mutated, self._sound)

    def judge(self, mutant: dict[str, Any], diff: Path) -> tuple[str, str]:
        """What becomes of a fault: `same`, `missed` or `caught by Python`, and by which test."""
        path = self._tree / mutant["file"]
        right = path.read_text()
        files = self._files(mutant["file"])
        left_out = self._left_out(files)
        try:
            subprocess.run(["patch", "--silent", "--no-backup-if-mismatch", path, diff], check=True)
            self._build()
            if filecmp.cmp(self._mutated, self._sound, shallow=False):
                return "same", ""
            while True:
                failed = self._failing(self._mutated, files, left_out)
                if failed is None:
                    return "caught by Python", f"tests that took {MOST_S:.0f} s"
                if not failed:
                    return "missed", ""
                # A test may fail for the moment: then it says nothing.
                is_sound = self._failing(self._sound, [failed]) == ""
                if is_sound and self._failing(self._mutated, [failed]) != "":
                    return "caught by Python", failed
                left_out.append(failed)
        finally:
            path.write_text(right)

    def _build(self) -> None:
        built = subprocess.run(
            ["cargo", "build", "--quiet", "-p", "lanlab-engine"],
            cwd=self._tree,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        if built.returncode != 0:
            raise SystemExit(f"an engine was not built:\n{built.stderr}")

    def _files(self, source: str) -> list[str]:
        place = source.partition("/workloads/")[2].partition("/")[0]
        names = f"{_TESTS.get(place, '')} {_EVERY}".split()
        return [f"tests/{name}.py" for name in names]

    def _left_out(self, files: list[str]) -> list[str]:
        """Tests that fail or take too long without a fault."""
        tests: list[tuple[float, str]] = []
        for name in files:
            key = hashlib.sha256((self._tree / name).read_bytes()).hexdigest()
            known = self._known.get(name, {})
            if known.get("key") != key:
                told = self._pytest(self._sound, [name], [], SLOW_S)[0]
                known = {"key": key, "tests": told}
                self._known[name] = known
                self._kept.write_text(json.dumps(self._known, indent=1))
            tests += [
                (took if outcome == "passed" else SLOW_S, test)
                for test, (outcome, took) in known["tests"].items()
            ]
        left_out, spent = [], 0.0
        for took, test in sorted(tests):
            spent += took
            if took >= SLOW_S or spent > FOLDER_S:
                left_out.append(test)
        return left_out

    def _failing(
        self, engine: Path, tests: list[str], left_out: list[str] | None = None
    ) -> str | None:
        """The first test that fails; `None` if they take too long, empty if none does."""
        told, is_over = self._pytest(engine, ["-x", *tests], left_out or [], LONG_S)
        failed = [test for test, (outcome, _) in told.items() if outcome == "failed"]
        return None if is_over else "".join(failed[:1])

    def _pytest(
        self, engine: Path, arguments: list[str], left_out: list[str], longest_s: float
    ) -> tuple[dict[str, tuple[str, float]], bool]:
        """Of each test its worst outcome and its time in all; and whether they took too long."""
        report = self._work / "engine-report.txt"
        report.write_text("")
        options = ["-q", "-n0", "-p", "no:cacheprovider", "-p", "mutants_engine"]
        options += [f"--rootdir={self._tree}", *(f"--deselect={one}" for one in left_out)]
        paths = [str(self._tree / "src"), str(Path(__file__).parent)]
        with (self._work / "last-output.txt").open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *arguments],
                cwd=self._tree,
                env=os.environ
                | {
                    "LANLAB_ENGINE": str(engine),
                    "PYTHONPATH": os.pathsep.join(paths),
                    _REPORT: str(report),
                    _LIMIT: str(longest_s),
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            is_over = outlasts(process, MOST_S)
        told: dict[str, tuple[str, float]] = {}
        for line in report.read_text().splitlines():
            test, outcome, took = json.loads(line)
            before, spent = told.get(test, ("passed", 0.0))
            told[test] = (outcome if before == "passed" else before, spent + took)
        if not told and not is_over:
            raise SystemExit(f"pytest ran no test: see {self._work / 'last-output.txt'}")
        return told, is_over


def outlasts(process: subprocess.Popen[bytes], most_s: float) -> bool:
    """Whether a process takes longer, and is ended. Time in which we stand still is not counted."""
    for _ in range(int(most_s * 2)):
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True
