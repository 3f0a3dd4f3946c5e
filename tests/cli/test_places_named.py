"""Files and places that are named to `copy` and `stations`: what cannot be meant is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command_line import Lanlab, Said

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")

URL = "ftps://me@127.0.0.1:9/"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is there, unless a test takes it away."""
    monkeypatch.setenv("LANLAB_PASSWORD", "a secret")
    monkeypatch.delenv("LANLAB_PASSWORD_FILE", raising=False)


def refused(said: Said, folder: Path) -> str:
    """What a command said that was refused: nothing was run, and nothing is kept."""
    assert (said.code, said.out) == (2, ""), said
    assert not (folder / "lanlab-results").exists()
    return said.err


@pytest.mark.parametrize("command", ["copy 1x1kB", "stations --stations 1"])
def test_a_file_of_trust_without_an_end_is_refused(
    lanlab: Lanlab, folder: Path, command: str
) -> None:
    """A device, a FIFO and a file that is too long, before anything is run."""
    os.mkfifo(folder / "fifo")
    with (folder / "long").open("wb") as file:
        file.truncate(2**24 + 1)
    for name in ("/dev/zero", "fifo", "long"):
        err = refused(lanlab(*command.split(), URL, "--trust", name), folder)
        assert "error: trust file `" in err
        assert "allowed: a regular file" in err or "allowed: at most 16777216" in err
        assert "hint: " in err


def test_a_password_file_that_is_none_is_refused(
    lanlab: Lanlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told to change the rights of a device."""
    monkeypatch.delenv("LANLAB_PASSWORD")
    os.mkfifo(folder / "fifo", 0o600)
    for name in ("/dev/null", "fifo", "."):
        err = refused(lanlab("copy", "1x1kB", URL, "--password-file", name), folder)
        assert f"error: password file `{name}`: found a" in err
        assert "chmod" not in err
        monkeypatch.setenv("LANLAB_PASSWORD_FILE", name)
        assert "chmod" not in refused(lanlab("copy", "1x1kB", URL), folder)
        monkeypatch.delenv("LANLAB_PASSWORD_FILE")
