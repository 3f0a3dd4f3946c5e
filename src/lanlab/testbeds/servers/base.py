"""
The interface of every server: its services, requirements, configuration and command.

A server is an installed program, such as Samba or OpenSSH, that lanlab configures in a private
folder and runs on a host of a testbed. The program's system-wide configuration, and a running
service of it, are neither read nor changed.
"""

from __future__ import annotations

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path

from lanlab.disk import TemporaryFolder, entry, make_folders
from lanlab.errors import RunError, UnmetNeed
from lanlab.frozen import dataclass
from lanlab.pipes import run_briefly
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers.users import user_named
from lanlab.testbeds.tools import find_tool

_VERSION_WITHIN_S = 10.0
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Credentials:
    """Name and secret of a user. Never part of a record, a log or an error."""

    user: str
    #: Password; for SFTP it may be a private key in the form of OpenSSH.
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Place:
    #: Folder for all files of the server: configuration, keys, logs. Its path has no space.
    private: Path
    #: The served directory, by a path without spaces (a symbolic link in `private`).
    served: Path
    root: Path
    address: str
    ports: tuple[int, ...]
    #: Whom to serve; `None`: any user.
    credentials: Credentials | None
    service: str
    uid: int
    gid: int
    user: str
    #: The folders from `further_folders`.
    further: tuple[Path, ...] = ()

    def write(self, name: str, text: str, mode: int = 0o600) -> Path:
        """Write a file below `private`, for the server's user only."""
        path = self.private / name
        with entry(self.private, name, makes_folders=True) as place, place.create(mode) as file:
            file.write(text.encode())
        self.give(path)
        return path

    def fill(self, template: str, **values: object) -> str:
        """The text of a file in `templates`, with these values."""
        return (_TEMPLATES / template).read_text(encoding="utf-8").format(**values)

    def folder(self, name: str) -> Path:
        """Make a folder below `private`, for the server's user only."""
        path = self.private / name
        make_folders(path, 0o700)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        if os.geteuid() == 0 and self.uid != 0:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def run(self, argv: Sequence[str], text: str = "") -> str:
        """
        Run a tool as the server's user and return its output.

        Raises:
            RunError: It failed; with its message.
        """
        other = os.geteuid() == 0 and self.uid != 0
        done = run_briefly(
            argv,
            30,
            text,
            cwd=self.private,
            user=self.uid if other else None,
            group=self.gid if other else None,
            extra_groups=[] if other else None,
        )
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            why = said[-1].strip() if said else "it did not say why"
            raise RunError(f"`{argv[0]}` failed ({done.returncode}): {why}")
        return done.stdout


@dataclass(frozen=True)
class Launch:
    """How to start a configured server, and how to reach it."""

    argv: Sequence[str]
    port: int
    #: Share of SMB, export of NFS; `None` where a service has none.
    share: str | None = None
    #: The user to log in as; `None`: the requested one.
    credentials: Credentials | None = None
    #: SHA-256 of the certificate (DER) or of the host key's public blob, in hexadecimal.
    trust_sha256: str | None = None
    other_ports: Mapping[str, int] = field(default_factory=dict)
    #: Files below `private` with the server's error messages.
    logs: Sequence[Path] = ()
    #: Command that runs once the server has ended.
    clean_up: Sequence[str] = ()


class Server(ABC):
    #: Name in `--server` and in study files.
    name: str
    #: Services, by the names of `lanlab.services`, the usual one first.
    services: tuple[str, ...]
    programs: tuple[str, ...]
    how_to_get: str
    #: The server acts as this user if both lanlab and the owner of the served directory are root.
    nobody = "nobody"
    needs_user = False
    #: Whether the server needs root.
    needs_root = False
    #: Whether the server needs its own network, like that of a host of the virtual testbed.
    needs_own_network = False
    ports = 1
    version_arguments: Sequence[str] = ("-V",)

    @abstractmethod
    def launch(self, place: Place) -> Launch:
        """Write all configuration below `place.private`; returns how to start the server.

        Raises:
            RunError: A tool that makes keys or users failed.
        """

    def problem(self, service: str, credentials: Credentials | None) -> str | None:
        """Why the server cannot serve this request, as a sentence; `None` if it can."""
        if self.needs_user and credentials is None:
            return f"server `{self.name}`: found no user; allowed: a user with a password"
        if service not in self.services:
            allowed = ", ".join(self.services)
            return f"server `{self.name}`: found {service}; allowed: {allowed}"
        return None

    def further_folders(self, root: Path, private: Path) -> list[TemporaryFolder]:
        """Folders outside `private` that the server occupies while it runs, created here."""
        return []

    def acts_as(self, root: Path) -> tuple[int, int]:
        """User and group of the server if lanlab is root: the directory owner's, or `nobody`'s if
        that is root.

        Raises:
            UnmetNeed: There is no such user.
        """
        found = root.stat()
        if found.st_uid != 0:
            return found.st_uid, found.st_gid
        other = user_named(self.nobody)
        if other is None:
            raise UnmetNeed(
                f"server `{self.name}` runs as user `{self.nobody}`, which does not exist here",
                hint=f"`chown` {root} to another user than root",
            )
        return other

    def path(self, program: str) -> str:
        """Path of one of the server's programs.

        Raises:
            UnmetNeed: It is not installed.
        """
        path = find_tool(program)
        if path is None:
            raise UnmetNeed(
                f"server `{self.name}` needs `{program}`, not found on PATH", hint=self.how_to_get
            )
        return path

    def check_found(self, host: Host | None = None) -> None:
        """Check that all the server's programs and rights are available.

        Raises:
            UnmetNeed: Some are missing; with a hint.
        """
        for program in self.programs:
            self.path(program)
        if self.needs_root and os.geteuid() != 0:
            raise UnmetNeed(
                f"server `{self.name}` needs root; lanlab runs as user {os.geteuid()}",
                hint="run as root, or use another server of the service",
            )
        if self.needs_own_network and host is not None and not host.command_prefix:
            raise UnmetNeed(
                f"server `{self.name}` needs its own network, which `{host.name}` does not have",
                hint="use --testbed virtual",
            )

    def version(self) -> str:
        """The version that the server reports, in one line.

        Raises:
            UnmetNeed: It is not installed.
        """
        return version_of(self.path(self.programs[0]), tuple(self.version_arguments))


@lru_cache
def version_of(path: str, arguments: tuple[str, ...]) -> str:
    try:
        done = run_briefly([path, *arguments], _VERSION_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not tell its version: {error}"
    for line in (done.stdout + done.stderr).splitlines():
        if re.search(r"\d+\.\d+", line):
            return line.strip()
    return "does not tell its version"
