"""
Small faults in the engine, by cargo-mutants: a sample of each part, for `tools/mutants.py`.

They are put into the copy of the sources below `target/mutants`, and tried with the tests beside
them; decisions with all tests of their crate, and workloads, which need two ends, with some of
whole engines. What does not compile is no fault, and is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

VERSION = "27.1.0"
_ENGINE = "crates/engine/src/"
_WORKLOADS = "crates/workloads/src/"
PARTS = {
    "handshake": _WORKLOADS + "handshake.rs",
    "measure": _WORKLOADS + "measure/*.rs",
    "decisions": _WORKLOADS + "**/*.rs",
    "workloads": _ENGINE + "workloads/**/*.rs",
}


def try_part(work: Path, tree: Path, part: str, seed: int, count: int) -> bool:
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
    listed = subprocess.run([*base, "--list"], env=environment, capture_output=True, check=True)
    every = len(listed.stdout.splitlines())
    shards = max(1, every // count)
    out = work / f"{part}-{seed}"
    # Every so manieth of all, beginning with the seed's: each file has its share.
    chosen = ["--sharding", "round-robin", "--shard", f"{seed % shards}/{shards}"]
    # Tests of the library take seconds; whole engines and simulations some tens.
    longest_s = "300" if part in ("decisions", "workloads") else "60"
    options = ["--in-place", "--baseline", "skip", "--timeout", longest_s, "--build-timeout", "600"]
    # Ends of a link are tests of their own; other parts have theirs beside them.
    tests = [] if part == "decisions" else ["-C=--lib"]
    if part == "workloads":
        tests += ["-C=--test=copy", "-C=--test=contract", "-C=--test=simulate"]
    # What was mutated last may lie there with the time of its change.
    for root in (_ENGINE, _WORKLOADS):
        (tree / root / "lib.rs").touch()
    subprocess.run(
        [*base, *chosen, *options, "--no-shuffle", *tests, "-o", out],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return _told(part, seed, every, out / "mutants.out/outcomes.json")


def _told(part: str, seed: int, every: int, outcomes: Path) -> bool:
    found: dict[str, Any] = json.loads(outcomes.read_text())
    for one in found["outcomes"]:
        log = outcomes.parent / str(one.get("log_path") or "")
        if one["summary"] == "Unviable" and "linking with" in log.read_text(errors="replace"):
            # A run that was interrupted can leave halves of what it was compiling.
            raise SystemExit(f"{log}: linking failed, which is no fault: remove debug/incremental")
        if one["summary"] == "MissedMutant":
            print(f"missed {one['scenario']['Mutant']['name']}")
    caught = found["caught"] + found["timeout"]
    tried = caught + found["missed"]
    print(
        f"{part}: {caught} of {tried} caught ({caught / max(1, tried):.1%}), seed {seed}, "
        f"of {every} faults; {found['unviable']} more do not compile",
        flush=True,
    )
    return bool(found["missed"])
