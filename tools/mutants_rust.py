"""
Small faults in the engine, by cargo-mutants: a sample of each part, for `tools/mutants.py`.

They are put into the copy of the sources below `target/mutants`, and tried with the tests next to
them; parts of `_WITH_ALL_TESTS` with all tests of their crate, most of a sample in one build
(`tools/mutants_together.py`), and workloads, which need two ends, with some of whole engines, and
what these miss with Python tests (`tools/mutants_engine.py`). What does not compile is no fault,
and is left out, as is what `tools/mutants_alike.txt` names.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

from mutants_engine import Engines
from mutants_together import Suite, together

VERSION = "27.1.0"
_ENGINE = "crates/engine/src/"
_WORKLOADS = "crates/workloads/src/"
#: Files of each part; what is not the engine's is in a crate of its own.
PARTS = {
    "handshake": _WORKLOADS + "handshake.rs",
    "measure": _WORKLOADS + "measure/*.rs",
    "decisions": _WORKLOADS + "**/*.rs",
    "workloads": _ENGINE + "workloads/**/*.rs",
    "sim": "crates/sim/src/**/*.rs",
    "medium": "crates/medium/src/**/*.rs",
    "stack": "crates/stack/src/**/*.rs",
}
#: Parts that all tests of their crate try, not only those beside the sources.
_WITH_ALL_TESTS = ("decisions", "sim", "medium", "stack")
#: Tests of other crates that are meant for a part: programs on simulated hosts are the engine's.
_ALSO = {
    "sim": [
        Suite("engine", ("--lib",), "workloads::simulate"),
        Suite("engine", ("--test=simulate",)),
    ]
}


def try_part(
    work: Path, tree: Path, part: str, seed: int, count: int, only: str, alike: set[str]
) -> bool:
    """Print what was missed, and the share that was caught; whether any was missed."""
    program = work / "cargo/bin/cargo-mutants"
    if not program.exists():
        wanted = ["install", "--locked", "--root", str(work / "cargo"), f"cargo-mutants@{VERSION}"]
        subprocess.run(["cargo", *wanted], check=True)
    environment = os.environ | {
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(work / "target")),
        "CARGO_INCREMENTAL": "1",
        "CARGO_PROFILE_DEV_DEBUG": "0",
    }
    package = f"lanlab-{PARTS[part].split('/')[1]}"
    base = [program, "mutants", "--dir", tree, "-p", package, "-f", PARTS[part]]
    listed = subprocess.run(
        [*base, "--list", "--json"], env=environment, capture_output=True, text=True, check=True
    )
    found = {str(fault["name"]): fault for fault in json.loads(listed.stdout)}
    listing = list(found)
    # Of tests that are for some systems alone, cargo-mutants does not know that they are tests.
    every = [
        name for name in listing if only in name and not re.search("(in|replace) tests::", name)
    ]
    faults = [name for name in every if not _is_alike(tree, name, alike)]
    chosen = random.Random(seed).sample(faults, min(count, len(faults)))
    out = work / f"{part}-{seed}"
    # Tests of the library take seconds; whole engines and simulations some tens.
    longest_s = "300" if part in (*_WITH_ALL_TESTS, "workloads") else "60"
    options = ["--in-place", "--baseline", "skip", "--timeout", longest_s, "--build-timeout", "600"]
    # Ends of a link are tests of their own; other parts have theirs beside them.
    tests = [] if part in _WITH_ALL_TESTS else ["-C=--lib"]
    if part == "workloads":
        tests += ["-C=--test=copy", "-C=--test=contract", "-C=--test=simulate"]
    # What was mutated last may lie there with the time of its change.
    for package_root in sorted({"/".join(files.split("/")[:3]) for files in PARTS.values()}):
        (tree / package_root / "lib.rs").touch()
    engines = None
    outcomes: dict[str, list[str]] = {}
    if part in _WITH_ALL_TESTS:
        sample = [found[name] for name in chosen]
        suites = [Suite(package.removeprefix("lanlab-")), *_ALSO.get(part, ())]
        for name, how in together(tree, suites, sample, environment):
            chosen.remove(name)
            outcomes.setdefault(how, []).append(name)
            print(f"{how} {name}", flush=True)
    for name in chosen:
        # By its place in the list: a choice by name lets faults of other kinds through.
        alone = ["--sharding=round-robin", f"--shard={listing.index(name)}/{len(listing)}"]
        subprocess.run(
            [*base, *alone, *options, "--no-shuffle", *tests, "-o", out],
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        how, mutant, diff = _outcome(name, out / "mutants.out")
        by = ""
        if part == "workloads" and how == "missed":
            engines = engines or Engines(work, tree, environment)
            how, by = engines.judge(mutant, diff)
        outcomes.setdefault(how, []).append(name)
        print(f"{how} {name}{by and f', by {by}'}", flush=True)
    counts = {how: len(names) for how, names in outcomes.items()}
    by_python = counts.get("caught by Python", 0)
    caught = counts.get("caught", 0) + by_python
    tried = caught + counts.get("missed", 0)
    print(
        f"{part}: {caught} of {tried} caught ({caught / max(1, tried):.1%}), {by_python} by Python "
        f"tests, seed {seed}, of {len(every)} faults less {len(every) - len(faults)} that change "
        f"nothing; {counts.get('unviable', 0)} more do not compile, and {counts.get('same', 0)} "
        "compile to the same",
        flush=True,
    )
    return "missed" in outcomes


def _is_alike(tree: Path, name: str, alike: set[str]) -> bool:
    """Whether a fault, `PATH:LINE:COLUMN: TEXT`, is named by path and text, or with its line."""
    path, line, _, text = name.split(":", 3)
    outcomes = f"{path}:{text}"
    return outcomes in alike or f"{outcomes} in `{_line(tree / path, int(line))}`" in alike


def _line(path: Path, number: int) -> str:
    return path.read_text().splitlines()[number - 1].strip()


def _outcome(name: str, place: Path) -> tuple[str, dict[str, Any], Path]:
    """What the Rust tests made of a fault; the fault, and its diff."""
    found = json.loads((place / "outcomes.json").read_text())
    (one,) = found["outcomes"]
    log = place / str(one["log_path"])
    if one["summary"] == "Unviable" and "linking with" in log.read_text(errors="replace"):
        # A run that was interrupted can leave halves of what it was compiling.
        raise SystemExit(f"{log}: linking failed, which is no fault: remove debug/incremental")
    mutant = one["scenario"]["Mutant"]
    if mutant["name"] != name:
        raise SystemExit(f"found {mutant['name']} in the place of {name}")
    summaries = {
        "CaughtMutant": "caught",
        "Timeout": "caught",
        "MissedMutant": "missed",
        "Unviable": "unviable",
    }
    return summaries[one["summary"]], mutant, place / one["diff_path"]
