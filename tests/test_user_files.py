"""Files that a user names are regular and bounded, or refused at once."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from lanlab.errors import UsageError
from lanlab.user_files import read_user_file

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")


def refusal(path: Path, most_bytes: int = 100) -> UsageError:
    """Why a file is refused, which names what it was to be and where it is."""
    with pytest.raises(UsageError) as caught:
        read_user_file(path, "password file", most_bytes)
    assert f"password file `{path}`: " in caught.value.message
    assert caught.value.hint
    return caught.value


def test_all_of_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    """That many bytes are allowed, one more is not."""
    path = tmp_path / "file"
    for content in (b"", b"x", 100 * b"\xff"):
        path.write_bytes(content)
        assert read_user_file(path, "file", 100) == content
    path.write_bytes(101 * b"x")
    assert "allowed: at most 100" in refusal(path).message


@unix_only
def test_a_link_to_a_file_is_as_good_as_the_file(tmp_path: Path) -> None:
    """Over several steps, too; one to nowhere is refused."""
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "second").symlink_to("link")
    assert read_user_file(tmp_path / "second", "file", 100) == b"x"
    (tmp_path / "file").unlink()
    assert "No such file" in refusal(tmp_path / "second").message


@unix_only
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_a_device_is_refused(device: str) -> None:
    """One without an end, too; and nobody is told to change its rights."""
    found = refusal(Path(device))
    assert "found a device" in found.message
    assert "chmod" not in (found.hint or "")


@unix_only
def test_what_would_make_a_reader_wait_is_refused(tmp_path: Path) -> None:
    """A FIFO that nobody writes into, a socket, a directory, a loop of links."""
    os.mkfifo(tmp_path / "fifo")
    assert "found a FIFO" in refusal(tmp_path / "fifo").message
    (tmp_path / "link").symlink_to("fifo")
    assert "found a FIFO" in refusal(tmp_path / "link").message
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # The name of a socket may not be long.
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
    assert "found a socket" in refusal(tmp_path / "socket").message
    assert "found a directory" in refusal(tmp_path).message
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic links" in refusal(tmp_path / "loop").message


@pytest.mark.parametrize("name", ["no\0name", 300 * "x", "missing"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    """As an error of the user's, not as a defect of lanlab's."""
    refusal(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/kallsyms").exists(), reason="no such file of the kernel here")
def test_a_file_that_says_it_is_empty_is_bounded_as_well() -> None:
    """Those of the kernel have no length that they tell."""
    path = Path("/proc/kallsyms")
    assert path.stat().st_size == 0
    assert "allowed: at most 100" in refusal(path).message
