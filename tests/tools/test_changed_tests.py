"""`tests/areas.toml` is true: a change runs the tests of all that uses it."""

import ast
import re
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

changes = pytest.importorskip("changed_tests", reason="the tools are not part of what is installed")

ROOT = Path(__file__).parents[2]
AREAS = changes.AREAS["area"]
ALL = set(AREAS)


def test_every_test_file_runs_if_it_changes() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(files) > 300
    assert [file for file in files if file in changes.ignored_files([file])] == []


def test_every_entry_of_the_table_names_something() -> None:
    for name, area in AREAS.items():
        files = changes.tests_of(name)
        wanted = [each for each in area["tests"] if not any(fnmatch(file, each) for file in files)]
        assert wanted == []
    begins = [begin for area in AREAS.values() for begin in area["uses"]]
    begins += [*changes.AREAS["unused"], *changes.AREAS["no_rust"]]
    assert [begin for begin in begins if not any(ROOT.glob(f"{begin}*"))] == []


HELPERS = {path.stem: path for path in (ROOT / "tests").rglob("*.py")}


@cache
def imports(path: Path) -> set[str]:
    """Files of lanlab that a module of tests imports, or a module of tests that it imports."""
    names, found = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    for name in names:
        if name in HELPERS and HELPERS[name] != path:
            found |= imports(HELPERS[name])
        place = f"src/{name.replace('.', '/')}"
        found |= {
            file for file in (f"{place}.py", f"{place}/__init__.py") if (ROOT / file).is_file()
        }
    return found


@pytest.mark.parametrize("area", AREAS)
def test_a_change_of_what_a_test_imports_runs_it(area: str) -> None:
    tests = changes.tests_of(area)
    assert tests
    found = {(file, used) for file in tests for used in imports(ROOT / file)}
    assert len(found) > 20
    assert [pair for pair in found if area not in changes.areas_of(pair[1])] == []


@pytest.mark.parametrize(
    ("file", "areas"),
    [
        ("docs/nas.md", set()),
        ("crates/sim/src/lib.rs", {"simulator"}),
        ("crates/stack/src/nbf/mod.rs", {"historic", "simulator"}),
        ("src/lanlab/testbeds/servers/running.py", {"historic", "services"}),
        ("src/lanlab/units.py", ALL),
        ("tests/support/programs.py", ALL),
        ("tests/units/test_units.py", set()),
        ("a-new-folder/file", ALL),
    ],
)
def test_a_change_needs_the_areas_that_use_it(file: str, areas: set[str]) -> None:
    assert changes.areas_of(file) == areas


def test_an_unknown_commit_needs_all_tests() -> None:
    assert changes.changed_since("0" * 40) is None
    assert (changes.ignored_files(None), changes.nextest_filter(None)) == ([], "all()")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["crates/wire/src/lib.rs", "docs/nas.md"], "rdeps(=lanlab-wire)"),
        (["crates/os/src/a.rs", "crates/sim/b.rs"], "rdeps(=lanlab-os)|rdeps(=lanlab-sim)"),
        (["src/lanlab/units.py", "tests/conftest.py"], "none()"),
        (["crates/os/src/a.rs", "Cargo.lock"], "all()"),
        (["crates/a-removed-one/src/a.rs"], "all()"),
    ],
)
def test_rust_tests_of_changed_crates_and_their_users_run(files: list[str], expected: str) -> None:
    assert changes.nextest_filter(files) == expected


def test_crates_take_sources_only_of_crates_that_they_depend_on() -> None:
    """By path, which cargo-nextest does not see."""
    taken = re.compile(r'(?:#\[path = |include_\w+!\()"((?:\.\./)+[^"]+)"')
    found = 0
    for source in (ROOT / "crates").rglob("*.rs"):
        crate = source.relative_to(ROOT / "crates").parts[0]
        for place in taken.findall(source.read_text(encoding="utf-8")):
            path = (source.parent / place).resolve().relative_to(ROOT)
            found += 1
            if path.parts[0] == "crates" and path.parts[1] != crate:
                manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
                used = {**manifest["dependencies"], **manifest.get("dev-dependencies", {})}
                assert f"lanlab-{path.parts[1]}" in used, (source, path)
            elif path.parts[0] != "crates":
                assert changes.nextest_filter([path.as_posix()]) == "all()", (source, path)
    assert found > 10
