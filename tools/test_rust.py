"""
Runs the Rust tests, run by `make test`:

    tools/test_rust.py [ARGUMENT OF CARGO TEST ...]

The tests of file services wait for most of their time, for servers and clients of others, and so
do those of links with Linux's LLC, whose kernel they start; without arguments both run beside all
others.

Long tests are `#[ignore = "long: …"]`; LANLAB_LONG adds them: `all`, or share `K/N`.

As of the Python tests (tests/support/quiet_machine.py): a test that failed while the host under
this machine took its processors away is tried again, twice at most, and that is printed. How much
the host took is known for each program of tests, of its worst five seconds.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from long_tests import is_chosen
from quiet_machine import ATTEMPTS, Disturbance, await_quiet, watch_stretches

ROOT = Path(__file__).parents[1]
CARGO_TEST = ("cargo", "test", "--workspace", "--locked", "--quiet", "--no-fail-fast")
#: Many tests wait for peers and clocks.
THREADS = 2 * min(6, os.cpu_count() or 1)


class Outcome(NamedTuple):
    """What came of a run."""

    code: int
    #: Tests that failed, with what disturbed the file of tests that each is in.
    failed: dict[str, Disturbance]
    #: Tests that were begun, and those that the file of tests came to an end with.
    begun: int
    ended: int


#: A long test in the sources: what is ignored for another reason is none.
LONG_TEST = re.compile(r'#\[ignore = "long: [^"]*"\]\s*(?:#\[[^\n]*\]\s*)*(?:async )?fn (\w+)')
#: The targets of tests that wait most.
WAITING = ("services", "linux_llc2")


def parts() -> list[list[str]]:
    """Arguments for each of the targets that wait most, and for all others."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    targets = [target for package in packages["packages"] for target in package["targets"]]
    tests = {target["name"] for target in targets if target["kind"] == ["test"]}
    others = [word for name in sorted(tests.difference(WAITING)) for word in ("--test", name)]
    waiting = [["--test", name] for name in WAITING if name in tests]
    return [*waiting, ["--lib", "--bins", *others]]


def run_all() -> Outcome:
    """Run all tests, the parts beside each other; the last is printed as it runs."""
    *waiting, others = parts()
    said = [io.StringIO() for _ in waiting]
    with ThreadPoolExecutor() as pool:
        begun = list(pool.map(run, [*waiting, others], [*said, sys.stdout]))
    for each in said:
        print(each.getvalue(), end="", flush=True)
    return Outcome(
        max((each.code for each in begun), key=abs),
        {name: host for each in begun for name, host in each.failed.items()},
        sum(each.begun for each in begun),
        sum(each.ended for each in begun),
    )


def run(arguments: list[str], out: TextIO = sys.stdout) -> Outcome:
    """Run tests, and print what cargo prints."""
    process = subprocess.Popen(
        [*CARGO_TEST, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        env={"RUST_TEST_THREADS": str(THREADS), **os.environ},
    )
    assert process.stdout is not None
    failed: dict[str, Disturbance] = {}
    names, seen, begun, ended, count = [""], watch_stretches(), 0, 0, 0
    for line in process.stdout:
        print(line, end="", flush=True, file=out)
        if found := re.match(r"running (\d+) tests?$", line):
            seen()
            names, seen, count = [], watch_stretches(), int(found[1])
            begun += count
        elif line == "failures:\n":
            # There are two lists: what the tests said, and their names. The last is what counts.
            names = []
        elif line.startswith("test result: "):
            ended += count
            host = seen()
            if "FAILED" in line:
                failed.update(dict.fromkeys(names, host))
        elif found := re.match(r"    (\S.*)", line):
            names.append(found[1])
    return Outcome(process.wait(), failed, begun, ended)


def long_tests(of_cargo: list[str], choice: str) -> list[str]:
    """Names of the long tests of a choice: `all`, `none` or `K/N`."""
    if choice == "none":
        return []
    command = [*CARGO_TEST, *of_cargo, "--", "--ignored", "--list", "--format", "terse"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^(\S+): test$", listed, re.MULTILINE)
    long_names = {
        name
        for source in ROOT.glob("crates/**/*.rs")
        for name in LONG_TEST.findall(source.read_text())
    }
    return [n for n in names if n.rpartition("::")[2] in long_names and is_chosen(n, choice)]


def main(arguments: list[str]) -> int:
    """Run the tests, and again what may have failed for the machine; the exit code."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    of_cargo = arguments[:split]
    start_s = time.monotonic()
    # What does not compile will not the next time.
    subprocess.run([*CARGO_TEST, *of_cargo, "--no-run"], check=True)
    built_s = time.monotonic()
    print(f"TOOK {built_s - start_s:.0f} s  Rust, compiling", flush=True)
    outcome = run(arguments) if arguments else run_all()
    for _ in range(1, ATTEMPTS):
        # A file of tests that broke off has tests of which nothing is known.
        is_whole = outcome.begun == outcome.ended
        if not (outcome.failed and is_whole):
            break
        if not all(host.spoils for host in outcome.failed.values()):
            break
        for name, host in outcome.failed.items():
            print(f"AGAIN Rust {name}: {host}", flush=True)
        await_quiet()
        again = run([*of_cargo, "--", "--exact", *outcome.failed])
        if again.begun < len(outcome.failed):
            break
        outcome = again
    print(f"TOOK {time.monotonic() - built_s:.0f} s  Rust, running", flush=True)
    chosen = long_tests(of_cargo, os.environ.get("LANLAB_LONG", "none"))
    if chosen and outcome.code == 0:
        began_s = time.monotonic()
        for name in chosen:
            print(f"LONG Rust {name}", flush=True)
        outcome = run([*of_cargo, "--", "--ignored", "--exact", *chosen])
        print(f"TOOK {time.monotonic() - began_s:.0f} s  Rust, long", flush=True)
    return outcome.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
