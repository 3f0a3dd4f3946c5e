"""Parameters of a station's IPX segment: its frame type and network number."""

from __future__ import annotations

import re
from typing import Literal, cast, get_args

from lanlab.messages import Target
from lanlab.services import CARRIERS, Service

#: Frame types that a station can use; `auto`: the station detects the one on its segment.
Framing = Literal["auto", "ethernet-ii", "raw-802.3", "802.2", "snap"]
FRAMINGS: tuple[str, ...] = get_args(Framing)
FRAMING_HELP = "IPX frame type. Default: `auto`, the type in use on the segment."
NETWORK_HELP = "IPX network number, hexadecimal. Default: the number in use on the segment."
_NETWORK = re.compile(r"[0-9A-Fa-f]{1,8}")
#: Valid numbers of a segment: 0 means any segment, and 0xFFFFFFFF all networks.
_NETWORKS = range(1, 0xFFFFFFFF)


def network_text(text: str) -> str:
    """
    A network number in the notation of an IPX address.

    Raises:
        ValueError: The text is not a network number.
    """
    if _NETWORK.fullmatch(text) is None or int(text, 16) not in _NETWORKS:
        raise ValueError(
            f"found `{text}`; allowed: a hexadecimal number, {_NETWORKS[0]} to {_NETWORKS[-1]:X}"
        )
    return f"{int(text, 16):08X}"


def has_segment(service: Service) -> bool:
    return CARRIERS[service.carrier].family == "ipx"


def segment(service: Service, framing: str, network: str | None) -> Target:
    """The segment's parameters in a request to an engine; empty if nothing is set."""
    said = {
        "framing": None if framing == "auto" else framing,
        "network": None if network is None else int(network, 16),
    }
    said = {key: value for key, value in said.items() if value is not None}
    return cast("Target", {"ipx": said} if said and has_segment(service) else {})
