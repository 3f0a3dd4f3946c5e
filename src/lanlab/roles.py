"""
The roles of a trial: what each end of it is called, from the request to the store.

The first host of a testbed has the first role of a workload, the second host the second, unless a
stream goes the other way.
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
#: Direction of a stream from the second host to the first; of one both ways; and how the roles of
#: its second direction begin.
REVERSE, BOTH = "reverse", "both"
REVERSE_PREFIX = "reverse_"
#: What records of before 2026-11-24 call the ends of every workload, and in its setup.
_ENDS = ("source", "target")
_CONNECTIONS = ("connector", "listener")


def host_places(roles: tuple[str, ...], direction: object) -> dict[str, int]:
    """
    Which of a testbed's two hosts has which role, the role that begins first.

    Args:
        roles: Roles of the workload.
        direction: Direction of a stream; of others something else or nothing.

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
    The same of every role in which a host does something: those of a second direction too, and of
    the streams during an echo.

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
    """Every role that a trial of a workload can have a result of."""
    return tuple(every_place(workload, BOTH)) if workload in ROLES else ()


def is_one_way(workload: str) -> bool:
    """Whether a workload is a stream: messages that go from a sender to a receiver.

    Examples:
        >>> is_one_way("stream"), is_one_way("load"), is_one_way("echo")
        (True, False, False)
    """
    return RECEIVER in ROLES.get(workload, ())


def has_streams(workload: str) -> bool:
    """Whether a workload is a stream or has some during its own exchange.

    Examples:
        >>> has_streams("stream"), has_streams("load"), has_streams("echo")
        (True, True, False)
    """
    return RECEIVER in result_roles(workload)


def with_roles(workload: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    What a trial left, by the names of its roles.

    Args:
        workload: Its name.
        raw: As it was stored. What already has roles comes back as it is.
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
