"""An error of the disk in the middle of a directory reaches the client, not a short listing."""

import contextlib
import http.client
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from ftplib import FTP
from pathlib import Path

import pytest
from missing import missing
from netbeui_cable import cable
from programs import ran
from raw_engine import SESSION, Line, RawEngine

from lanlab.engine import engine_path
from lanlab.testbeds.namespaces import Namespace

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from many_names import _Nfs, _Sftp
from soak_services import _served, _target

__all__ = ["cable"]

#: So many names need several calls of getdents64(2).
_NAMES = 20_000


def failing(root: Path) -> list[str]:
    """A server whose eighth look into `root` fails."""
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getdents64", "-P", str(root)]
    return [*trace, "-e", "inject=getdents64:error=EIO:when=8+", engine_path()]


@contextlib.contextmanager
def served(service: str, root: Path) -> Iterator[int]:
    """The port of such a server."""
    request: Line = {"type": "serve", "service": service, "root": str(root), "bind": "127.0.0.1"}
    with RawEngine(failing(root)) as server:
        yield server.ready(request)[1][0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    for number in range(_NAMES):
        (tmp_path / f"F{number:07}.DAT").touch()
    return tmp_path


def test_ftp_reports_an_incomplete_listing(root: Path) -> None:
    with served("ftp", root) as port, FTP() as client:
        client.connect("127.0.0.1", port)
        client.login()
        lines: list[str] = []
        with pytest.raises(Exception, match=r"^[45]"):
            client.retrlines("MLSD", lines.append)
        assert 0 < len(lines) < _NAMES


def test_webdav_breaks_off_an_incomplete_listing(root: Path) -> None:
    with served("webdav", root) as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("PROPFIND", "/", headers={"Depth": "1"})
        answer = client.getresponse()
        assert answer.status == 207
        with pytest.raises(http.client.IncompleteRead):
            answer.read()
        client.close()


def test_s3_refuses_an_incomplete_listing(root: Path) -> None:
    with served("s3", root) as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("GET", "/lanlab?list-type=2&delimiter=/")
        assert client.getresponse().status == 500
        client.close()


def test_nfs_refuses_an_incomplete_listing(root: Path) -> None:
    with served("nfs", root) as port:
        client = _Nfs(port)
        said = client.call(100003, 16, client.root + struct.pack(">QQI", 0, 0, 1500))
        assert struct.unpack(">I", said[:4])[0] == 5  # NFS3ERR_IO (RFC 1813, section 2.6)


def test_sftp_ends_an_incomplete_listing_with_a_failure(root: Path) -> None:
    if shutil.which("ssh") is None:
        pytest.skip("ssh is not installed")
    options = [f"-o{one}" for one in ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")]
    with served("sftp", root) as port:
        argv = ["ssh", *options, "-p", str(port), "-s", "x@127.0.0.1", "sftp"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ssh:
            client = _Sftp(ssh)
            handle = client.call(11, b"/")[1][4:]
            kind = 104
            while kind == 104:
                kind, said = client.call(12, handle)
            # SSH_FX_FAILURE, not SSH_FX_EOF.
            assert (kind, said[:4]) == (101, b"\0\0\0\4")
            ssh.terminate()


@pytest.mark.parametrize("pattern", ["*", "NONE*.*", "NONE.DAT"])
def test_smb1_refuses_an_incomplete_listing(root: Path, pattern: str) -> None:
    if shutil.which("smbclient") is None:
        missing("need `smbclient`, not found; apt install smbclient")
    with served("smb1", root) as port:
        argv = ["smbclient", "//127.0.0.1/lanlab", "-p", str(port), "-N", "-m", "NT1"]
        options = ["--option=client min protocol=NT1", "-c", f"ls {pattern}"]
        said = ran([*argv, *options])
    assert said.returncode == 1
    assert said.stdout.split() == ["NT_STATUS_IO_DEVICE_ERROR", "listing", f"\\{pattern}"]


def test_netware_refuses_names_in_an_unreadable_directory(
    root: Path, cable: tuple[Namespace, Namespace]
) -> None:
    here, there = cable
    with (
        RawEngine([*there.command_prefix, *failing(root)]) as server,
        RawEngine([*here.command_prefix, engine_path()]) as client,
    ):
        ready = server.wait(server.send(_served("ncp", str(root))), "ready", "error")
        spec = {
            "service": _target("ncp", ready),
            "working_name": "abcd1234.lab",
            "token": SESSION,
            "clients": 1,
            "files": 1,
            "width": 1,
            "depth": 1,
            "longest_ns": 20_000_000_000,
        }
        said = client.wait(client.send({"type": "metadata_prepare", "spec": spec}))
    # Completion code 0x83, not that the name is free.
    assert said["message"].endswith("make directory: error of the disk (0x83)")
    assert len(list(root.iterdir())) == _NAMES
