"""The table of servers, and starting one."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lanlab import linux
from lanlab.disk import TemporaryFolder
from lanlab.errors import LabError, RunError, UnknownName, UnmetNeed, UsageError
from lanlab.frozen import dataclass
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers.base import Credentials, Launch, Place, Server
from lanlab.testbeds.servers.ganesha import Ganesha
from lanlab.testbeds.servers.nginx import Nginx
from lanlab.testbeds.servers.openssh import OpenSsh
from lanlab.testbeds.servers.running import Keeper, RunningServer
from lanlab.testbeds.servers.samba import Samba
from lanlab.testbeds.servers.users import name_of_user
from lanlab.testbeds.servers.vsftpd import Vsftpd

#: Servers by name. Each serves other services.
SERVERS: Mapping[str, Server] = {
    server.name: server for server in (Samba(), Vsftpd(), OpenSsh(), Nginx(), Ganesha())
}
#: Characters that are safe in every program's configuration. The path of a Unix socket has at most
#: 107 bytes.
_PLAIN_PATH = re.compile(r"[\w./+-]{1,60}", re.ASCII)
_LOG_BYTES = 4096


@dataclass(frozen=True)
class ServerNeed:
    name: str
    services: tuple[str, ...]
    found: bool
    detail: str
    how_to_get: str


def server_needs() -> list[ServerNeed]:
    return [_look(server) for server in SERVERS.values()]


def _look(server: Server) -> ServerNeed:
    try:
        server.check_found()
        detail, how_to_get, found = server.version(), "", True
        if server.needs_own_network:
            detail += "; on hosts of the virtual testbed"
    except UnmetNeed as missing:
        detail, how_to_get, found = missing.message, missing.hint or "", False
    return ServerNeed(server.name, server.services, found, detail, how_to_get)


def server_of(service: str) -> Server:
    """The server of a service.

    Raises:
        UnknownName: No server here serves it.
    """
    known = {service: server for server in SERVERS.values() for service in server.services}
    if service not in known:
        raise UnknownName("service of a server", service, known)
    return known[service]


def server_named(name: str) -> Server:
    """An installed server by its name, or a user's own by its TOML file.

    Raises:
        UnknownName: There is none of that name.
        UsageError: The file does not describe a server.
    """
    if name.endswith(".toml"):
        from lanlab.testbeds.servers.own import OwnServer

        return OwnServer(Path(name))
    if name not in SERVERS:
        raise UnknownName("server", name, ("embedded", "installed", *SERVERS))
    return SERVERS[name]


def chosen(service: str, name: str | None, host: Host) -> Server:
    """The server of that name, or that of a service.

    Raises:
        UnknownName: The server or service is unknown.
        UnmetNeed: It is not installed.
    """
    found = server_of(service) if name is None else server_named(name)
    found.check_found(host)
    return found


def start(
    host: Host,
    service: str,
    root: Path,
    address: str,
    credentials: Credentials | None,
    *,
    server: str | Server | None = None,
) -> RunningServer:
    """
    Start a real server on a host, and wait until it listens.

    Args:
        host: The host.
        service: Its name in `lanlab.services`.
        root: The existing directory to serve. If lanlab is root, the server runs as its owner; an
            empty directory of root's is given to `nobody`.
        address: The host's address to listen at.
        credentials: Whom to serve; `None`: any user, if the server can.
        server: By name, or one with settings; `None`: that of the service.

    Raises:
        UnknownName: The server or service is unknown.
        UsageError: The server cannot serve that service or directory.
        UnmetNeed: A program or a right is missing.
        RunError: It was started and does not listen. After any error, nothing is left behind.
    """
    if isinstance(server, Server):
        server.check_found(host)
        one = server
    else:
        one = chosen(service, server, host)
    if problem := one.problem(service, credentials):
        raise UsageError(problem)
    if credentials is not None:
        _check_credentials(credentials)
    return _Start(one, host, service, root, address, credentials).run()


def _check_credentials(credentials: Credentials) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,30}", credentials.user):
        raise UsageError(
            f"found user `{credentials.user}`; allowed: a letter, then at most 30 letters, "
            "digits, `_` and `-`"
        )
    if not re.fullmatch(r"[!-9;-~]{1,100}", credentials.secret):
        raise UsageError(
            "invalid password; allowed: 1 to 100 printable ASCII characters without space and `:`"
        )


@dataclass(frozen=True)
class _Start:
    """One start, with the steps to undo if it fails."""

    server: Server
    host: Host
    service: str
    root: Path
    address: str
    credentials: Credentials | None

    def run(self) -> RunningServer:
        server = self.server
        user, uid, gid = self._user()
        private = TemporaryFolder("lanlab-server-", _plain_folder())
        folders = [private]
        keeper: Keeper | None = None
        launch: Launch | None = None
        try:
            folders += server.further_folders(self.root, private.path)
            keeper = Keeper(
                self.host,
                {
                    "address": self.address,
                    "ports": server.ports,
                    "uid": None if server.needs_root else uid,
                    "gid": gid,
                },
                folders,
            )
            place = self._place([folder.path for folder in folders], keeper, user)
            _hand_over(self.root, uid, gid)
            launch = server.launch(place)
            keeper.start(list(launch.argv), launch.port, launch.clean_up)
            version = server.version()
        except BaseException as error:
            said = _last_words(launch) or (keeper.said() if keeper is not None else "")
            if keeper is not None:
                keeper.close()
            for folder in folders:
                folder.remove()
            if isinstance(error, RunError):
                raise RunError(
                    f"{self.host.name}: server `{server.name}` {error.message}{said}",
                    hint=error.hint,
                    host=self.host.name,
                ) from None
            raise
        if launch.credentials is None:
            launch = dataclasses.replace(launch, credentials=self.credentials)
        return RunningServer(server.name, self.service, version, keeper, launch)

    def _user(self) -> tuple[str, int, int]:
        try:
            found = self.root.stat()
        except OSError as error:
            raise UsageError(f"`{self.root}` cannot be served: {error.strerror}") from None
        if not stat.S_ISDIR(found.st_mode) or not self.root.is_absolute():
            raise UsageError(
                f"`{self.root}` cannot be served; allowed: a directory by an absolute path"
            )
        uid, gid = os.geteuid(), os.getegid()
        if uid == 0:
            uid, gid = self.server.acts_as(self.root)
            self._check_empty(found.st_uid)
        if self.server.needs_root:
            return "root", uid, gid
        name = name_of_user(uid)
        if name is None:
            raise UnmetNeed(
                f"user {uid}, who would run `{self.server.name}`, has no name here",
                hint="add it to /etc/passwd",
            )
        return name, uid, gid

    def _check_empty(self, owner: int) -> None:
        if owner == 0 and any(self.root.iterdir()):
            raise UsageError(
                f"`{self.root}` belongs to root and is not empty: clients could write there only "
                "as root",
                hint=f"chown -R {self.server.nobody} {self.root}",
            )

    def _place(self, folders: Sequence[Path], keeper: Keeper, user: str) -> Place:
        acting = linux.user_of(keeper.pid)
        if acting is None:
            raise RunError("the process that holds it has ended", host=self.host.name)
        private, *further = folders
        served = private / "served"
        served.symlink_to(self.root)
        # A user namespace numbers the user differently; the number in this process's namespace
        # counts.
        place = Place(
            private,
            served,
            self.root,
            self.address,
            tuple(keeper.ports),
            self.credentials,
            self.service,
            acting[0],
            acting[1],
            user,
            tuple(further),
        )
        for path in (*folders, served):
            place.give(path)
        return place


def _plain_folder() -> Path:
    for folder in (Path(tempfile.gettempdir()), Path("/tmp")):
        if _PLAIN_PATH.fullmatch(str(folder)) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise UnmetNeed(
        f"`{tempfile.gettempdir()}` cannot hold a server's files; allowed: a writable folder of at "
        "most 60 letters, digits, `.`, `_`, `+`, `-` and `/`",
        hint="set TMPDIR to one",
    )


def _hand_over(root: Path, uid: int, gid: int) -> None:
    other = os.geteuid() == 0
    if other and root.stat().st_uid == 0:
        os.chown(root, uid, gid)
    can = subprocess.run(
        ["test", "-w", str(root), "-a", "-x", str(root)],
        user=uid if other else None,
        group=gid if other else None,
        extra_groups=[] if other else None,
        stderr=subprocess.DEVNULL,
        timeout=10,
        check=False,
        cwd="/",
    )
    if can.returncode:
        raise UsageError(
            f"user {uid}, who runs the server, cannot read and write `{root}`",
            hint="use a directory of that user, in folders accessible to it",
        )


def _last_words(launch: Launch | None) -> str:
    for log in launch.logs if launch is not None else ():
        with contextlib.suppress(OSError, LabError):
            lines = log.read_bytes()[-_LOG_BYTES:].decode(errors="replace").splitlines()
            for line in reversed(lines):
                if line.strip():
                    return f": {line.strip()}"
    return ""
