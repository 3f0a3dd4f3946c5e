"""The targets of `lanlab nas`: services that were found, URLs and mounts, with their logins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import typer

from lanlab.cli.terminal.remarks import can_ask
from lanlab.errors import LabError, UsageError
from lanlab.services import SERVICES, schemes

if TYPE_CHECKING:
    from lanlab.nas.discovery import Found

_MOST_SHOWN = 12
#: Placeholder for a share that is not yet known.
_UNKNOWN = "unknown"


def host_of(host: str, urls: Sequence[str]) -> tuple[str, list[str]]:
    """The host and the URLs, of which the first may stand for the host."""
    from lanlab.addresses import in_url
    from lanlab.cli.places.copy_places import check_given
    from lanlab.workloads.services.server_url import is_address, is_url, parse_url

    check_given("HOST", host)
    if is_url(host) and (named := parse_url(with_place(host)).host):
        return named, [host, *urls]
    address = host[1:-1] if re.fullmatch(r"\[.*\]", host) else host
    if not is_address(address) and any(mark in address for mark in "/@:"):
        user, is_user, name = host.rpartition("@")
        raise UsageError(
            f"HOST: found `{host}`; allowed: a name or an address",
            hint=f"write `lanlab nas {name} --user {user}`"
            if is_user and not set("/:") & set(host)
            else "a URL names user, port and share, e.g. `lanlab nas smb://me@nas:4450/data`",
        )
    # In the form that it has in a URL: names ignore case.
    return parse_url(f"ftp://{in_url(address)}").host, list(urls)


def targets_of(
    host: str, urls: Sequence[str], user: str | None, share: str | None
) -> tuple[list[str], dict[str, str]]:
    """
    The targets of a host, as URLs. Some of them lack a share, bucket or export.

    Args:
        urls: URLs and directories that the user named.
        user, share: Login and SMB share of services that were found.

    Returns:
        Also why each other service cannot be measured.
    """
    from lanlab.nas import discovery

    mounted, named = _mounts(urls), _named(host, urls)
    targets, left_out = _found(host, discovery.discover(host), named, user, share)
    return targets + mounted, left_out


def password_files(given: Sequence[str]) -> dict[str, str]:
    """Password files by service; the empty name stands for all other services."""
    found, known = dict[str, str](), schemes()
    for text in given:
        scheme, is_named, path = text.partition("=")
        service = known[scheme].name if is_named and scheme in known else ""
        path = path if service else text
        if service in found:
            what = f"for {service}" if service else "without a service"
            raise UsageError(f"--password-file: found two {what}; allowed: one")
        found[service] = path
    return found


def ask_passwords(
    targets: Sequence[str], files: Mapping[str, str], *, allows_unused: bool = False
) -> None:
    """Get the passwords, prompting once for each user who has no file, and keep them.

    Raises:
        UsageError: A file is used for none of the targets, unless that is allowed.
    """
    from lanlab.cli.places.copy_places import Endpoints
    from lanlab.workloads.services.server_url import parse_url

    whole = [with_place(text) for text in targets]
    of_file: dict[str, list[str]] = {service: [] for service in files}
    for text in whole:
        if (url := parse_url(text)).needs_password:
            of_file.setdefault(url.service if url.service in files else "", []).append(text)
    for service in files:
        if not of_file[service] and not allows_unused:
            which = f" {service}=…: no {service}" if service else ": no other"
            raise UsageError(
                f"--password-file{which} target has a user name",
                hint="add --user, or name the user in a URL",
            )
    for service, urls in of_file.items():
        path = files.get(service)
        Endpoints({"server": tuple(whole)}, tuple(urls)).get_password(path if urls else None)


def with_places(targets: Sequence[str], trust: str | None) -> tuple[list[str], dict[str, str]]:
    """The targets, each with a share, bucket or export, and why others cannot be measured."""
    from lanlab.performers.servers.places import places_of
    from lanlab.workloads.services.server_url import parse_url, password_of, remember_password

    complete, left_out = [], dict[str, str]()
    for text in targets:
        if not lacks_place(text):
            complete.append(text)
            continue
        unknown = with_place(text)
        service = SERVICES[parse_url(unknown).service]
        what = str(service.share)
        try:
            chosen = with_place(text, _chosen(service.title, what, places_of(unknown, trust)))
        except UsageError as error:
            left_out[service.title] = error.message
            continue
        except LabError as error:
            why = error.message.removeprefix("here: ")
            hint = error.hint or "name one by its URL"
            left_out[service.title] = f"no list of {what}s: {why}; {hint}"
            continue
        if (secret := password_of(parse_url(unknown))) is not None:
            remember_password(chosen, secret)
        complete.append(chosen)
    return complete, left_out


def _chosen(title: str, what: str, names: Sequence[str]) -> str:
    """The only name, or the one that the user selects."""
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"the server lists no {what}; name one by its URL")
    shown = ", ".join(names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    if not can_ask():
        raise UsageError(f"name one {what} by its URL ({what}s: {shown})")
    while (name := typer.prompt(f"{what} of {title} ({shown})", err=True)) not in names:
        typer.echo(f"no such {what}", err=True)
    return str(name)


def _mounts(places: Sequence[str]) -> list[str]:
    """The URLs of the directories among the targets."""
    from lanlab.cli.places.copy_places import check_given, directory_of
    from lanlab.cli.places.same_places import local_file_system
    from lanlab.workloads.services.server_url import is_url

    found = []
    for place in places:
        if is_url(place):
            continue
        check_given("URL or DIRECTORY", place)
        directory = directory_of("URL or DIRECTORY", place)
        if (kind := local_file_system(directory)) is not None:
            raise UsageError(
                f"`{place}`: found a directory of this machine ({kind}); allowed: one where a "
                "share of the server is mounted",
                hint="`lanlab copy many-small DIRECTORY URL` measures a disk of this machine",
            )
        found.append(directory.as_uri())
    return found


def _named(host: str, urls: Sequence[str]) -> dict[str, str]:
    """The given URLs, each with its service."""
    from lanlab.workloads.services.server_url import is_url, parse_url

    found: dict[str, str] = {}
    for text in filter(is_url, urls):
        url = parse_url(with_place(text))
        if url.host != host:
            raise UsageError(
                f"`{text}`: found host `{url.host or 'none'}`; allowed: {host}, the host that is "
                "measured",
                hint="`lanlab copy many-small URL URL` compares services of different hosts",
            )
        if text in found:
            raise UsageError(f"`{text}`: found twice; allowed: once")
        found[text] = url.service
    return found


def _found(
    host: str, found: Sequence[Found], named: Mapping[str, str], user: str | None, share: str | None
) -> tuple[list[str], dict[str, str]]:
    from lanlab.addresses import in_url

    place = in_url(host)
    others = [one for one in found if one.service not in named.values()]
    if not (user or named) and can_ask() and any(one.needs_login for one in others):
        user = typer.prompt(
            f"user at {host} (empty: only services without login)", "", show_default=False, err=True
        )
    login = f"{user}@{place}" if user else None
    targets, left_out = list(named), {}
    for one in others:
        title = SERVICES[one.service].title
        if one.problem is not None:
            left_out[title] = one.problem
        elif not one.needs_login:
            targets.append(f"{one.service}://{place}/")
        elif login is None:
            left_out[title] = "needs a login: add --user, or name its URL"
        elif one.service == "smb":
            targets.append(f"smb://{login}/{share or ''}")
        elif one.service == "webdav" and any(
            other.service == "webdavs" and other.problem is None for other in found
        ):
            left_out[title] = (
                f"WebDAV with TLS is measured; to measure both, name webdav://{login}/, which "
                "sends the password in clear"
            )
        else:
            targets.append(f"{one.service}://{login}/")
    return targets, left_out


def lacks_place(text: str) -> bool:
    """Whether a URL of SMB 2/3, S3 or NFS names no share, bucket or export."""
    parts = urlsplit(text)
    found = schemes().get(parts.scheme.lower())
    listed = ("smb", "s3", "s3s", "nfs", "nfs4")
    return found is not None and found.name in listed and not parts.path.strip("/")


def with_place(text: str, place: str | None = None) -> str:
    """
    Add a share, bucket or export to a URL if it lacks one.

    Args:
        place: Its name; by default a placeholder for any.

    Examples:
        >>> with_place("s3://me@nas:9000?region=eu", "my photos")
        's3://me@nas:9000/my%20photos?region=eu'
    """
    if not lacks_place(text):
        return text
    path = f"/{quote((place or _UNKNOWN).lstrip('/'), safe='$/')}"
    return urlsplit(text)._replace(path=path).geturl()
