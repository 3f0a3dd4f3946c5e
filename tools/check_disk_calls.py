"""
Finds calls that make, replace or remove names on disk outside `src/lanlab/disk.py`:

    python tools/check_disk_calls.py        # prints each place that is not allowed, and fails

Only that module judges what is lanlab's, and follows no link on the way to it.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Why a module may do it itself.
ALLOWED: Mapping[str, str] = {
    "src/lanlab/disk.py": "is the module that does it",
    "src/lanlab/testbeds/servers/keeper.py": "a program of its own, run as another user, that "
    "removes the folders that `disk.TemporaryFolder` made if lanlab is killed",
    "src/lanlab/testbeds/ray_actor.py": "is sent to other hosts by value, without the package",
}
#: Methods of `Path` and functions of `os` and `shutil` that no other objects have.
_ANYWHERE = frozenset(
    [
        "hardlink_to",
        "makedirs",
        "mkdir",
        "mkdtemp",
        "mkstemp",
        "removedirs",
        "rename",
        "renames",
        "rmdir",
        "rmtree",
        "symlink",
        "unlink",
        "NamedTemporaryFile",
        "TemporaryDirectory",
    ]
)
#: Names that lists and texts have, too: by the module that they are of.
_OF_MODULES = {"os": {"remove", "replace", "link"}, "shutil": {"move", "copy", "copytree"}}
_WRITING = frozenset("wax+")


def places(source: str) -> Iterator[tuple[int, str]]:
    """
    Lines of a module's source with such a call, each with its name.

    Examples:
        >>> list(places("import os\\npath.unlink()\\nos.replace(a, b)"))
        [(2, 'unlink'), (3, 'replace')]
        >>> list(places("text.replace('a', 'b'); names.remove(x); open(p); path.open('rb')"))
        []
        >>> sorted(places("part.replace(path); from shutil import rmtree; open(p, 'w')"))
        [(1, 'open to write'), (1, 'replace'), (1, 'rmtree')]
    """
    for node in ast.walk(ast.parse(source)):
        name = _found(node)
        if name:
            yield getattr(node, "lineno", 0), name


def _found(node: ast.AST) -> str | None:
    match node:
        case ast.ImportFrom(module="os" | "shutil" | "tempfile", names=names):
            taken = _ANYWHERE.union(*_OF_MODULES.values())
            return next((one.name for one in names if one.name in taken), None)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in _OF_MODULES.get(
            module, ()
        ):
            return name
        case ast.Attribute(attr=name) if name in _ANYWHERE:
            return name
        # Click's: it writes help.
        case ast.Call(func=ast.Attribute(value=ast.Name(id="formatter"), attr="write_text")):
            return None
        case ast.Call(func=ast.Attribute(attr="write_bytes" | "write_text" as name)):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dataclasses"))):
            return None
        # `str.replace` takes two.
        case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
            return "replace"
        case ast.Call(func=ast.Name(id="open"), args=[_, ast.Constant(value=str(mode)), *_]):
            return "open to write" if _WRITING & set(mode) else None
        case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str(mode))]):
            return "open to write" if _WRITING & set(mode) else None
    return None


def main() -> int:
    """Print all places; the exit code."""
    found = 0
    for path in sorted((ROOT / "src").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in ALLOWED:
            continue
        for line, call in places(path.read_text()):
            found += 1
            print(f"{name}:{line}: {call}", file=sys.stderr)
    if found:
        print("hint: make, replace and remove through `lanlab.disk`", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.exit(main())
