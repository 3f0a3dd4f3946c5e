"""Options of `lanlab serve`."""

from __future__ import annotations

from lanlab.cli.options.services import DefaultRouteOption
from lanlab.cli.options.shared import flag, option
from lanlab.frozen import dataclass
from lanlab.ipx import FRAMING_HELP, FRAMINGS, NETWORK_HELP
from lanlab.services import FRAME_TITLES, PROFILES, USUAL_CARRIER, frame_carriers_of

STACKS = ("system", "small")
MEMORY = "2MB"
#: Names of the carriers without IP, in words.
_FRAMED = ", ".join(f"{name} for {one.title}" for name, one in frame_carriers_of("smb1").items())
_PROFILES = ", ".join(f"{name} over {one.carrier}" for name, one in PROFILES.items())


@dataclass(frozen=True)
class FileOptions:
    """In the order of `--help`."""

    carrier: str | None = option(
        "--carrier",
        "NAME",
        f"Carrier of SMB 1: {USUAL_CARRIER}, or {_FRAMED} (with --interface). Default: "
        f"{USUAL_CARRIER}.",
    )
    profile: str | None = option(
        "--profile",
        "NAME",
        f"Period system to emulate (SMB 1 core dialect): {_PROFILES}. Default: none.",
    )
    interface: str | None = option(
        "--interface",
        "NAME",
        f"Ethernet interface for {FRAME_TITLES}, or --stack small. Needs root.",
    )
    stack: str = option(
        "--stack",
        "|".join(STACKS),
        "TCP for FTP: the system's, or lanlab's own (`small`), with an address of its own.",
        STACKS[0],
    )
    stack_address: str | None = option(
        "--stack-address", "ADDRESS", "Unused IPv4 address for the small TCP."
    )
    stack_memory: str = option(
        "--stack-memory",
        "SIZE",
        "Memory limit of the small TCP; it limits the concurrent clients.",
        MEMORY,
    )
    ipx_framing: str = option("--ipx-framing", "|".join(FRAMINGS), FRAMING_HELP, FRAMINGS[0])
    ipx_network: str | None = option("--ipx-network", "NUMBER", NETWORK_HELP)
    name: str | None = option(
        "--name --as", "NAME", "Server name (SMB 1, NetWare), 1 to 15 characters. Default: LANLAB."
    )
    share: str | None = option(
        "--share",
        "NAME",
        "Name of the share (SMB) or volume (NetWare), 1 to 12 characters. Default: lanlab, SYS for "
        "NetWare.",
    )
    user: str | None = option("--user", "NAME", "User name for logins. Default: lanlab.")
    allow_default_route: DefaultRouteOption = False
    write: bool = flag("--write", "Let clients write. Default: read-only.")
    guest: bool = flag("--guest", "Serve any host without a password (SMB 1, NetWare).")
    dialect: str | None = option(
        "--dialect",
        "OLDEST[..NEWEST]",
        "SMB 1 dialect to offer: core, lanman1, lm12x002, nt1, or a range, e.g. core..lanman1. "
        "Default: all.",
    )
    password_file: str | None = option(
        "--password-file",
        "FILE",
        "File with the password. Default: $LANLAB_PASSWORD, else a new one at each start.",
    )
    require_signing: bool = flag(
        "--require-signing",
        "Refuse clients that do not sign (SMB 1). Default: sign if the client does.",
    )
