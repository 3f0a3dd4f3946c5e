"""
Print the commands that run the tests a change needs: of all that differs from COMMIT.

    tools/changed_tests.py COMMIT
    tools/changed_tests.py COMMIT --nextest | --pytest      # arguments for `make test SINCE=COMMIT`

Rust: the tests of changed crates, and of crates that use them. Python: all but those of areas that
use nothing of it (tests/areas.toml). If git does not know COMMIT, all tests are needed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
AREAS = tomllib.loads((ROOT / "tests/areas.toml").read_text(encoding="utf-8"))


def git(*arguments: str) -> list[str]:
    command = ["git", "-C", str(ROOT), *arguments, "-z"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    return shown.stdout.split("\0")[:-1]


def changed_since(commit: str) -> list[str] | None:
    """Files that differ from a commit, untracked ones too. `None`: the commit is not known."""
    try:
        changed = git("diff", "--name-only", "--no-renames", f"{commit}^{{commit}}")
    except subprocess.CalledProcessError:
        return None
    return [*changed, *git("ls-files", "--others", "--exclude-standard")]


@cache
def tests_of(area: str) -> list[str]:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    wanted = AREAS["area"][area]["tests"]
    return [file for file in files if any(fnmatch(file, pattern) for pattern in wanted)]


def areas_of(file: str) -> set[str]:
    """Areas whose tests a change of this file needs: all, unless the table says which."""
    areas = AREAS["area"]
    if file.startswith("tests/") and file.rpartition("/")[2].startswith("test_"):
        return {name for name in areas if any(fnmatch(file, p) for p in areas[name]["tests"])}
    using = {name for name in areas if file.startswith(tuple(areas[name]["uses"]))}
    if using or file.startswith(tuple(AREAS["unused"])):
        return using
    return set(areas)


def nextest_filter(changed: Iterable[str] | None) -> str:
    """Which Rust tests they need, as a filter set of cargo-nextest."""
    crates, no_rust = set(), tuple(AREAS["no_rust"])
    for file in ["?"] if changed is None else changed:
        crate = Path(file).parts[1] if file.startswith("crates/") else ""
        if (ROOT / "crates" / crate / "Cargo.toml").is_file():
            crates.add(crate)
        elif not file.startswith(no_rust) and not file.endswith((".py", ".md", ".ambr")):
            return "all()"
    return "|".join(f"rdeps(=lanlab-{name})" for name in sorted(crates)) or "none()"


def ignored_files(changed: Iterable[str] | None) -> list[str]:
    """Which files of Python tests they do not need."""
    if changed is None:
        return []
    needed = {area for file in changed for area in areas_of(file)}
    # A file may be in two areas.
    wanted = {file for area in needed for file in tests_of(area)}
    listed = {file for area in AREAS["area"] for file in tests_of(area)}
    return sorted(listed - wanted)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", metavar="COMMIT")
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--nextest", action="store_true", help="arguments of cargo-nextest alone")
    alone.add_argument("--pytest", action="store_true", help="arguments of pytest alone")
    asked = parser.parse_args()
    changed = changed_since(asked.commit)
    if changed is None:
        print(f"{asked.commit}: git does not know it; all tests are needed", file=sys.stderr)
    nextest = ["--no-tests=pass", "-E", nextest_filter(changed)]
    pytest = [f"--ignore={file}" for file in ignored_files(changed)]
    if asked.nextest:
        print(*nextest)
    elif asked.pytest:
        print(*pytest)
    else:
        print(f".venv/bin/cargo-nextest nextest run --workspace {nextest[0]} -E '{nextest[2]}'")
        print(".venv/bin/pytest", *pytest, "tests")


if __name__ == "__main__":
    main()
