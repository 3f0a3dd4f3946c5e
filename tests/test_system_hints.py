"""A hint about a cause is given where that cause was seen, and not where another was."""

import ast
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lanlab
from lanlab.errors import SYSTEM_HINTS, LabError, system_hint
from lanlab.store import open_store
from lanlab.user_files import read_user_file

SOURCE = Path(lanlab.__file__).parent
NUMBERS = sorted({number for causes in SYSTEM_HINTS.values() for number in causes})
#: What only the table may advise where the system refused something.
CAUSES = ("owner", "mode of", "room", "read-only", "ulimit", "shorten", "path is right")


@pytest.mark.parametrize("number", NUMBERS, ids=errno.errorcode.get)
def test_each_cause_has_its_own_hint_and_no_others(number: int) -> None:
    said = system_hint(OSError(number, os.strerror(number)), "name another")
    shown = [hint for hint in SYSTEM_HINTS if hint in said]
    assert len(shown) == 1 and number in SYSTEM_HINTS[shown[0]]


@pytest.mark.parametrize(
    "error", [OSError(errno.EBUSY, "busy"), OSError(), ValueError("a zero in it"), KeyError()]
)
def test_an_unknown_cause_has_only_the_general_hint(error: Exception) -> None:
    assert system_hint(error, "name another") == "name another"


def _readers() -> dict[str, Callable[[Path], object]]:
    return {
        "a user's file": lambda path: read_user_file(path, "file", 10),
        "a store": lambda path: open_store(str(path)),
    }


@pytest.mark.parametrize("name", _readers())
@pytest.mark.parametrize(
    ("kind", "hint", "not_hint"),
    [
        ("circle", "move away", "owner and mode"),
        ("long", "shorten its name", "path is right"),
    ],
)
def test_hints_match_the_observed_cause(
    tmp_path: Path, name: str, kind: str, hint: str, not_hint: str
) -> None:
    path = tmp_path / ("x" * 300 if kind == "long" else "a")
    if kind == "circle":
        path.symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(path)
    with pytest.raises(LabError) as caught:
        _readers()[name](path)
    said = str(caught.value.hint)
    assert hint in said and not_hint not in said


def _hints_of_handlers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Constant texts of hints where an error of the system, of any cause, is answered."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ExceptHandler) or "OSError" not in ast.unparse(
            node.type or ast.Constant("")
        ):
            continue
        for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
            for keyword in call.keywords:
                if keyword.arg == "hint" and isinstance(keyword.value, ast.Constant):
                    yield call.lineno, str(keyword.value.value)


def test_handlers_of_all_system_errors_suggest_no_specific_cause() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {hint}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, hint in _hints_of_handlers(ast.parse(path.read_text()))
        if any(cause in hint for cause in CAUSES)
    ]
    assert found == []
