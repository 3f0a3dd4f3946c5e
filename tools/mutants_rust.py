"""
Small faults in the engine, by cargo-mutants: a sample of each part, for `tools/mutants.py`.

They are put into the copy of the sources below `target/mutants`, and tried with the tests beside
them; decisions with all tests of their crate, and workloads, which need two ends, with some of
whole engines, and what these miss with Python tests (`tools/mutants_engine.py`). What does not
compile is no fault, and is left out, as is what `tools/mutants_alike.txt` names.
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

VERSION = "27.1.0"
_ENGINE = "crates/engine/src/"
_WORKLOADS = "crates/workloads/src/"
PARTS = {
    "handshake": _WORKLOADS + "handshake.rs",
    "measure": _WORKLOADS + "measure/*.rs",
    "decisions": _WORKLOADS + "**/*.rs",
    "workloads": _ENGINE + "workloads/**/*.rs",
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
    package = "lanlab-engine" if part == "workloads" else "lanlab-workloads"
    base = [program, "mutants", "--dir", tree, "-p", package, "-f", PARTS[part]]
    if package == "lanlab-workloads":
        base += ["--features", "services"]
    listed = subprocess.run(
        [*base, "--list"], env=environment, capture_output=True, text=True, check=True
    )
    every = [name for name in listed.stdout.splitlines() if only in name]
    faults = [name for name in every if not _is_alike(tree, name, alike)]
    chosen = random.Random(seed).sample(faults, min(count, len(faults)))
    out = work / f"{part}-{seed}"
    # Tests of the library take seconds; whole engines and simulations some tens.
    longest_s = "300" if part in ("decisions", "workloads") else "60"
    options = ["--in-place", "--baseline", "skip", "--timeout", longest_s, "--build-timeout", "600"]
    options += [f"--re=^{re.escape(name)}$" for name in chosen]
    # Ends of a link are tests of their own; other parts have theirs beside them.
    tests = [] if part == "decisions" else ["-C=--lib"]
    if part == "workloads":
        tests += ["-C=--test=copy", "-C=--test=contract", "-C=--test=simulate"]
    # What was mutated last may lie there with the time of its change.
    for root in (_ENGINE, _WORKLOADS):
        (tree / root / "lib.rs").touch()
    subprocess.run(
        [*base, *options, "--no-shuffle", *tests, "-o", out],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    outcomes = out / "mutants.out/outcomes.json"
    found = json.loads(outcomes.read_text())
    missed = _missed(found, outcomes.parent)
    tried = found["caught"] + found["timeout"] + found["missed"]
    by_python = same = 0
    if part == "workloads" and missed:
        engines = Engines(work, tree, environment)
        for mutant, diff in list(missed):
            how = engines.judge(mutant, diff)
            print(f"{how}: {mutant['name']}", flush=True)
            if how != "missed":
                missed.remove((mutant, diff))
            same += how == "same"
            by_python += how not in ("same", "missed")
        tried -= same
    for mutant, _ in missed:
        print(f"missed {mutant['name']}")
    caught = tried - len(missed)
    print(
        f"{part}: {caught} of {tried} caught ({caught / max(1, tried):.1%}), {by_python} by Python "
        f"tests, seed {seed}, of {len(every)} faults less {len(every) - len(faults)} that change "
        f"nothing; {found['unviable']} more do not compile, and {same} compile to the same",
        flush=True,
    )
    return bool(missed)


def _is_alike(tree: Path, name: str, alike: set[str]) -> bool:
    """Whether a fault, `PATH:LINE:COLUMN: TEXT`, is named by path and text, or with its line."""
    path, line, _, text = name.split(":", 3)
    told = f"{path}:{text}"
    return told in alike or f"{told} in `{_line(tree / path, int(line))}`" in alike


def _line(path: Path, number: int) -> str:
    return path.read_text().splitlines()[number - 1].strip()


def _missed(found: dict[str, Any], place: Path) -> list[tuple[dict[str, Any], Path]]:
    missed = []
    for one in found["outcomes"]:
        log = place / str(one.get("log_path") or "")
        if one["summary"] == "Unviable" and "linking with" in log.read_text(errors="replace"):
            # A run that was interrupted can leave halves of what it was compiling.
            raise SystemExit(f"{log}: linking failed, which is no fault: remove debug/incremental")
        if one["summary"] == "MissedMutant":
            missed.append((one["scenario"]["Mutant"], place / one["diff_path"]))
    return missed
