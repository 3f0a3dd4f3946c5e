"""What carries a server's traffic: TCP, or a station directly on Ethernet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.errors import UsageError, of_name
from lanlab.messages import Target
from lanlab.service_options import OPTIONS
from lanlab.services import PROFILES, SERVICES, USUAL_CARRIER, Service, SystemProfile, carried_by

if TYPE_CHECKING:
    from lanlab.cli.serving.options import FileOptions
    from lanlab.performers.servers.embedded import Station

#: Default address and port of a server over TCP.
_USUAL_PLACE = ("127.0.0.1", 0)
_NAME = "LANLAB"


def carried(offered: Service, carrier: str | None) -> Service:
    if carrier is None:
        return offered
    found = carried_by(offered.name, carrier)
    if found is None:
        rows = (one for one in SERVICES.values() if one.carrier != USUAL_CARRIER)
        framed = [f"{one.carrier} for {one.engine_name}" for one in rows]
        raise UsageError(
            f"service `{offered.name}` does not run over carrier `{carrier}`; allowed: "
            f"{', '.join([USUAL_CARRIER, *framed])}",
            hint="omit it, or serve e.g. with `--service smb1 --carrier nbf --interface eth1`",
        )
    return found


def system_of(offered: Service, profile: str | None) -> SystemProfile | None:
    """
    The period system to emulate; `None` if none was requested.

    Raises:
        UsageError: The system is unknown, or does not use the service's carrier.
    """
    if profile is None:
        return None
    try:
        OPTIONS["profile"].check(profile, offered)
    except ValueError as error:
        raise UsageError(
            f"--{error}",
            hint="serve e.g. with `--service smb1 --carrier nbf --profile pc-lan-program "
            "--interface eth1`",
        ) from None
    return PROFILES[profile]


def _segment(offered: Service, framing: str, network: str | None) -> Target:
    from lanlab.ipx import FRAMINGS, has_segment, network_text, segment

    of_name("framing", framing, dict.fromkeys(FRAMINGS))
    if (framing, network) == ("auto", None):
        return {}
    if not has_segment(offered):
        raise UsageError(
            f"--ipx-framing and --ipx-network have no effect on `{offered.name}`, which does not "
            "use IPX",
            hint="omit them, or serve e.g. with `--service smb1 --carrier ipx --interface eth1`",
        )
    try:
        return segment(offered, framing, None if network is None else network_text(network))
    except ValueError as error:
        raise UsageError(f"--ipx-network: {error}") from None


def station_of(
    offered: Service, options: FileOptions, name: str | None, place: tuple[str, int]
) -> Station | None:
    """The station that serves; `None` for TCP."""
    from lanlab.performers.servers.embedded import Station
    from lanlab.testbeds.raw_links import check_interface

    said = _segment(offered, options.ipx_framing, options.ipx_network)
    interface, allow_default_route = options.interface, options.allow_default_route
    if offered.is_over_ip:
        if options.stack == "system" and (interface is not None or allow_default_route):
            raise UsageError(
                f"--interface and --allow-default-route have no effect on `{offered.name}`, a "
                "service over TCP",
                hint="omit them, or serve e.g. with `--service smb1 --carrier nbf`",
            )
        return None
    if place != _USUAL_PLACE:
        raise UsageError(
            f"--address and --port have no effect on `{offered.name}`, a service without IP",
            hint="omit them; --interface says where it serves",
        )
    if interface is None:
        raise UsageError(
            f"`{offered.name}` needs --interface, the Ethernet interface to serve on",
            hint="add e.g. `--interface eth1`",
        )
    check_interface(interface, allow_default_route=allow_default_route)
    return Station(interface, name or _NAME, said)
