"""Shares and buckets that servers list, asked of stock servers."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from file_servers import closed_port
from programs import ran
from waiting import until

from lanlab.cli.places.nas_targets import lacks_place, with_place
from lanlab.errors import EngineError
from lanlab.performers.servers.places import places_of
from lanlab.workloads.services.server_url import remember_password


@pytest.mark.parametrize(
    ("url", "lacks"),
    [
        ("smb://me@nas", True),
        ("smb://me@nas:4450/", True),
        ("s3s://key@nas?region=eu", True),
        ("smb://me@nas/data", False),
        ("nfs://nas/", True),
        ("nfs4://nas/", True),
        ("nfs4://nas/data", False),
        ("sftp://me@nas/", False),
        ("gopher://nas", False),
    ],
)
def test_a_url_without_share_or_bucket_is_reported(url: str, lacks: bool) -> None:
    assert lacks_place(url) is lacks


SAMBA = """
[global]
server role = standalone server
smb ports = {port}
interfaces = 127.0.0.1
bind interfaces only = yes
passdb backend = tdbsam:{place}/passdb.tdb
private dir = {place}
lock directory = {place}
state directory = {place}
cache directory = {place}
pid directory = {place}
ncalrpc dir = {place}/rpc
log file = {place}/log
load printers = no
disable spoolss = yes
[data]
path = {place}
[photos]
path = {place}
[hidden$]
path = {place}
"""


@pytest.mark.skipif(shutil.which("smbd") is None, reason="needs Samba")
def test_stock_samba_lists_its_shares_to_a_user(tmp_path: Path) -> None:
    """All but hidden ones and pipes, after one login."""
    user, port = getpass.getuser(), closed_port()
    configuration = tmp_path / "smb.conf"
    configuration.write_text(SAMBA.format(port=port, place=tmp_path))
    add = ["smbpasswd", "-c", str(configuration), "-a", "-s", user]
    ran(add, input="pw\npw\n", check=True)
    command = ["smbd", "-F", "-s", str(configuration), "-l", str(tmp_path)]
    samba = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = with_place(f"smb://{user}@127.0.0.1:{port}")
        remember_password(url, "pw")
        until(lambda: listens(port) or samba.poll() is not None, "the server")
        assert places_of(url, None) == ["data", "photos"]
        remember_password(url, "wrong")
        with pytest.raises(EngineError, match="log in as"):
            places_of(url, None)
    finally:
        samba.terminate()
        samba.wait(30)
        end_helpers(configuration)


def end_helpers(configuration: Path) -> None:
    """The servers of RPC that smbd has started outlive it by minutes."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"--configfile={configuration}".encode() in command.read_bytes().split(b"\0"):
                os.kill(int(command.parent.name), signal.SIGKILL)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
