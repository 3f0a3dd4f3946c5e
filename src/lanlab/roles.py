"""
The roles of a trial: the names of its two ends, from the request to the store.

The first host of a testbed has the first role of a workload, the second host the second, unless the
stream is reversed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ROLES: Mapping[str, tuple[str, str]] = {
    "stream": ("sender", "receiver"),
    "echo": ("requester", "responder"),
    "load": ("requester", "responder"),
    "copy": ("client", "server"),
    "stations": ("client", "server"),
    "metadata": ("client", "server"),
}
_STREAMS_OF: Mapping[str, tuple[str, str]] = {"load": ROLES["stream"]}
RECEIVER = "receiver"
#: Direction values of a stream: reversed, or both at once. Prefix of the roles of the second
#: direction.
REVERSE, BOTH = "reverse", "both"
REVERSE_PREFIX = "reverse_"
#: Role names in records before 2026-11-24, and in their setup.
_ENDS = ("source", "target")
_CONNECTIONS = ("connector", "listener")


def host_places(roles: tuple[str, ...], direction: object) -> dict[str, int]:
    """
    The role of each of the two hosts, the first role first.

    Args:
        roles: Roles of the workload.
        direction: Direction of a stream; for other workloads anything else.

    Examples:
        >>> host_places(("sender", "receiver"), "forward")
        {'sender': 0, 'receiver': 1}
        >>> host_places(("sender", "receiver"), "reverse")
        {'sender': 1, 'receiver': 0}
    """
    places = range(len(roles))
    return dict(zip(roles, reversed(places) if direction == REVERSE else places, strict=True))


def every_place(workload: str, direction: object) -> dict[str, int]:
    """
    The host of each role, including roles of a second direction and of the streams during an echo.

    Examples:
        >>> every_place("stream", "both")["reverse_sender"]
        1
        >>> [role for role, place in every_place("load", None).items() if place == 1]
        ['responder', 'receiver', 'reverse_sender']
    """
    places = host_places(ROLES[workload], direction)
    roles = _STREAMS_OF.get(workload, ROLES[workload])
    if roles is not ROLES[workload]:
        places |= host_places(roles, None)
    elif direction != BOTH:
        return places
    return places | {
        f"{REVERSE_PREFIX}{role}": place for role, place in host_places(roles, REVERSE).items()
    }


def result_roles(workload: str) -> tuple[str, ...]:
    """All roles for which a trial of a workload can have a result."""
    return tuple(every_place(workload, BOTH)) if workload in ROLES else ()


def is_one_way(workload: str) -> bool:
    """Whether a workload is a stream: a sender sends messages to a receiver.

    Examples:
        >>> is_one_way("stream"), is_one_way("load"), is_one_way("echo")
        (True, False, False)
    """
    return RECEIVER in ROLES.get(workload, ())


def has_streams(workload: str) -> bool:
    """Whether a workload is a stream or runs streams during its own exchange.

    Examples:
        >>> has_streams("stream"), has_streams("load"), has_streams("echo")
        (True, True, False)
    """
    return RECEIVER in result_roles(workload)


def with_roles(workload: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    The results of a trial by role.

    Args:
        workload: Its name.
        raw: As stored. Results that already have roles are returned unchanged.
    """
    roles = ROLES.get(workload)
    if roles is None or not any(end in raw for end in _ENDS):
        return raw
    renamed = {_renamed(key, _ENDS, roles): value for key, value in raw.items()}
    setup = raw.get("setup")
    if isinstance(setup, Mapping):
        renamed["setup"] = _setup_with_roles(setup, roles)
    judged = raw.get("pollution")
    if isinstance(judged, Mapping) and isinstance(judged.get("findings"), list):
        found = [
            {**each, "end": _renamed(str(each.get("end")), _ENDS, roles)}
            for each in judged["findings"]
        ]
        renamed["pollution"] = {**judged, "findings": found}
    return renamed


def _setup_with_roles(setup: Mapping[str, Any], roles: tuple[str, str]) -> dict[str, Any]:
    found = dict(setup)
    if isinstance(found.get("capabilities"), Mapping):
        found["capabilities"] = _keys_renamed(found["capabilities"], roles)
    requests = {
        role: found.pop(f"{name}_request")
        for role, name in zip(roles, _CONNECTIONS, strict=True)
        if f"{name}_request" in found
    }
    if requests:
        found["requests"] = requests
    clocks = found.get("clocks")
    if isinstance(clocks, Mapping):
        found["clocks"] = {
            key: _keys_renamed(value, roles) if key in ("before", "after") else value
            for key, value in clocks.items()
        }
    return found


def _keys_renamed(mapping: Mapping[str, Any], roles: tuple[str, str]) -> dict[str, Any]:
    return {_renamed(key, _CONNECTIONS, roles): value for key, value in mapping.items()}


def _renamed(name: str, old: tuple[str, str], roles: tuple[str, str]) -> str:
    return roles[old.index(name)] if name in old else name
