"""
A user's own server, described by a TOML file:

    name = "smbd-next"
    service = "smb"
    command = ["/home/me/build/smbd", "-F", "-s", "{private}/smb.conf"]
    version = ["/home/me/build/smbd", "-V"]
    share = "data"
    clean_up = ["rm", "-rf", "/home/me/build/locks"]
    files."smb.conf" = "interfaces = {address}\\nsmb ports = {port}\\n[data]\\npath = {root}"

It is ready once it listens on `{port}`. lanlab replaces `{address}`, `{port}`, `{root}` (the served
directory), `{private}` (a folder for `files`, removed at the end), `{user}` and `{password}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lanlab.errors import UnmetNeed, UsageError
from lanlab.outside import toml_of
from lanlab.services import SERVICES
from lanlab.testbeds.servers.base import Credentials, Launch, Place, Server, version_of
from lanlab.testbeds.tools import find_tool
from lanlab.user_files import read_user_file

_MOST_BYTES = 1 << 18
_PLACES = re.compile(r"\{(address|port|root|private|user|password)\}")


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[A-Za-z0-9._ -]{1,40}$")
    service: str
    command: list[str] = Field(min_length=1)
    version: list[str] = Field(default=[])
    share: str | None = None
    #: The only user of a server with its own users; else lanlab makes a name and a password.
    user: str | None = None
    password: str = Field(default="", repr=False)
    trust_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    clean_up: list[str] = Field(default=[])
    files: dict[str, str] = Field(default={})


class OwnServer(Server):
    """A server of the user's, with the interface of an installed one."""

    how_to_get = "name the program by its path"

    def __init__(self, path: Path) -> None:
        """
        Raises:
            UsageError: The file cannot be read, or does not describe a server.
        """
        content = read_user_file(path, "server file", _MOST_BYTES)
        try:
            described = _Described.model_validate(toml_of(content))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(f"server file `{path}`: {where}: {first['msg']}") from None
        except ValueError as error:
            raise UsageError(f"server file `{path}`: not TOML: {error}") from None
        if (found := SERVICES.get(described.service)) is None or found.is_local:
            allowed = ", ".join(one.name for one in SERVICES.values() if not one.is_local)
            raise UsageError(
                f"server file `{path}`: service: found {described.service}; allowed: {allowed}"
            )
        if found.share is not None and described.share is None:
            raise UsageError(f"server file `{path}`: {found.title} needs `share`")
        self._described = described
        self.name = described.name
        self.services = (described.service,)
        self.programs = (described.command[0],)

    def path(self, program: str) -> str:
        """See `Server.path`; a program may be named by its path."""
        found = find_tool(program) if "/" not in program else program
        if found is None or not Path(found).is_file():
            raise UnmetNeed(f"server `{self.name}`: no program `{program}`", hint=self.how_to_get)
        return found

    def version(self) -> str:
        if not self._described.version:
            return self.name
        program, *arguments = self._described.version
        return version_of(self.path(program), tuple(arguments))

    def launch(self, place: Place) -> Launch:
        (port,) = place.ports
        described = self._described
        own = None if described.user is None else Credentials(described.user, described.password)
        who = own or place.credentials
        known = {
            "address": place.address,
            "port": str(port),
            "root": str(place.root),
            "private": str(place.private),
            "user": "" if who is None else who.user,
            "password": "" if who is None else who.secret,
        }
        for name, text in described.files.items():
            place.write(name, _filled(text, known))
        program, *arguments = (_filled(text, known) for text in described.command)
        return Launch(
            [self.path(program), *arguments],
            port,
            share=described.share,
            credentials=own,
            trust_sha256=described.trust_sha256,
            clean_up=[_filled(text, known) for text in described.clean_up],
        )


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _PLACES.sub(lambda place: known[place[1]], text)
