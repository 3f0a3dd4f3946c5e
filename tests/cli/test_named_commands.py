"""Commands and options that an error, a hint or a document names are there."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from lanlab.cli.app import COMMANDS, application

ROOT = Path(__file__).parents[2]


def options_of(name: str) -> set[str]:
    """As users type them. Those that are parameters of a workload are made for it alone."""
    group: Any = typer.main.get_command(application([name]))
    params = group.commands[name].params
    return {option for param in params for option in (*param.opts, "--help", "-h")}


OPTIONS = {name: options_of(name) for name in COMMANDS}
ALL_OPTIONS = set().union(*OPTIONS.values())
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_COMMAND = re.compile(r"(?:^|[`\s])lanlab ([a-z]+)\b([^`|;&#\n]*)", re.MULTILINE)


@functools.cache
def modules() -> tuple[tuple[str, tuple[ast.AST, ...]], ...]:
    paths = sorted((ROOT / "src/lanlab").rglob("*.py"))
    return tuple(
        (path.name, tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))) for path in paths
    )


def texts_of_program() -> Iterator[tuple[str, str]]:
    """Messages, helps and hints of the package and the engine, by file."""
    for name, nodes in modules():
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield name, node.value
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        for found in re.findall(r'hint\(\s*"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")):
            yield path.name, found


def texts_of_documents() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"```console\n(.*?)```|`(lanlab [^`\n]*)`", text, re.DOTALL):
            lines = "".join(block).replace("\\\n", " ").splitlines()
            yield (
                path.name,
                "\n".join(line.lstrip("$# ") for line in lines if re.match(r"[$#] |lanlab ", line)),
            )


@pytest.mark.parametrize("texts", [texts_of_program, texts_of_documents])
def test_commands_named_in_messages_exist(texts: object) -> None:
    seen, wrong = 0, []
    for where, text in texts():  # type: ignore[operator]
        for name, rest in _COMMAND.findall(text):
            # Words after the program's name in a sentence are no command: "lanlab may use".
            if name not in OPTIONS:
                if f"`lanlab {name}" in text or texts is texts_of_documents:
                    wrong.append((where, f"lanlab {name}"))
                continue
            seen += 1
            wrong += [
                (where, f"lanlab {name} {option}")
                for option in _OPTION.findall(rest)
                if option not in OPTIONS[name]
            ]
    assert seen > 10
    assert wrong == []


def test_options_named_in_hints_exist() -> None:
    unknown = []
    for name, nodes in modules():
        hints = (
            node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "hint"
        )
        for text in (text for hint in hints for text in ast.walk(hint)):
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found = _OPTION.findall(text.value)
                unknown += [(name, each) for each in found if each not in ALL_OPTIONS]
    assert unknown == []


def test_no_hint_sends_a_user_to_requests_of_the_engine() -> None:
    for where, text in texts_of_program():
        assert "`describe`" not in text, where
