"""
The file services, one entry each, with all that the Python package knows about them.

A new service needs a client and an embedded server (`crates/clients`, `crates/servers`), and an
entry here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from lanlab.frozen import dataclass
from lanlab.messages import Carrier as CarrierName
from lanlab.messages import ServiceKind


@dataclass(frozen=True)
class Carrier:
    title: str
    about: str
    family: Literal["ip", "mac", "ipx"]
    has_signatures_and_raw: bool = True
    #: The only service that it carries; `None` for any service.
    service: str | None = "smb1"
    #: Message bytes in its largest frame, and the size of the packet in that frame; `None` for IP.
    fullest_frame: tuple[int, int] | None = None


@dataclass(frozen=True)
class SystemProfile:
    """A period system, emulated by the engine as server and stations with one SMB 1 dialect."""

    title: str
    #: Years of its first and last release.
    years: tuple[int, int]
    #: Carrier, one of `CARRIERS`.
    carrier: str
    dialect: str
    message_bytes: int
    sessions: int


#: Profiles by the engine's names, from its table (`crates/stack/src/systems.rs`).
PROFILES: Mapping[str, SystemProfile] = {
    name: SystemProfile(**row)
    for name, row in json.loads(
        Path(__file__).with_name("systems.json").read_text(encoding="utf-8")
    ).items()
}


def profiles_over(carrier: str) -> Mapping[str, SystemProfile]:
    return {name: one for name, one in PROFILES.items() if one.carrier == carrier}


CARRIERS: Mapping[CarrierName, Carrier] = {
    "tcp": Carrier("TCP", "the system's TCP", "ip", service=None),
    # Header sizes: LLC and NetBIOS 18 bytes, IPX 30, NetBIOS on IPX 18, NetWare 8.
    "nbf": Carrier("NetBEUI", "NetBIOS straight on Ethernet", "mac", fullest_frame=(1482, 1500)),
    "ipx": Carrier(
        "IPX",
        "NWLink without NetBIOS",
        "ipx",
        has_signatures_and_raw=False,
        fullest_frame=(1470, 1500),
    ),
    "nbipx": Carrier(
        "NetBIOS over IPX", "NWLink between Windows NT and NT", "ipx", fullest_frame=(1452, 1500)
    ),
    "ncp": Carrier(
        "IPX", "NetWare's core protocol", "ipx", service="ncp", fullest_frame=(1462, 1500)
    ),
    "spp": Carrier(
        "XNS",
        "Xerox's sequenced packets, names modelled",
        "mac",
        has_signatures_and_raw=False,
        fullest_frame=(534, 576),
    ),
}
#: The default carrier of every service.
USUAL_CARRIER: CarrierName = "tcp"
FRAME_CARRIERS: Mapping[CarrierName, Carrier] = {
    name: one for name, one in CARRIERS.items() if one.family != "ip"
}
#: The carriers in words, as in `NetBEUI, IPX or NetBIOS over IPX`.
FRAME_TITLES = " or ".join(
    ", ".join(dict.fromkeys(one.title for one in FRAME_CARRIERS.values())).rsplit(", ", 1)
)


def frame_carriers_of(service: str) -> Mapping[CarrierName, Carrier]:
    """The Ethernet carriers that a service can choose from."""
    return {name: one for name, one in FRAME_CARRIERS.items() if one.service == service}


NEAREST = "the nearest server"

#: Name of the engine's own server, instead of an installed one.
EMBEDDED = "embedded"


@dataclass(frozen=True)
class Service:
    name: str
    title: str
    #: Usual port of its servers; 0: its carrier has no ports; `None`: it has no connections.
    port: int | None = None
    schemes: tuple[str, ...] = ()
    #: What the first part of a URL's path names, if not a directory. An export is the whole path.
    share: Literal["share", "volume", "bucket", "export"] | None = None
    #: Whether a URL without a host means the first server that answers.
    has_nearest: bool = False
    #: Whether a URL's path starts in the login directory (RFC 1738, section 3.2.2), not at the
    #: server's root.
    has_login_directory: bool = False
    has_identity: bool = False
    has_users: bool = True
    #: Whether it reads and writes parts of a file, or only whole files.
    has_blocks: bool = False
    #: Dialects to choose from, oldest first; empty: no choice.
    dialects: tuple[str, ...] = ()
    #: Whether a server may support only 8.3 names.
    has_short_names: bool = False
    has_domains: bool = False
    domain_option: str | None = None
    #: Whether lanlab's own server can serve without a password.
    has_guests: bool = False
    #: Length limit of its password (ASCII), which may ignore case; `None` if any password is
    #: allowed.
    most_password_characters: int | None = None
    #: Carrier, one of `CARRIERS`. If it is not the default, the name has it after a `+`.
    carrier: CarrierName = USUAL_CARRIER
    #: Whether lanlab has a server of its own for it.
    is_embedded: bool = True
    #: Whether `copy` can use it. A service without files exists for `stations` to measure lanlab
    #: itself.
    has_files: bool = True
    is_simulated: bool = False

    @property
    def is_local(self) -> bool:
        return self.port is None

    def new_password(self) -> str:
        import secrets

        # Hexadecimal digits only, because a program takes an argument that begins with `-` for an
        # option.
        return secrets.token_hex((self.most_password_characters or 32) // 2)

    @property
    def engine_name(self) -> ServiceKind:
        return cast("ServiceKind", self.name.partition("+")[0])

    @property
    def is_over_ip(self) -> bool:
        return CARRIERS[self.carrier].family == "ip"


_SMB1 = Service(
    "smb1",
    "SMB 1",
    445,
    share="share",
    has_blocks=True,
    dialects=("core", "lanman1", "lm12x002", "nt1"),
    has_short_names=True,
    has_domains=True,
    has_guests=True,
    # LM splits a password into two halves of seven characters ([MS-NLMP] 3.3.1).
    most_password_characters=14,
    is_simulated=True,
)


_FTP = Service("ftp", "FTP", 21, has_login_directory=True, has_short_names=True, is_simulated=True)
# The portmapper announces the port of NFS 3; this is the usual port.
_NFS = Service("nfs", "NFS 3", 2049, share="export", has_users=False, has_blocks=True)
_S3 = Service("s3", "S3", 80, share="bucket", has_domains=True, domain_option="region")


def _smb1_over(carrier: CarrierName) -> Service:
    """SMB 1 over an Ethernet carrier, which has no ports."""
    return replace(
        _SMB1,
        name=f"{_SMB1.name}+{carrier}",
        title=f"{_SMB1.title} over {CARRIERS[carrier].title}",
        port=0,
        carrier=carrier,
    )


_ROWS = (
    Service("directory", "directory", schemes=("file",), has_users=False, has_blocks=True),
    Service("memory", "memory", has_users=False, has_blocks=True, has_files=False),
    _FTP,
    replace(_FTP, name="ftps", title="FTP with TLS", has_identity=True, is_simulated=False),
    Service(
        "sftp",
        "SFTP",
        22,
        schemes=("ssh",),
        has_login_directory=True,
        has_identity=True,
        has_blocks=True,
    ),
    Service("webdav", "WebDAV", 80, schemes=("http", "dav")),
    Service("webdavs", "WebDAV with TLS", 443, schemes=("https", "davs"), has_identity=True),
    _NFS,
    replace(_NFS, name="nfs4", title="NFS 4.1", is_embedded=False),
    Service("smb", "SMB", 445, share="share", has_blocks=True, has_domains=True),
    _SMB1,
    *(_smb1_over(carrier) for carrier in frame_carriers_of(_SMB1.name)),
    Service(
        "ncp",
        "NetWare",
        0,
        share="volume",
        has_nearest=True,
        has_blocks=True,
        has_short_names=True,
        has_guests=True,
        most_password_characters=32,
        carrier="ncp",
        is_simulated=True,
    ),
    _S3,
    replace(_S3, name="s3s", title="S3 with TLS", port=443, has_identity=True),
)
SERVICES: Mapping[str, Service] = {service.name: service for service in _ROWS}


def services_with_files() -> list[str]:
    """Names of the services that `copy` supports, in the order of the table."""
    return [name for name, one in SERVICES.items() if one.has_files]


def schemes() -> dict[str, Service]:
    found = {name: one for name, one in SERVICES.items() if not one.is_local}
    return found | {scheme: one for one in SERVICES.values() for scheme in one.schemes}


def carried_by(service: str, carrier: str) -> Service | None:
    """A service over another carrier; `None` if there is no such combination."""
    wanted = (SERVICES[service].engine_name, carrier)
    found = (one for one in SERVICES.values() if (one.engine_name, one.carrier) == wanted)
    return next(found, None)
