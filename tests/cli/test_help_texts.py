"""The help of every command, word for word: a changed sentence shows as a diff of the snapshot."""

from typing import Any

import pytest
import typer
from command_line import Lanlab
from syrupy.assertion import SnapshotAssertion

from lanlab.cli.app import application


def commands() -> list[tuple[str, ...]]:
    """All command lines that end in a command or a group, found by walking the tree."""
    found: list[tuple[str, ...]] = []
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(application()))]
    while waiting:
        words, command = waiting.pop(0)
        found.append(words)
        # Commands of a group; typer brings a click of its own.
        for name, each in getattr(command, "commands", {}).items():
            waiting.append(((*words, name), each))
    return found


def test_all_commands_and_the_program_itself_are_found() -> None:
    assert {(), ("run",), ("stream",)} <= set(commands())


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words) or "lanlab")
def test_help_texts_match_the_snapshots(
    words: tuple[str, ...],
    lanlab: Lanlab,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    said = lanlab(*words, "--help")

    assert (said.code, said.err) == (0, "")
    assert said.out == snapshot
