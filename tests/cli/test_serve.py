"""`lanlab serve`: what it prints, which clients it serves, and how it ends."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, Lanlab
from programs import ran
from served import serving


def copied(source: Path, said: dict[str, str], store: Path) -> subprocess.CompletedProcess[str]:
    trust = ["--trust", f"sha256:{said['identity'].split()[1]}"] if "identity" in said else []
    return ran(
        [*COMMAND, "copy", str(source), said["address"], "--trials", "1", *trust],
        env=os.environ | {"LANLAB_PASSWORD": said["password"], "LANLAB_STORE": str(store)},
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "file").write_bytes(b"x" * 10_000)
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("service", ["sftp", "smb", "smb1", "webdav"])
def test_the_printed_address_and_password_suffice_for_a_copy(
    service: str, source: Path, target: Path, tmp_path: Path
) -> None:
    with serving(str(target), "--service", service, "--write") as (server, said):
        assert said["address"].startswith(f"{service}://lanlab@127.0.0.1:")
        assert said["serving"] == f"{target} (read and write)"
        done = copied(source, said, tmp_path / "store.sqlite")
        assert done.returncode == 0, done.stderr
        assert list(target.iterdir()) == []

        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=20)
        assert server.returncode == 0, err
        assert "connections in" in out


def test_a_server_of_nfs_prints_the_command_that_mounts_it(target: Path) -> None:
    with serving(str(target), "--service", "nfs") as (_, said):
        port = said["address"].removeprefix("nfs://127.0.0.1:").removesuffix("/lanlab")
        options = f"vers=3,proto=tcp,nolock,port={port},mountport={port}"
        assert said["mount"] == f"mount -t nfs -o {options} 127.0.0.1:/lanlab /mnt"


def test_a_server_that_requires_signatures_refuses_dialects_without_them(
    source: Path, target: Path, tmp_path: Path
) -> None:
    argv = (str(target), "--service", "smb1", "--write", "--require-signing")
    with serving(*argv) as (_, said):
        assert said["signing"].startswith("required")
        store = tmp_path / "store.sqlite"
        done = copied(source, said, store)
        assert (done.returncode, "signed, MD5" in done.stdout) == (0, True), done.stderr
        done = copied(source, said | {"address": said["address"] + "?dialect=lanman1"}, store)
        assert done.returncode == 1
        assert "speaks none of the dialects `LANMAN1.0`" in done.stderr


def test_a_served_directory_is_read_only_by_default(
    source: Path, target: Path, tmp_path: Path
) -> None:
    with serving(str(target)) as (_, said):
        assert said["serving"].endswith("(read-only)")
        done = copied(source, said, tmp_path / "store.sqlite")
        assert done.returncode == 1
        assert list(target.iterdir()) == []


def test_a_wrong_password_is_refused(source: Path, target: Path, tmp_path: Path) -> None:
    with serving(str(target), "--write") as (_, said), serving(str(target)) as (_, other):
        assert said["password"] != other["password"]
        done = copied(source, said | {"password": "x"}, tmp_path / "store.sqlite")
        assert done.returncode == 1
        assert list(target.iterdir()) == []


def test_it_ends_after_the_given_time(target: Path) -> None:
    with serving(str(target), "--time", "0.5") as (server, _):
        out, err = server.communicate(timeout=20)
        assert server.returncode == 0, err
        assert "served      0 connections" in out


def test_a_port_in_use_is_named(target: Path, lanlab: Lanlab) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = lanlab("serve", str(target), "--port", port)
    assert refused.code == 1
    assert port in refused.err
