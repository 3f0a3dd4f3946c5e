"""Finds targets that are the same place, and directories that are on local file systems."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from lanlab.cli.terminal.remarks import say
from lanlab.linux import file_system_of
from lanlab.workloads.services.server_url import ServerUrl, parse_url

#: Prefixes of the types of file systems whose files may be on another host (mount(8)).
_NETWORK = ("nfs", "cifs", "smb", "9p", "ceph", "davfs", "fuse.")


def same_places(urls: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of URLs of one service that name the same directory of the same server."""
    parsed = [(text, parse_url(text)) for text in urls]
    return [
        (first, second)
        for (first, a), (second, b) in combinations(parsed, 2)
        if _place(a) == _place(b) and is_same_host(a.host, b.host)
    ]


def is_same_host(first: str, second: str) -> bool:
    """Whether two names or addresses are equal or share an address."""
    return first == second or not _addresses(first).isdisjoint(_addresses(second))


def _place(url: ServerUrl) -> tuple[object, ...]:
    share = url.share
    if url.service == "directory":
        with contextlib.suppress(OSError):
            found = Path(url.directory).stat()
            return url.service, found.st_dev, found.st_ino
    # Names of SMB shares ignore case.
    share = share.lower() if share and url.service.startswith("smb") else share
    return url.service, url.usual_port, share, url.directory.strip("/"), url.user


def _addresses(host: str) -> set[str]:
    with contextlib.suppress(OSError, UnicodeError):
        return {str(one[4][0]) for one in socket.getaddrinfo(host, None)}
    return {host}


def local_file_system(directory: Path) -> str | None:
    """
    The type of a directory's file system if its files are on this machine; `None` if they are on
    another host, or if the type is unknown.
    """
    kind = file_system_of(directory.resolve())
    return None if kind is None or kind.startswith(_NETWORK) else kind


def say_same_places(urls: Sequence[str]) -> None:
    """Report which targets are the same place, so that any difference between them is chance."""

    for first, second in same_places(urls):
        say(f"{first} and {second} are the same place: a difference between them is chance")
