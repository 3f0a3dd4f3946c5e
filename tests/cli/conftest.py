"""Fixtures of the command line's tests."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import SMALL_STUDY, Lanlab, Said

from lanlab.cli import main

# The synthetic runs of the report's tests.
sys.path.append(str(Path(__file__).parents[1] / "report"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a study in it, to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LANLAB_STORE", raising=False)
    (tmp_path / "small.toml").write_text(SMALL_STUDY)
    return tmp_path


@pytest.fixture
def lanlab(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lanlab]:
    """Runs a command to its end within this process, by the entry point that users have."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}

    def run(*args: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["lanlab", *args])
        capsys.readouterr()
        code: int | str | None = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        assert isinstance(code, int)
        return Said(code, *capsys.readouterr())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
