"""Files and places that are named to `copy` and `stations`: what cannot be meant is refused."""

import os
from pathlib import Path

import pytest
from command_line import Lanlab, Said

URL = "ftps://me@127.0.0.1:9/"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "a secret")
    monkeypatch.delenv("LANLAB_PASSWORD_FILE", raising=False)


def refused(said: Said, folder: Path) -> str:
    """What a command said that was refused: nothing was run, and nothing is kept."""
    assert (said.code, said.out) == (2, ""), said
    assert not (folder / "lanlab-results").exists()
    return said.err


@pytest.mark.parametrize("command", ["copy 1x1kB", "stations --stations 1"])
def test_an_endless_certificate_file_is_refused(lanlab: Lanlab, folder: Path, command: str) -> None:
    os.mkfifo(folder / "fifo")
    with (folder / "long").open("wb") as file:
        file.truncate(2**24 + 1)
    file, size = "a regular file", "at most 16777216"
    for name, allowed in (("/dev/zero", file), ("fifo", file), ("long", size)):
        err = refused(lanlab(*command.split(), URL, "--trust", name), folder)
        assert "error: trust file `" in err and f"allowed: {allowed}" in err
        assert "hint: " in err


def test_an_invalid_password_file_is_refused(
    lanlab: Lanlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANLAB_PASSWORD")
    os.mkfifo(folder / "fifo", 0o600)
    for name in ("/dev/null", "fifo", "."):
        err = refused(lanlab("copy", "1x1kB", URL, "--password-file", name), folder)
        assert f"error: password file `{name}`: found a" in err
        assert "chmod" not in err
        monkeypatch.setenv("LANLAB_PASSWORD_FILE", name)
        assert "chmod" not in refused(lanlab("copy", "1x1kB", URL), folder)
        monkeypatch.delenv("LANLAB_PASSWORD_FILE")


def test_an_empty_name_is_not_this_directory(lanlab: Lanlab, folder: Path) -> None:
    for args in (["copy", ""], ["copy", "", "."], ["copy", "1x1kB", ""], ["stations", " "]):
        err = refused(lanlab(*args), folder)
        assert "found an empty name" in err
        assert "this directory is `.`" in err
    assert "found an empty name; allowed: a directory\n" in refused(lanlab("serve", ""), folder)


def test_a_target_in_the_source_is_refused(lanlab: Lanlab, folder: Path) -> None:
    (folder / "photos/sub").mkdir(parents=True)
    (folder / "photos/file").write_text("1")
    (folder / "link").symlink_to("photos/sub")
    for target, how in (("photos/sub", "lies in"), ("link", "lies in"), ("./photos", "is")):
        err = refused(lanlab("copy", "photos", target), folder)
        assert f"error: TARGET {how} SOURCE" in err
    (folder / "photos-2").mkdir()
    for target in ("photos-2", "."):
        said = lanlab("copy", "photos", target, "--trials", "1")
        assert said.code == 0, said.err


def test_a_path_that_is_not_a_directory_is_reported(lanlab: Lanlab, folder: Path) -> None:
    (folder / "file").write_text("1")
    for name, found in (
        ("file", "found a file; allowed: a directory"),
        ("/dev/zero", "found something else; allowed: a directory"),
        (300 * "x", "File name too long"),
        ("a\0b", "embedded null byte"),
        ("./none", "no such directory"),
    ):
        for what, args in (
            ("SOURCE", ["copy", name, "."]),
            ("TARGET", ["copy", "1x1kB", name]),
            ("TARGET", ["stations", name]),
        ):
            err = refused(lanlab(*args), folder)
            assert f"error: {what}: `" in err
            assert found in err
            assert "hint: " in err
