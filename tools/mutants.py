"""
Which small faults the tests catch: `make mutants`, or

    .venv/bin/python tools/mutants.py PART ... [--seed N] [--count N]

A sample of the faults of `tools/mutate.py` is put, one at a time, into a copy of the sources below
`target/mutants`. Of each, those tests run that reach its line, the quickest first, until one fails.
A fault is *caught* if a test fails or takes far longer than it does. All that is reached takes part
but tests of more than two seconds of a processor, such as simulations, and no more than eight
seconds of tests in all: what only others catch counts as missed.

Faults of the engine are those of cargo-mutants (`tools/mutants_rust.py`), and of its workloads
Python tests try what its Rust tests miss (`tools/mutants_engine.py`).

The first run looks which test reaches which line, with coverage.py, which it installs below
`target/mutants`; test files that changed since are looked at again.
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import hashlib
import importlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mutants_rust
from mutate import Mutant, mutants

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target/mutants"
TREE = WORK / "tree"
#: A test of more takes no part, in seconds of a processor.
SLOW_S = 2.0
#: All that try one fault, the quickest first, take no more.
MOST_S = 8.0
#: A test that waits longer takes no part.
LONG_S = 30.0
#: Tests of the first look; most faults end there.
FIRST = 40

#: What is mutated, and the tests that are meant for it.
PARTS: dict[str, tuple[list[str], list[str]]] = {
    "statistics": (
        ["src/lanlab/analysis/statistics"],
        [
            "tests/analysis/statistics",
            "tests/analysis/test_comparison_of_runs.py",
            "tests/analysis/test_two_modes.py",
            "tests/bench/test_comparison_errors.py",
            "tests/bench/test_error_rates.py",
        ],
    ),
    "findings": (
        ["src/lanlab/analysis/findings"],
        ["tests/analysis/findings", "tests/analysis/test_findings_of_runs.py"],
    ),
    "losses": (
        [
            "src/lanlab/workloads/stream/losses.py",
            "src/lanlab/workloads/stream/results.py",
            "src/lanlab/workloads/stream/fairness.py",
            "src/lanlab/analysis/traffic/loss_places.py",
        ],
        [
            "tests/workloads/test_stream_*s.py",
            "tests/workloads/test_arrivals.py",
            "tests/analysis/test_loss_places.py",
            "tests/analysis/test_modes.py",
        ],
    ),
    "analysis": (
        [
            "src/lanlab/analysis/simulation/model_error.py",
            "src/lanlab/analysis/simulation/accuracy.py",
            "src/lanlab/analysis/simulation/run.py",
            "src/lanlab/analysis/traffic/peaks.py",
            "src/lanlab/analysis/traffic/load_increase.py",
            "src/lanlab/report/simulation/prediction_table.py",
            "src/lanlab/report/simulation/accuracy_table.py",
            "src/lanlab/studies/machines.py",
            "src/lanlab/studies/what_if.py",
            "src/lanlab/cli/commands/scan.py",
        ],
        [
            "tests/analysis/test_model_error.py",
            "tests/analysis/test_simulated_*.py",
            "tests/analysis/test_peaks.py",
            "tests/analysis/test_load_increase.py",
            "tests/analysis/test_readings_of_print.py",
            "tests/bench/test_ensemble.py",
            "tests/bench/test_fit.py",
            "tests/report/simulation/test_accuracy_tables.py",
            "tests/report/simulation/test_prediction_*.py",
            "tests/studies/test_machine*.py",
            "tests/studies/test_what_if.py",
            "tests/cli/test_levels.py",
            "tests/cli/test_simulated_commands.py",
            "tests/cli/test_scan*.py",
        ],
    ),
    # What decides the sentences that people read first.
    "answers": (
        [
            "src/lanlab/analysis/comparison/ranking.py",
            "src/lanlab/analysis/comparison/factor_effects.py",
            "src/lanlab/analysis/simulation/limiting.py",
            "src/lanlab/report/answer",
        ],
        [
            "tests/analysis/test_ranking.py",
            "tests/analysis/test_factor_effects.py",
            "tests/analysis/test_limiting.py",
            "tests/report/answer",
            "tests/nas/test_network.py",
            "tests/bench/test_comparison_errors.py",
            "tests/report",
            "tests/cli/test_failing_analyses.py",
            "tests/cli/test_result_texts.py",
            "tests/cli/test_show.py",
            "tests/cli/test_stored_texts.py",
        ],
    ),
    "store": (["src/lanlab/store"], ["tests/store"]),
}


def main() -> int:
    everything = [*PARTS, *mutants_rust.PARTS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(everything))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="faults of a part, at most")
    parser.add_argument("--only", default="", help="faults whose file and place hold this text")
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = str(TREE / "src")
    os.environ.setdefault("LANLAB_ENGINE", str(ROOT / ".venv/bin/lanlab-engine"))
    if not (WORK / "site/coverage").is_dir():
        wanted = ["install", "--quiet", "--target", str(WORK / "site"), "coverage==7.17.3"]
        subprocess.run([sys.executable, "-m", "pip", *wanted], check=True)
    WORK.mkdir(parents=True, exist_ok=True)
    alone = (WORK / "lock").open("w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"another run puts its faults into {TREE}: let it end first") from None
    _copy_tree()
    # Once, and not in each process that tries a fault.
    for name in ("hypothesis", "matplotlib.figure", "pydantic", "pytest", "rich",
                 "scipy.stats", "statsmodels.api", "typer"):  # fmt: skip
        importlib.import_module(name)
    missed = False
    for part in asked.parts or everything:
        if part in mutants_rust.PARTS:
            missed |= mutants_rust.try_part(
                WORK, TREE, part, asked.seed, asked.count, asked.only, _alike()
            )
        else:
            missed |= _try_part(part, asked.seed, asked.count, asked.only)
    return int(missed)


def _copy_tree() -> None:
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, names.split("\0")):
        here, there = ROOT / name, TREE / name
        if here.is_file() and not (there.is_file() and there.read_bytes() == here.read_bytes()):
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(here.read_bytes())


def _files(patterns: list[str]) -> list[str]:
    found: set[Path] = set()
    for pattern in patterns:
        for path in TREE.glob(pattern):
            found |= set(path.rglob("*.py")) if path.is_dir() else {path}
    names = (
        str(path.relative_to(TREE)) for path in found if (ROOT / path.relative_to(TREE)).exists()
    )
    return sorted(name for name in names if "__pycache__" not in name)


def _try_part(part: str, seed: int, count: int, only: str) -> bool:
    sources, tests = (_files(patterns) for patterns in PARTS[part])
    tests = [name for name in tests if Path(name).name.startswith("test_")]
    # Examples in docstrings are tests, too.
    tests += [name for name in sources if ">>>" in (TREE / name).read_text()]
    reached = _reached(part, sources, tests)
    every = [(name, one) for name in sources for one in mutants((TREE / name).read_text())]
    every = [(name, one) for name, one in every if only in f"{name}:{one}"]
    alike = _alike()
    found = len(every)
    every = [(name, one) for name, one in every if not _is_alike(name, one, alike)]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    chosen.sort(key=lambda one: (one[0], one[1].line))
    begin, caught, missed = time.monotonic(), 0, []
    with (WORK / f"{part}-{seed}.txt").open("w") as report:
        for name, mutant in chosen:
            how = _try(name, mutant, reached)
            caught += how != "missed"
            if how == "missed":
                missed.append((name, mutant))
            print(f"{how} {name}:{mutant}", file=report, flush=True)
    for name, mutant in missed:
        print(f"missed {name}:{mutant}")
    spent = (time.monotonic() - begin) / 60
    share = caught / max(1, len(chosen))
    print(
        f"{part}: {caught} of {len(chosen)} caught ({share:.1%}), seed {seed}, "
        f"of {found} faults less {found - len(every)} that change nothing, {spent:.0f} min",
        flush=True,
    )
    return bool(missed)


def _alike() -> set[str]:
    """Faults that were looked at and change no answer; the file says by which rule."""
    lines = (ROOT / "tools/mutants_alike.txt").read_text().splitlines()
    return {line.strip() for line in lines if line.startswith(" ")}


def _is_alike(name: str, mutant: Mutant, alike: set[str]) -> bool:
    told = f"{name} {mutant.told}"
    line = (TREE / name).read_text().splitlines()[mutant.line - 1].strip()
    # Where a function has the same text in several lines, the file names the line as well.
    return told in alike or f"{told} in `{line}`" in alike


def _try(name: str, mutant: Mutant, reached: dict[str, Any]) -> str:
    path = TREE / name
    right = path.read_text()
    tests: dict[str, float] = {}
    for seen in reached.values():
        lines = seen["lines"].get(name, {})
        here = [
            lines[str(at)] for at in range(mutant.line, mutant.end_line + 1) if str(at) in lines
        ]
        near = {at for those in here for at in those}
        if here and not near:
            # Run once, when the file is imported: a constant, a default, a field of a model, which
            # is read where no line of the file runs.
            near = set(range(len(seen["tests"])))
        tests |= {seen["tests"][at][0]: seen["tests"][at][1] for at in near}
        tests |= {
            one: cpu
            for one, cpu in seen["tests"]
            if name in seen["apart"] and one in seen["apart"][name]
        }
    quick, spent = [], 0.0
    for cpu, one in sorted((cpu, one) for one, cpu in tests.items()):
        spent += cpu
        if cpu < SLOW_S and spent < MOST_S:
            quick.append((cpu, one))
    try:
        path.write_text(mutant.source)
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            cached.unlink()
        for some in (quick[:FIRST], quick[FIRST:]):
            limit = 20 + 5 * sum(cpu for cpu, _ in some)
            if some and _forked(functools.partial(_fails, [one for _, one in some]), limit) != 0:
                return "caught"
    finally:
        path.write_text(right)
    return "missed"


def _forked(work: Callable[[], int], cpu_limit_s: float) -> int:
    """What `work` returns in a process of its own; -1 if it took too long or was ended."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit_s), int(cpu_limit_s) + 5))
            quiet = os.open(WORK / "last-output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            os.chdir(TREE)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + 60 + 8 * cpu_limit_s
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _pytest(arguments: list[str], plugin: object) -> int:
    import hypothesis
    import pytest

    # A smaller example of a failure is worth nothing here, and the same ones are tried each time.
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        database=None,
        derandomize=True,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )

    class Found:
        """After tests/conftest.py has chosen its own."""

        def pytest_collectstart(self) -> None:
            hypothesis.settings.load_profile("mutants")

    sys.path.insert(0, str(TREE / "src"))
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(TREE)]
    # Examples in docstrings are tests of the sources.
    alone.append("--doctest-modules")
    return int(pytest.main([*alone, *arguments], plugins=[plugin, Found()]))


def _fails(names: list[str]) -> int:
    # A file that is as long as before, in the same second, would be taken for the one before.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

    class Chosen:
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            at = {name: place for place, name in enumerate(names)}
            items[:] = sorted(
                (one for one in items if one.nodeid in at), key=lambda one: at[one.nodeid]
            )

    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    return _pytest(["-x", "-q", *files], Chosen())


def _reached(part: str, sources: list[str], tests: list[str]) -> dict[str, Any]:
    """Of each test file: its tests with their processor time, and which lines each reaches."""
    kept = WORK / f"{part}-reached.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    # What a test file uses beside it is part of it.
    helpers = [name for name in _files(["tests"]) if not Path(name).name.startswith("test_")]
    common = hashlib.sha256(b"".join((TREE / name).read_bytes() for name in sources + helpers))
    found = {}
    for name in tests:
        key = common.copy()
        key.update((TREE / name).read_bytes())
        if name not in known or known[name]["key"] != key.hexdigest():
            answer = WORK / "answer.json"
            answer.unlink(missing_ok=True)
            look = functools.partial(_look, name, sources, answer)
            code = _forked(look, 900)
            if code not in (0, 1, 5) or not answer.exists():
                said = (WORK / "last-output.txt").read_text()[-2000:]
                raise SystemExit(f"{name}: pytest ended with {code}\n{said}")
            known[name] = {"key": key.hexdigest(), **json.loads(answer.read_text())}
            kept.write_text(json.dumps(known))
        found[name] = known[name]
    return found


def _look(name: str, sources: list[str], answer: Path) -> int:
    sys.path.insert(0, str(WORK / "site"))
    import coverage

    watch = coverage.Coverage(
        data_file=None, include=[str(TREE / one) for one in sources], messages=False
    )
    passed: dict[str, float] = {}
    spawning: set[str] = set()

    class Watch:
        def pytest_runtest_logstart(self, nodeid: str) -> None:
            watch.switch_context(nodeid)
            self.before, self.begin = os.times(), time.monotonic()

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" and report.passed:
                passed[report.nodeid] = 0.0

        def pytest_runtest_logfinish(self, nodeid: str) -> None:
            after = os.times()
            if nodeid not in passed or time.monotonic() - self.begin > LONG_S * 3:
                passed.pop(nodeid, None)
                return
            passed[nodeid] = sum(after[:4]) - sum(self.before[:4])
            if after[2] > self.before[2]:
                spawning.add(nodeid)

    watch.start()
    code = _pytest(["-q", name], Watch())
    watch.stop()
    tests = list(passed.items())
    at = {one: place for place, (one, _) in enumerate(tests)}
    data = watch.get_data()
    lines = {}
    for path in data.measured_files():
        by_line = data.contexts_by_lineno(path)
        lines[str(Path(path).relative_to(TREE))] = {
            str(line): sorted(at[one] for one in contexts if one in at)
            for line, contexts in by_line.items()
        }
    # What a test does in processes of its own is not seen: it is taken to reach every line.
    apart = {source: sorted(spawning) for source in sources} if spawning else {}
    answer.write_text(json.dumps({"tests": tests, "lines": lines, "apart": apart}))
    return code


if __name__ == "__main__":
    sys.exit(main())
