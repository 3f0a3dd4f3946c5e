"""
Finds circles of imports between the modules of a crate, for `make lint`:

    tools/check_import_circles.py [CRATE ...]

A module is a file. It imports the module in which a name that it uses is defined: a `pub use` on
the way is followed. What a module has from those around it is not counted: they hold what their
modules share. Tests may import everything, and are left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"

_USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_DECLARED = re.compile(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);", re.MULTILINE)
_PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")

Module = tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Print the circles of each crate; the exit code."""
    crates = arguments or sorted(path.parent.name for path in CRATES.glob("*/src"))
    found = 0
    for crate in crates:
        for circle in circles(imports(CRATES / crate / "src")):
            found += 1
            names = ", ".join("::".join(module) or "lib" for module in sorted(circle))
            print(f"{crate}: modules import each other: {names}", file=sys.stderr)
    if found:
        print("hint: move what both need into a module of its own", file=sys.stderr)
    return 1 if found else 0


def imports(source: Path) -> dict[Module, set[Module]]:
    """Which modules each module of a crate uses names of."""
    texts = dict(_modules(source))
    passed_on = {module: dict(_passed_on(module, text, texts)) for module, text in texts.items()}
    return {
        module: {
            target
            for path in _used(text, set(_DECLARED.findall(text)))
            if (target := _home(module, path, texts, passed_on)) is not None
            and target != module[: len(target)]
        }
        for module, text in texts.items()
    }


def circles(graph: dict[Module, set[Module]]) -> list[set[Module]]:
    """Groups of modules each of which reaches all others of its group (Tarjan, 1972)."""
    order: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[set[Module]] = []

    def visit(module: Module) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for target in sorted(graph.get(module, ())):
            if target not in order:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], order[target])
        if low[module] == order[module]:
            group = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(group)

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


def _modules(source: Path) -> Iterator[tuple[Module, str]]:
    """Every file that is shipped, by its module's names, without comments and tests."""
    for path in sorted(source.rglob("*.rs")):
        names = path.relative_to(source).with_suffix("").parts
        if names[-1] in ("lib", "mod"):
            names = names[:-1]
        if names == ("main",) or "tests" in names:
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text())
        yield names, re.split(r"#\[cfg\((?:all\()?test\b[^\n]*\n\s*mod \w+ \{", text)[0]


def _passed_on(
    module: Module, text: str, modules: dict[Module, str]
) -> Iterator[tuple[str, list[str]]]:
    """Names that a module only passes on, with where it has them from."""
    for is_public, tree in _USE.findall(text):
        if renamed := re.fullmatch(r"(\w+) as (\w+)", tree):
            yield renamed[2], [renamed[1]]
        elif is_public:
            for path in _leaves(tree):
                yield path[-1], path


def _used(text: str, declared: set[str]) -> Iterator[list[str]]:
    """Paths of names that a module uses: imported ones, and those written out."""
    for is_public, tree in _USE.findall(text):
        if not is_public:
            yield from _leaves(tree)
    rest = _USE.sub("", text)
    for path in _PATH.findall(rest):
        yield path.split("::")
    for name in declared:
        for path in re.findall(rf"(?<![\w:]){name}(?:::\w+)+", rest):
            yield path.split("::")


def _leaves(tree: str) -> Iterator[list[str]]:
    """The paths of a use tree."""
    tree = re.sub(r"\s+as\s+\w+", "", tree).strip()
    head, brace, inner = tree.partition("{")
    prefix = [name for name in head.strip().split("::") if name]
    if not brace:
        yield prefix
        return
    depth, part = 0, ""
    for character in inner.rpartition("}")[0] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            for path in _leaves(part) if part.strip() else ():
                yield prefix if path == ["self"] else prefix + path
            part = ""
        else:
            part += character


def _home(
    module: Module,
    path: list[str],
    modules: dict[Module, str],
    passed_on: dict[Module, dict[str, list[str]]],
    depth: int = 0,
) -> Module | None:
    """The module in which a name stands; `None` if it is of another crate."""
    at: Module
    names = list(path)
    if names[0] == "crate":
        at, names = (), names[1:]
    elif names[0] == "super":
        at = module
        while names and names[0] == "super":
            at, names = at[:-1], names[1:]
    else:
        at = module
        names = names[1:] if names[0] == "self" else names
        if not names or (*at, names[0]) not in modules:
            return None
    while names and (*at, names[0]) in modules:
        at, names = (*at, names[0]), names[1:]
    if names and depth < 8 and names[0] in passed_on.get(at, {}):
        return _home(at, passed_on[at][names[0]] + names[1:], modules, passed_on, depth + 1)
    return at if at in modules else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crates", nargs="*", metavar="CRATE", help="default: all")
    sys.exit(main(parser.parse_args().crates))
