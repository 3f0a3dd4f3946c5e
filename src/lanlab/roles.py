"""
The roles of a trial: the names of its two ends, from the request to the store.

A testbed's first host has the workload's first role, and the second host the second role, unless
the stream is reversed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

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
#: Direction values of a stream: reversed, or both at once. Then the prefix of the roles of the
#: second direction.
REVERSE, BOTH = "reverse", "both"
REVERSE_PREFIX = "reverse_"


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


@functools.cache
def result_roles(workload: str) -> tuple[str, ...]:
    """All roles for which a trial of a workload can have a result."""
    return tuple(every_place(workload, BOTH)) if workload in ROLES else ()


@functools.cache
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
