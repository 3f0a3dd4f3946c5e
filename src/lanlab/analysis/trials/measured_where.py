"""Where a measurement took place, in words. A user's own server is named by its URL, because lanlab
does not control the network to it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from lanlab.services import NEAREST, schemes
from lanlab.store import RunRecord

_INTERFACE = "interface:"
_NAMING = ("server", "peer")
_OWN_NETWORK = "network as it is"


class MeasuredWhere(NamedTuple):
    testbed: str
    link: str


def measured_where(run: RunRecord) -> MeasuredWhere:
    name, link = str(run.testbed.get("name", "unknown")), str(run.testbed.get("link") or "")
    if name != "loopback" and not name.startswith(_INTERFACE):
        return MeasuredWhere(name, link)
    elsewhere = [host for host in dict.fromkeys(_server_hosts(run)) if not _is_this_machine(host)]
    if not elsewhere:
        return MeasuredWhere(name, link)
    interface = name.removeprefix(_INTERFACE) if name.startswith(_INTERFACE) else ""
    joined = f"interface {interface}" if interface else _OWN_NETWORK
    return MeasuredWhere(f"this machine to {', '.join(elsewhere)}", joined)


def _server_hosts(run: RunRecord) -> Iterator[str]:
    for experiment in run.study.get("experiment", ()):
        named = [experiment.get("parameters", {}).get(key) for key in _NAMING]
        varied = [one for key in _NAMING for one in experiment.get("factors", {}).get(key, ())]
        for server in (*named, *varied):
            if isinstance(server, str) and "://" in server:
                # Keep the case: NetBIOS names are upper case.
                netloc = urlsplit(server).netloc.rpartition("@")[2]
                host, colon, port = netloc.rpartition(":")
                found = unquote(host if colon and port.isdigit() else netloc)
                yield found or (NEAREST if _names_no_server(server) else "")


def _names_no_server(url: str) -> bool:
    service = schemes().get(url.partition("://")[0].lower())
    return service is not None and service.has_nearest


def _is_this_machine(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False
