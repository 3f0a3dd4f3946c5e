"""Clients that are not ours, and what is needed to try real servers with them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from missing import missing

from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers import SERVERS, Credentials, RunningServer

WHO = Credentials("lab", "Secret-1")
_NFS_CLIENT = Path(__file__).with_name("nfs_client.py")
_WITHIN_S = 30


class Case(NamedTuple):
    server: str
    service: str

    @property
    def credentials(self) -> Credentials | None:
        return None if self.service in ("nfs", "nfs4") else WHO


CASES = {
    f"{server.name}-{service}": Case(server.name, service)
    for server in SERVERS.values()
    for service in server.services
}


def require(case: Case, host: Host) -> None:
    server = SERVERS[case.server]
    try:
        server.check_found(host)
    except UnmetNeed as error:
        rights = ("needs root", "its own network", "that account is locked")
        missing_right = any(words in error.message for words in rights)
        # Debian's packages of vsftpd and ProFTPD exclude each other.
        if missing_right or case.server == "vsftpd":
            pytest.skip(f"{error.message} ({error.hint})")
        missing(error)


def client(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        missing(f"`{name}` is not installed")
    return path


@contextmanager
def folder_for_all(name: str = "served") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        folder = Path(above, name)
        folder.mkdir()
        yield folder


class Client:
    """Puts files to a server and gets them, from a host of the testbed, by another's program."""

    def __init__(self, server: RunningServer, host: Host, scratch: Path) -> None:
        self.server, self.host, self.scratch = server, host, scratch
        self.address = server.host.addresses["ipv4"]

    def put(self, file: Path, name: str, who: Credentials | None) -> str:
        return self._move("put", file, name, who)

    def get(self, name: str, file: Path, who: Credentials | None) -> str:
        return self._move("get", file, name, who)

    def _move(self, action: str, file: Path, name: str, who: Credentials | None) -> str:
        service, port = self.server.service, self.server.port
        if service in ("smb", "smb1"):
            assert who is not None
            command = f'put "{file}" "{name}"' if action == "put" else f'get "{name}" "{file}"'
            share = f"//{self.address}/{self.server.share}"
            dialect = ["-m", "SMB3"]
            if service == "smb1":
                dialect = ["-m", "NT1", "--option=client min protocol=NT1"]
            login = ["-U", f"{who.user}%{who.secret}", *dialect]
            return self._run([client("smbclient"), share, "-p", str(port), *login, "-c", command])
        if service == "sftp":
            return self._sftp(action, file, name, who)
        if service in ("nfs", "nfs4"):
            # Ganesha serves both versions; one of its exports for version 3 is the tag.
            share = str(self.server.share) if service == "nfs" else "data"
            ends = [self.address, str(port), str(self.server.other_ports["mount"])]
            where = [share, name, str(file)]
            return self._run([sys.executable, str(_NFS_CLIENT), action, *ends, *where])
        assert who is not None
        scheme = {"ftp": "ftp", "ftps": "ftp", "webdav": "http", "webdavs": "https"}[service]
        curl = [client("curl"), "-sS", "--fail", "-m", "20", "-u", f"{who.user}:{who.secret}"]
        curl += ["-k"] if service.endswith("s") else []
        # With TLS 1.3 curl 7.88 closes an upload before the tickets of a slow server have come; its
        # system then resets the connection: 426.
        curl += ["--ssl-reqd", "--tls-max", "1.2"] if service == "ftps" else []
        what = ["-T", str(file)] if action == "put" else ["-o", str(file)]
        return self._run([*curl, *what, f"{scheme}://{self.address}:{port}/{name}"])

    def _sftp(self, action: str, file: Path, name: str, who: Credentials | None) -> str:
        assert who is not None
        key = self.scratch / "key"
        key.unlink(missing_ok=True)
        key.touch(mode=0o600)
        key.write_text(who.secret)
        options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"]
        options += ["IdentitiesOnly=yes", "LogLevel=ERROR"]
        argv = [client("sftp"), "-F", "/dev/null", "-i", str(key), "-P", str(self.server.port)]
        argv += [word for option in options for word in ("-o", option)]
        batch = f'put "{file}" "{name}"' if action == "put" else f'get "{name}" "{file}"'
        return self._run([*argv, "-b", "-", f"{who.user}@{self.address}"], batch + "\n")

    def _run(self, argv: Sequence[str], text: str = "") -> str:
        done = subprocess.run(
            [*self.host.command_prefix, *argv],
            input=text,
            capture_output=True,
            text=True,
            timeout=_WITHIN_S,
            check=False,
            # `sftp` and `smbclient` look for what is the user's.
            env={**os.environ, "HOME": str(self.scratch)},
        )
        if done.returncode == 0:
            return ""
        return done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
