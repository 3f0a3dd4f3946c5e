"""
Lines from an engine. Each is untrusted input: it must be one message of bounded length and of a
type in the engine's schema, or it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, cast

from lanlab.engine import contract
from lanlab.messages import Line
from lanlab.outside import BadValue, json_of

#: Longest line that is read, bytes: twice the longest that an engine sends (`MAX_REPLY_BYTES`).
MAX_LINE_BYTES = 2 * 1024 * 1024

#: Limit of the bytes before the first message of an engine.
_MOST_PRELUDE_BYTES = 65_536
#: Kind of the result that ends a request, by request type.
RESULT_KINDS = {
    "describe": "description",
    "ping": "pong",
    "arm": "armed",
    "cancel": "cancelled",
    "stream_receive": "stream_received",
    "stream_send": "stream_sent",
    "peer_stream": "peer_streamed",
    "peer_echo": "peer_echoed",
    "peer_serve": "peer_serve_ended",
    "echo_respond": "echo_responded",
    "echo_request": "echo_requested",
    "path_mtu_answer": "path_mtu_answered",
    "path_mtu_probe": "path_mtu_probed",
    "listen": "heard",
    "dataset": "dataset_made",
    "trial_directory": "trial_directory_removed",
    "measure_room": "room_measured",
    "ready_memory": "memory_ready",
    "resolve": "resolved",
    "drop_caches": "caches_dropped",
    "serve": "serve_ended",
    "copy_prepare": "copy_prepared",
    "copy": "copied",
    "copy_check": "copy_checked",
    "copy_empty": "copy_emptied",
    "stations_prepare": "stations_prepared",
    "stations": "stationed",
    "stations_empty": "stations_emptied",
    "metadata_prepare": "metadata_prepared",
    "metadata": "metadata_measured",
    "metadata_empty": "metadata_emptied",
    "list_places": "places_listed",
    "carry_frames": "medium_ended",
    "set_up_hosts": "hosts_set_up",
    "read_hosts": "hosts_read",
    "read_medium": "medium_read",
    "simulate": "simulated",
}


class BadLine(ValueError):
    """The line is not a message of an engine; the text says why."""


def bounded_lines(pipe: IO[bytes], most_bytes: int) -> Iterator[bytes]:
    """The lines of a pipe in bounded memory, each with its line end (the last may have none).

    Raises:
        BadLine: A line has more than `most_bytes`.
    """
    while line := pipe.readline(most_bytes + 1):
        if len(line) > most_bytes:
            raise BadLine(f"a line of more than {most_bytes} bytes")
        yield line


def skip_to(lines: Iterator[bytes], mark: bytes) -> None:
    """
    Skip all output before a line: login scripts of a host may print text.

    Raises:
        BadLine: The line does not arrive, or too much arrives before it.
    """
    octets = 0
    for line in lines:
        if line.strip() == mark:
            return
        octets += len(line)
        if octets > _MOST_PRELUDE_BYTES:
            raise BadLine("login scripts that print without end")
    raise BadLine("nothing but what login scripts print" if octets else "nothing")


def read_line(line: bytes) -> Line:
    """
    A line as a JSON object with a `type`.

    Raises:
        BadLine: It is not such an object, or contains a number that is not finite.
    """
    try:
        value = json_of(line)
    except BadValue as error:
        raise BadLine(str(error)) from None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadLine("no object with a type")
    return cast("Line", value)


def check_reply(line: Line) -> None:
    """
    Check a line against the engine's schema.

    Raises:
        BadLine: It does not match; the message names the place of the first difference.
    """
    try:
        contract.definition("Reply")(line)
    except contract.Mismatch as error:
        # The message does not repeat the value, which may be anything.
        place = ".".join(part[:40] for part in error.place[:8])
        raise BadLine(f"`{place}` {error.reason}") from None
