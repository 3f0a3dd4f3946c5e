"""`tools/test_rust.py`: only what failed in a disturbed moment is tried again, and it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"

if not TOOLS.is_dir():
    pytest.skip("the tools are not part of what is installed", allow_module_level=True)

#: A cargo with two files of tests, of which the second has one that fails in its first attempts.
CARGO = """#!/bin/sh
case "$*" in *--no-run) exit 0;; esac
echo "$*" >>"$HOME/calls"
case "$*" in *--exact*) ;; *) printf 'running 2 tests\\n..\\ntest result: ok. 2 passed;\\n';; esac
printf 'running 1 test\\nF\\n'
{breaks}
if [ $(wc -l <"$HOME/calls") -gt {failures} ]; then
    echo 'test result: ok. 1 passed;'
    exit 0
fi
printf 'failures:\\n\\n---- a::b stdout ----\\n    at x.rs:1\\n\\n'
printf 'failures:\\n    a::b\\n\\ntest result: FAILED. 0 passed;\\n'
exit 101
"""
#: With a host that takes this share of a processor's time.
RUN = """
import itertools, sys, types
sys.path[:0] = [{tools!r}]
import test_rust, quiet_machine
clock, stolen = itertools.count(), itertools.count()
quiet_machine.time = types.SimpleNamespace(monotonic=lambda: 10.0 * next(clock))
quiet_machine.stolen_s = lambda: {taken} * 10.0 * next(stolen)
quiet_machine.QUIET_S = quiet_machine.PATIENCE_S = 0
sys.exit(test_rust.main(["--lib"]))
"""


@pytest.mark.parametrize(
    ("taken", "failures", "breaks", "code", "attempts"),
    [
        (0.4, 0, "", 0, 1),
        (0.4, 1, "", 0, 2),
        (0.4, 4, "", 0, 5),
        (0.4, 5, "", 101, 5),
        (0.019, 1, "", 101, 1),
        # Killed in its middle: what else it would have found is not known.
        (0.4, 9, "kill -9 $$", -9, 1),
    ],
)
def test_what_failed_in_a_disturbed_moment_is_tried_again(
    tmp_path: Path, taken: float, failures: int, breaks: str, code: int, attempts: int
) -> None:
    """By its name alone, and twice more at most."""
    cargo = tmp_path / "cargo"
    cargo.write_text(CARGO.format(failures=failures, breaks=breaks))
    cargo.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(tools=str(TOOLS), taken=taken)],
        env={**os.environ, "LANLAB_LONG": "none", "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == (code if code >= 0 else 256 + code), done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert ["--exact a::b" in call for call in calls] == [False, *[True] * (attempts - 1)]
    told = [line for line in done.stdout.splitlines() if line.startswith("AGAIN ")]
    assert told == ["AGAIN Rust a::b: the host took 40.0% of a processor's time"] * (attempts - 1)


def test_all_parts_are_all_tests() -> None:
    """A new file of tests is in one of them, and none in two."""
    sys.path.insert(0, str(TOOLS))
    try:
        from test_rust import parts
    finally:
        sys.path.pop(0)
    files = {path.stem for path in TOOLS.parent.glob("crates/*/tests/*.rs")}
    folders = {path.parent.name for path in TOOLS.parent.glob("crates/*/tests/*/main.rs")}
    every = [name for part in parts() for name in part if not name.startswith("--")]
    named = set(every)
    assert len(named) == len(every)
    assert named <= files | folders | {"services"}
    assert {"services", "contract", "nbf", "linux_llc2"} <= named


def test_what_is_ignored_for_another_reason_is_no_long_test() -> None:
    """By what stands in the source above a test."""
    sys.path.insert(0, str(TOOLS))
    try:
        from test_rust import LONG_TEST
    finally:
        sys.path.pop(0)
    source = """
    #[test]
    #[ignore = "long: 100,000 swaps"]
    fn swaps() {}
    #[tokio::test]
    #[ignore = "long: 60,000 files"]
    #[cfg(target_os = "linux")]
    async fn files() {}
    #[test]
    #[ignore = "another test starts it"]
    fn inside() {}
    """
    assert LONG_TEST.findall(source) == ["swaps", "files"]
