"""The source and target of `lanlab copy`: files, a server, and the direction."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanlab.errors import UsageError, of_name, system_hint
from lanlab.frozen import dataclass
from lanlab.services import FRAME_TITLES, NEAREST, SERVICES, schemes
from lanlab.user_files import user_path

if TYPE_CHECKING:
    from lanlab.cli.options.services import ServerOptions
    from lanlab.cli.running.settings import RunSettings
    from lanlab.workloads.services.server_url import ServerUrl

#: A share in Windows' notation, with slashes or backslashes; an export in that of mount(8).
_SHARE = re.compile(r"[/\\]{2}(?P<host>[^/\\]+)[/\\]+(?P<below>[^/\\].*)")
_EXPORT = re.compile(r"(?P<host>[\w.@-]{2,}):(?P<path>/(?!/).*)")
_ALLOWED = {
    "SOURCE": "a directory, a dataset or a URL",
    "HOST": "a name, an address or a URL",
    "DIRECTORY": "a directory",
}


@dataclass(frozen=True)
class Endpoints:
    parameters: dict[str, Any]
    urls: tuple[str, ...] = ()

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers named by TARGET: one, or several that are measured in random order."""
        named = self.parameters.get("server") or ()
        return named if isinstance(named, tuple) else (str(named),)

    @property
    def is_users_server(self) -> bool:
        return any("://" in server for server in self.servers)

    def check_link(self, link: str | None) -> None:
        """Refuse a link that the copy would not use."""
        if link is None:
            return
        if self.is_users_server:
            raise UsageError(
                "--link has no effect here: lanlab does not create the link to a server of yours",
                hint="omit --link, or omit TARGET to measure a built-in server",
            )
        named = str(self.parameters.get("service", "")).split(",")
        local = [name for name in named if (known := SERVICES.get(name)) and known.is_local]
        if local:
            raise UsageError(
                f"--link has no effect here: service `{local[0]}` uses no link",
                hint="name a service that does, e.g. `--service sftp`",
            )

    def testbed(self, asked: str, options: ServerOptions, *, is_small: bool) -> str:
        """
        Name of the testbed: a user's own server is reached from this host, or from a named one.

        Args:
            is_small: Whether the client uses the small stack.
        """
        from lanlab.cli.options.peers import small_interface
        from lanlab.testbeds.registry import INTERFACE, is_of_real_hosts

        interface, allow_default_route = options.interface, options.allow_default_route
        if is_small and self.is_users_server and not is_of_real_hosts(asked):
            return small_interface(interface, allow_default_route=allow_default_route)
        if interface is None and not allow_default_route:
            return "loopback" if self.is_users_server and not is_of_real_hosts(asked) else asked
        has_effect = any(map(_goes_without_ip, self.servers))
        if interface is None or not has_effect or is_of_real_hosts(asked):
            raise UsageError(
                f"--interface has no effect here; it needs a server over {FRAME_TITLES}, reached "
                "from this machine",
                hint="name such a server, e.g. `smb1+nbf://SERVER/SHARE`",
            )
        from lanlab.testbeds.raw_links import check_interface

        check_interface(interface, allow_default_route=allow_default_route)
        return f"{INTERFACE}{interface}"

    def check_remote(self, testbed: str) -> None:
        """If the client runs on another host, check that the source is not on this one."""
        service = SERVICES.get(self.parameters.get("service") or "")
        if service is not None and service.is_local and not self.is_users_server:
            raise UsageError(
                f"service `{service.name}` uses no network between hosts",
                hint="name a service that does, e.g. `--service sftp`",
            )
        from lanlab.testbeds.registry import listed_hosts

        path = str(self.parameters.get("dataset", "")).removeprefix("dir:")
        is_path = path != self.parameters.get("dataset", "")
        is_directory = any(server.startswith("file:") for server in self.servers)
        elsewhere: str | None = f"a host of `{testbed}`"
        if (listed := listed_hosts(testbed)) is not None:
            # The second host serves; all others are clients.
            elsewhere = listed[2 if len(listed) > 2 and is_directory else 0]
        if elsewhere is not None and (is_path or is_directory):
            raise UsageError(
                f"SOURCE is a directory of this host, but files are copied from {elsewhere}",
                hint="name a dataset, which lanlab creates there, e.g. `many-small`",
            )

    def settings(
        self,
        asked: RunSettings,
        trust: str | None,
        options: ServerOptions,
        *,
        is_small: bool = False,
    ) -> RunSettings:
        """The settings to measure with: the testbed and link to the server. Also gets the server's
        password.
        """
        from lanlab.cli.options.services import check_trust
        from lanlab.testbeds.registry import is_of_real_hosts

        if is_of_real_hosts(asked.testbed):
            self.check_remote(asked.testbed)
        self.check_link(asked.link)
        check_trust(trust, self.servers)
        self.get_password(options.password_file)
        testbed = self.testbed(asked.testbed, options, is_small=is_small)
        return replace(asked, testbed=testbed, link=None if self.is_users_server else asked.link)

    def get_password(self, password_file: str | None) -> None:
        """Get the password of each server from a file, the environment, or a prompt."""
        from lanlab.workloads.services import server_url

        if not self.urls and password_file is not None:
            raise UsageError("--password-file needs a URL with a user name")
        typed: dict[tuple[str | None, str], str] = {}
        for named in self.urls:
            url = server_url.parse_url(named)
            if password_file is not None:
                server_url.remember_password(
                    named, server_url.read_password_file(Path(password_file))
                )
            elif server_url.password_of(url) is None:
                agent, host = server_url.agent_of(url), url.host or NEAREST
                # A user of a NAS has one password for all its services.
                who = url.user, url.host
                if not sys.stdin.isatty():
                    is_sftp = url.service == "sftp"
                    key = ", which may be a private key; or start an ssh-agent" if is_sftp else ""
                    if agent is None:
                        raise UsageError(
                            f"no password of {url.user} at {host}",
                            hint=f"set LANLAB_PASSWORD, or use --password-file{key}",
                        )
                    typed[who] = ""
                elif who not in typed:
                    import getpass

                    none = "" if agent is None else " (empty: keys of the ssh-agent)"
                    typed[who] = getpass.getpass(f"password of {url.user} at {host}{none}: ")
                server_url.remember_password(named, typed[who] or agent or "")
            _get_passphrase(url)


def _get_passphrase(url: ServerUrl) -> None:
    """Prompt for the passphrase of a private key that needs one."""
    from lanlab.workloads.services import private_keys, server_url

    secret = server_url.password_of(url) or ""
    is_key = url.service == "sftp" and private_keys.is_private_key(secret)
    if not is_key or not private_keys.needs_passphrase(secret):
        return
    if server_url.passphrase_of(url) is not None:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            f"the private key for `{url.text}` has a passphrase; the key was not used",
            hint="give it in LANLAB_PASSPHRASE, or `ssh-add` the key and log in by ssh-agent",
        )
    import getpass

    passphrase = getpass.getpass(f"passphrase of the private key of {url.user}: ")
    server_url.remember_passphrase(url.text, passphrase)


def endpoints(
    source: str, targets: Sequence[str], service: str | None, server: str | None, *, download: bool
) -> Endpoints:
    """
    Interpret source and target.

    Args:
        source: A directory, a dataset, or the URL of a server.
        targets: The other place. Empty: a server that lanlab starts. Several: each is a level of
            the factor `server`.
    """
    from lanlab.workloads.services import server_url

    check_given("SOURCE", source)
    for target in targets:
        check_given("TARGET", target)
    if not targets:
        if server_url.is_url(source):
            raise UsageError(
                "found a URL but no files",
                hint="name a directory or dataset, e.g. `lanlab copy many-small URL`",
            )
        direction = "download" if download else "upload"
        return Endpoints({**_files(source), **_started(service, server), "direction": direction})
    _refuse_started(service, server)
    if server_url.is_url(source):
        if len(targets) > 1 or server_url.is_url(targets[0]):
            found = "two URLs" if len(targets) == 1 else "a URL as SOURCE and several TARGETs"
            raise UsageError(
                f"found {found}; allowed: files, then one server or several",
                hint="as in `lanlab copy many-small smb://me@nas/share nfs://nas/volume`; "
                "--download measures the way back",
            )
        source, places, download = targets[0], [source], True
    else:
        places = _places(targets)
    named = _files(source)
    for one in map(server_url.parse_url, places):
        if one.service == "directory":
            _check_apart(named["dataset"], one.directory)
    direction = "download" if download else "upload"
    return _of_user(places, {**named, "direction": direction})


def served_places(targets: Sequence[str], service: str | None, server: str | None) -> Endpoints:
    """
    Interpret the targets of a measurement that needs no source files.

    Args:
        targets: URLs or directories. Empty: a server that lanlab starts. Several: each is a level
            of the factor `server`.
    """
    for target in targets:
        check_given("TARGET", target)
    if not targets:
        return Endpoints(_started(service, server))
    _refuse_started(service, server)
    return _of_user(_places(targets), {})


def _places(targets: Sequence[str]) -> list[str]:
    from lanlab.workloads.services.server_url import is_url

    return [one if is_url(one) else directory_of("TARGET", one).as_uri() for one in targets]


def _of_user(places: Sequence[str], parameters: dict[str, Any]) -> Endpoints:
    from lanlab.workloads.services.server_url import parse_url

    with_password = tuple(place for place in places if parse_url(place).needs_password)
    _check_each_once(places)
    server = places[0] if len(places) == 1 else tuple(places)
    return Endpoints({**parameters, "server": server}, with_password)


def _started(service: str | None, server: str | None) -> dict[str, object]:
    """The parameters for a server that lanlab starts."""
    return {"service": service or ("directory" if server is None else None), "server": server}


def _refuse_started(service: str | None, server: str | None) -> None:
    if service is not None or server is not None:
        raise UsageError(
            "--service and --server cannot be used with TARGET: they start a server",
            hint="omit TARGET, or omit --service and --server",
        )


def _goes_without_ip(server: str) -> bool:
    service = schemes().get(server.partition("://")[0].lower())
    return service is not None and not service.is_over_ip


def _check_each_once(places: Sequence[str]) -> None:
    """Refuse servers that cannot be measured in one run, and report which are the same place."""
    twice = next((one for one in places if places.count(one) > 1), None)
    if twice is not None:
        raise UsageError(
            f"TARGET: found `{twice}` twice; allowed: each once",
            hint="--trials measures each several times",
        )
    without_ip = list(filter(_goes_without_ip, places))
    if without_ip and len(places) > 1:
        raise UsageError(
            f"TARGET: a server over {FRAME_TITLES} must be the only one; found "
            f"{len(places)} with `{without_ip[0]}`",
            hint="measure it in a separate run, and compare the runs",
        )
    if len(places) > 1:
        from lanlab.cli.places.same_places import say_same_places

        say_same_places(places)


def check_given(what: str, place: str | None) -> None:
    """Refuse an empty name, which would mean the current directory."""
    allowed = _ALLOWED.get(what, "a directory or a URL")
    if place is not None and not place.strip():
        here = "" if what == "HOST" else "; this directory is `.`"
        raise UsageError(
            f"{what}: found an empty name; allowed: {allowed}",
            hint=f"check whether a shell variable is empty{here}",
        )
    # The served directory is on this host.
    if place is not None and what != "DIRECTORY":
        _refuse_other_notations(what, place, allowed)


def _refuse_other_notations(what: str, place: str, allowed: str) -> None:
    """If a server is named in the notation of Windows, scp or mount(8), show how to write a URL."""
    share, export = _SHARE.fullmatch(place), _EXPORT.fullmatch(place)
    if not (share or export or place.startswith("\\")) or os.path.lexists(place):
        return
    if export:
        host, path = export.groups()
        is_url = host.lower() in schemes()
        url = f"`{host}:/{path}`" if is_url else f"`nfs://{host}{path}`, or `sftp://{host}/{path}`"
        raise UsageError(
            f"{what}: found `{place}`; allowed: {allowed}",
            hint=f"write it as {url}",
        )
    url = "smb://HOST/SHARE"
    if share:
        below = re.sub(r"[/\\]+", "/", share["below"])
        url = f"smb://{share['host']}/{below}"
    hint = f"write it as `{url}`"
    raise UsageError(
        f"{what}: found the Windows share `{place}`; allowed: its URL",
        hint=hint if share else f"{hint}; a shell removes backslashes",
    )


def directory_of(what: str, place: str) -> Path:
    """The absolute path of an existing directory on this host."""
    found = _directory(what, place)
    if found is None:
        scheme, _, rest = place.partition(":")
        host = rest if scheme.lower() in schemes() else "HOST" if "/" in place else place
        raise UsageError(
            f"{what}: `{place}`: no such directory",
            # The served directory is on this host.
            hint="make it"
            if what == "DIRECTORY"
            else f"make it, or name a server by its URL, e.g. `sftp://{host.lstrip('/')}`",
        )
    return found


def _directory(what: str, place: str) -> Path | None:
    """A directory on this host; `None` if the path does not exist."""
    try:
        path = user_path(place)
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        # A name with a NUL character.
        why = error.strerror if isinstance(error, OSError) else None
        shown = place if len(place) <= 60 else f"{place[:57]}..."
        raise UsageError(
            f"{what}: `{shown}`: {why or error}", hint=system_hint(error, "name another directory")
        ) from None
    if stat.S_ISDIR(mode):
        return path.absolute()
    found = "a file" if stat.S_ISREG(mode) else "something else"
    raise UsageError(
        f"{what}: `{place}`: found {found}; allowed: a directory",
        hint=f"name its directory, `{path.parent}`",
    )


def _check_apart(dataset: str, served: str) -> None:
    """Refuse a target inside the source, because it would become part of the copy."""
    if not dataset.startswith("dir:"):
        return
    source, target = Path(dataset.removeprefix("dir:")).resolve(), Path(served).resolve()
    if target == source or source in target.parents:
        how = "is" if target == source else "lies in"
        raise UsageError(
            f"TARGET {how} SOURCE: the copy would include its own output",
            hint="name a TARGET outside of SOURCE",
        )


def _files(place: str) -> dict[str, str]:
    from lanlab.workloads.copy import datasets

    # A dataset's name means the dataset unless there is a directory with that name.
    if place in datasets.NAMED and not Path(place).is_dir():
        return {"dataset": place}
    path = _directory("SOURCE", place)
    if path is not None:
        return {"dataset": f"dir:{path}"}
    if "/" in place or "\\" in place:
        raise UsageError(
            f"SOURCE: `{place}`: no such directory",
            hint="name a directory, or a dataset, e.g. `many-small`",
        )
    if not place[:1].isdigit():
        of_name("directory or dataset", place, datasets.NAMED)
    datasets.groups(place)
    return {"dataset": place}
