"""
The file services: one row for each, which is all that lanlab's Python has to know of it.

A new one is a client and an embedded server (`crates/clients`, `crates/servers`), and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

#: What carries the messages of a service: by its name, its title.
CARRIERS: Mapping[str, str] = {"tcp": "TCP", "nbf": "NetBEUI"}
#: The carrier of every service, unless another one is asked for.
USUAL_CARRIER = "tcp"

#: The server that comes with the engine, in place of the name of an installed one.
EMBEDDED = "embedded"


@dataclass(frozen=True)
class Service:
    """One file service."""

    #: As in URLs, in studies, and as engines call it.
    name: str
    #: For people.
    title: str
    #: Where its servers usually listen; `None`: it has no connections.
    port: int | None = None
    #: Further schemes of its URLs.
    schemes: tuple[str, ...] = ()
    #: What the first part of a URL's path names beside a directory; an export is the whole path.
    share: Literal["share", "bucket", "export"] | None = None
    #: Whether its server shows a certificate or host key.
    has_identity: bool = False
    #: Whether users log in.
    has_users: bool = True
    #: Whether it reads and writes parts of a file, or whole files only.
    has_blocks: bool = False
    #: Dialects that can be asked for, the oldest first; none: there is nothing to choose.
    dialects: tuple[str, ...] = ()
    #: What can carry it, the usual one first.
    carriers: tuple[str, ...] = (USUAL_CARRIER,)
    #: Whether files are copied by it; one that only `stations` has is there to measure lanlab.
    has_files: bool = True

    @property
    def is_local(self) -> bool:
        """Whether it goes over no link."""
        return self.port is None

    @property
    def has_short_names(self) -> bool:
        """Whether a server may know only names of 8 characters, a dot and 3 characters."""
        return bool(self.dialects)


_ROWS = (
    Service("directory", "directory", schemes=("file",), has_users=False, has_blocks=True),
    Service("memory", "memory", has_users=False, has_blocks=True, has_files=False),
    Service("ftp", "FTP", 21),
    Service("ftps", "FTP with TLS", 21, has_identity=True),
    Service("sftp", "SFTP", 22, schemes=("ssh",), has_identity=True, has_blocks=True),
    Service("webdav", "WebDAV", 80, schemes=("http", "dav")),
    Service("webdavs", "WebDAV with TLS", 443, schemes=("https", "davs"), has_identity=True),
    # The port of NFS is the portmapper's to tell: here, where servers commonly are.
    Service("nfs", "NFS", 2049, share="export", has_users=False, has_blocks=True),
    Service("smb", "SMB", 445, share="share", has_blocks=True),
    Service(
        "smb1",
        "SMB 1",
        445,
        share="share",
        has_blocks=True,
        dialects=("core", "lanman1", "lm12x002", "nt1"),
        carriers=("tcp", "nbf"),
    ),
    Service("s3", "S3", 80, share="bucket"),
    Service("s3s", "S3 with TLS", 443, share="bucket", has_identity=True),
)
#: By name.
SERVICES: Mapping[str, Service] = {service.name: service for service in _ROWS}


def services_of(workload: str) -> list[str]:
    """Names of the services that a workload can use, in the order of the table."""
    return [name for name, one in SERVICES.items() if one.has_files or workload == "stations"]


def schemes() -> dict[str, Service]:
    """The service of each scheme of a URL."""
    found = {name: one for name, one in SERVICES.items() if not one.is_local}
    found |= {
        f"{name}+{carrier}": one
        for name, one in SERVICES.items()
        for carrier in one.carriers
        if carrier != USUAL_CARRIER
    }
    return found | {scheme: one for one in SERVICES.values() for scheme in one.schemes}


def service_and_carrier(text: str) -> tuple[str, str | None]:
    """The names of a service and of its carrier, as in `smb1+nbf`; `None`: none is named."""
    service, plus, carrier = text.partition("+")
    return service, carrier if plus else None


def title_of(text: str) -> str | None:
    """For people, a service, and its carrier if one is named; `None`: there is no such one."""
    service, carrier = service_and_carrier(text)
    known = SERVICES.get(service)
    if known is None or (carrier is not None and carrier not in known.carriers):
        return None
    return known.title if carrier is None else f"{known.title} over {CARRIERS[carrier]}"
