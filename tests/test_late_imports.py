"""
An import stands in a function, or under `if TYPE_CHECKING:`, only where it keeps a module from
being loaded: what the other imports of its file load anyway is imported at the top.
"""

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1] / "src"
#: Ends Ctrl-C before anything is imported.
FIRST = "lanlab.cli"
Import = ast.Import | ast.ImportFrom


class Late(NamedTuple):
    node: Import
    #: Whether it is for types alone.
    is_typing: bool


class Module:
    """What a file imports at the top, and what later."""

    def __init__(self, text: str) -> None:
        self.early: list[Import] = []
        self.late: list[Late] = []
        self._read(ast.parse(text).body, is_typing=False, is_late=False)

    def _read(self, body: list[ast.stmt], *, is_typing: bool, is_late: bool) -> None:
        for node in body:
            if isinstance(node, Import):
                if is_late or is_typing:
                    self.late.append(Late(node, is_typing))
                else:
                    self.early.append(node)
            elif isinstance(node, ast.If):
                names = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
                # What only some systems load is not loaded anyway.
                if is_late or names:
                    self._read(node.body, is_typing=names or is_typing, is_late=is_late)
                    self._read(node.orelse, is_typing=is_typing, is_late=is_late)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._read(node.body, is_typing=is_typing, is_late=True)
            elif isinstance(node, ast.Try):
                # A module that may be missing.
                continue
            elif isinstance(node, ast.Match):
                for case in node.cases:
                    self._read(case.body, is_typing=is_typing, is_late=is_late)
            else:
                for part in ("body", "orelse"):
                    self._read(getattr(node, part, []), is_typing=is_typing, is_late=is_late)


class Imports:
    """The modules that each module of a package loads."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.modules = {name: Module(text) for name, text in texts.items()}

    def loaded(self, node: Import) -> Iterator[str]:
        """The modules that an import needs, without those that they load."""
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _with_parents(one.name)
            return
        assert node.module is not None and not node.level
        yield from _with_parents(node.module)
        for one in node.names:
            inner = f"{node.module}.{one.name}"
            if node.module not in self.modules:
                # Whether it is a module of a foreign package is unknown.
                if "." not in node.module and one.name.islower():
                    yield inner
            elif inner in self.modules:
                yield inner

    @functools.cache  # noqa: B019 - one object, which lives as long as its test
    def reached(self, name: str) -> frozenset[str]:
        """Everything that importing a module loads."""
        found: set[str] = set()
        left = set(_with_parents(name))
        while left:
            one = left.pop()
            found.add(one)
            if one in self.modules:
                for node in self.modules[one].early:
                    left |= set(self.loaded(node)) - found
        return frozenset(found)

    def needless(self, name: str) -> Iterator[Late]:
        """Late imports of a module that keep nothing from being loaded."""
        known = self.reached(name) | set(sys.builtin_module_names) | {"os", "io", "stat"}
        for late in self.modules[name].late:
            needed = set(self.loaded(late.node))
            own = [one for one in needed if one in self.modules]
            # An import of a module that imports this one must be late.
            if needed <= known and not any(name in self.reached(one) for one in own):
                yield late


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])


def texts_of(source: Path) -> dict[str, str]:
    return {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): (
            path.read_text("utf-8")
        )
        for path in sorted(source.rglob("*.py"))
    }


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import json\ndef f():\n    import json\n", [3]),
        ("def f():\n    import json\n", []),
        ("from p import a\ndef f():\n    if f:\n        from p.b import x\n", [4]),
        ("from p import a\nif TYPE_CHECKING:\n    from p import b\n", [3]),
        ("from p import a\ndef f():\n    from p.d import back\n", []),
        ("def f():\n    try:\n        import os\n    except ImportError:\n        pass\n", []),
    ],
)
def test_late_imports_without_use_are_found(text: str, lines: list[int]) -> None:
    modules = {
        "p": "",
        "p.a": "import p.b",
        "p.b": "import p.d",
        "p.d": "def f():\n    import m",
        "m": text,
    }
    if "back" in text:
        modules["p.d"] = "import m"
    assert [late.node.lineno for late in Imports(modules).needless("m")] == lines


def test_imports_are_late_only_to_load_less() -> None:
    imports = Imports(texts_of(SOURCE))
    assert len(imports.modules) > 100
    found = [
        f"{name}:{late.node.lineno}"
        for name in imports.modules
        if name != FIRST
        for late in imports.needless(name)
    ]
    assert found == [], "import it at the top of the file"
