"""Files that a user names are regular and bounded, or refused at once."""

import os
import socket
from pathlib import Path

import pytest

from lanlab.errors import BadStudy, UsageError
from lanlab.studies.load import load_study
from lanlab.testbeds.remote.destinations import read_destinations
from lanlab.user_files import read_user_file
from lanlab.workloads.services.server_url import read_password_file


def refusal(path: Path, most_bytes: int = 100) -> UsageError:
    """Why a file is refused, which names what it was to be and where it is."""
    with pytest.raises(UsageError) as caught:
        read_user_file(path, "password file", most_bytes)
    assert f"password file `{path}`: " in caught.value.message
    assert caught.value.hint
    return caught.value


def test_all_of_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"", b"x", 100 * b"\xff"):
        path.write_bytes(content)
        assert read_user_file(path, "file", 100) == content
    path.write_bytes(101 * b"x")
    assert "allowed: at most 100" in refusal(path).message


def test_a_link_to_a_file_is_as_good_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "second").symlink_to("link")
    assert read_user_file(tmp_path / "second", "file", 100) == b"x"
    (tmp_path / "file").unlink()
    assert "No such file" in refusal(tmp_path / "second").message


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_a_device_is_refused(device: str) -> None:
    found = refusal(Path(device))
    assert "found a device" in found.message
    assert "chmod" not in (found.hint or "")


def test_files_that_would_block_a_reader_are_refused(tmp_path: Path) -> None:
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
def test_an_impossible_file_name_is_refused(tmp_path: Path, name: str) -> None:
    refusal(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/kallsyms").exists(), reason="no such file of the kernel here")
def test_a_file_of_reported_size_zero_is_bounded_too() -> None:
    path = Path("/proc/kallsyms")
    assert path.stat().st_size == 0
    assert "allowed: at most 100" in refusal(path).message


STUDY = """\
schema = 1
id = "saved"
title = "Saved by an editor"
[[experiment]]
id = "e"
title = "E"
workload = "echo"
metrics = ["rtt_mean_ns"]
[scale.quick]
trials = { min = 1, max = 1 }
parameters = { time_s = 0.2 }
"""
HOSTS = '[[host]]\nssh = "here"\n[[host]]\nssh = "nas"\n'


def test_a_byte_order_mark_is_not_part_of_a_text(tmp_path: Path) -> None:
    marked = {"study.toml": STUDY, "lab.toml": HOSTS, "word": "secret\r\n"}
    for name, text in marked.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        (tmp_path / name).chmod(0o600)
    assert load_study(str(tmp_path / "study.toml")).study.id == "saved"
    assert [one.ssh for one in read_destinations(str(tmp_path / "lab.toml"))] == [None, "nas"]
    assert read_password_file(tmp_path / "word") == "secret"


def test_a_text_in_utf_16_is_refused_by_name(tmp_path: Path) -> None:
    for name, text in {"study.toml": STUDY, "lab.toml": HOSTS, "word": "secret"}.items():
        (tmp_path / name).write_bytes(text.encode("utf-16"))
        (tmp_path / name).chmod(0o600)
    with pytest.raises(BadStudy, match="found UTF-16; allowed: UTF-8"):
        load_study(str(tmp_path / "study.toml"))
    with pytest.raises(UsageError, match="as UTF-16 does; save it as UTF-8"):
        read_destinations(str(tmp_path / "lab.toml"))
    with pytest.raises(UsageError, match="found UTF-16; allowed: UTF-8"):
        read_password_file(tmp_path / "word")
