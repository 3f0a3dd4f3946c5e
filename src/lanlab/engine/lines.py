"""
What an engine says, read as something that may be anything: one line of bounded length is one
message of the types that the engine's schema has, or it is refused.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, NotRequired, get_type_hints

if TYPE_CHECKING:
    from pydantic import TypeAdapter

#: Longest line that is read, bytes: twice what an engine sends at most (`MAX_REPLY_BYTES`).
MAX_LINE_BYTES = 2 * 1024 * 1024
#: The engine's whole numbers have 64 bits; more would not fit a floating number in the end.
_LEAST, _MOST = -(2**63), 2**64 - 1
#: Keys of the only numbers that may be negative: differences of clocks and what is made of them.
SIGNED = frozenset(("clock_step_ns", "max_ns", "mean_ns", "min_ns", "offset_ns", "start_skew_ns"))

#: Kind of the result that ends a request, by the type of the request.
RESULT_KINDS = {
    "describe": "description",
    "ping": "pong",
    "arm": "armed",
    "cancel": "cancelled",
    "stream_receive": "stream_received",
    "stream_send": "stream_sent",
    "echo_respond": "echo_responded",
    "echo_request": "echo_requested",
    "dataset": "dataset_made",
    "drop_caches": "caches_dropped",
    "serve": "serve_ended",
    "copy_prepare": "copy_prepared",
    "copy": "copied",
    "copy_check": "copy_checked",
    "copy_empty": "copy_emptied",
    "stations_prepare": "stations_prepared",
    "stations": "stationed",
    "stations_empty": "stations_emptied",
}

#: In which field a line of a type has what came of its request.
_TOLD_IN = {"result": "result", "error": "partial"}


class BadLine(ValueError):
    """What was said is no message of an engine; the text says why."""


def bounded_lines(pipe: IO[bytes], most_bytes: int) -> Iterator[bytes]:
    """The lines of a pipe, each with its end unless it is the last, in bounded memory.

    Raises:
        BadLine: One has more than `most_bytes`.
    """
    while line := pipe.readline(most_bytes + 1):
        if len(line) > most_bytes:
            raise BadLine(f"a line of more than {most_bytes} bytes")
        yield line


def read_line(line: bytes) -> dict[str, Any]:
    """
    A line as a JSON object with a `type`.

    Raises:
        BadLine: It is no such thing, or a number in it is beyond 64 bits, negative where no count
            can be, or not finite.
    """
    try:
        value = json.loads(
            line,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except BadLine:
        raise
    except RecursionError:
        raise BadLine("nested too deeply") from None
    except ValueError:
        raise BadLine("not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadLine("no object with a type")
    return value


def check_reply(line: dict[str, Any]) -> None:
    """
    Hold a line to the engine's schema.

    Raises:
        BadLine: It says something else, with the place of the first difference.
    """
    from pydantic import ValidationError

    name, told = line["type"], line.get(_TOLD_IN.get(line["type"], ""))
    kind = told.get("kind") if isinstance(told, dict) else None
    try:
        _reader(name, kind if isinstance(kind, str) else None).validate_python(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # What is found is not repeated: nobody knows what it is.
        place = ".".join(str(part)[:40] for part in (name, *first["loc"][:8]))
        raise BadLine(f"`{place}`: {first['type']}") from None


@functools.lru_cache(maxsize=64)
def _reader(name: str, kind: str | None) -> TypeAdapter[Any]:
    """
    What reads the engine's lines of a type. It is built at the first of them, as to build all takes
    as long as some commands.

    Args:
        kind: Of the result in it, or of the part of one that an error has, if there is one.

    Raises:
        BadLine: There is no such line.
    """
    from pydantic import TypeAdapter
    from typing_extensions import TypedDict

    reply = _message(name, "Reply")
    if reply is None:
        raise BadLine("`type`: is not a line of an engine")
    if name not in _TOLD_IN:
        return TypeAdapter(reply)
    key = _TOLD_IN[name]
    outcome = None if kind is None else _message(kind, "Outcome")
    if outcome is None and (kind is not None or name == "result"):
        raise BadLine(f"`{name}.{key}.kind`: is not a result of an engine")
    fields = get_type_hints(reply, include_extras=True)
    # Of all kinds that it may be there the one that it says it is.
    if outcome is not None:
        fields[key] = outcome
    elif name == "error":
        fields[key] = NotRequired[None]
    return TypeAdapter(TypedDict(reply.__name__, fields))  # type: ignore[operator]


def _message(name: str, suffix: str) -> Any:
    """The type of a message: `stream_sent` is `StreamSentOutcome`."""
    from lanlab.engine import messages

    return getattr(messages, "".join(map(str.capitalize, name.split("_"))) + suffix, None)


def _whole(text: str) -> int:
    # Longer than any of 64 bits; Python would take a while over a very long one.
    if len(text) > 20 or not _LEAST <= int(text) <= _MOST:
        raise BadLine("a whole number of more than 64 bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadLine("a number that is not finite")
    return value


def _constant(name: str) -> Any:
    raise BadLine(f"{name}, which is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, value in pairs:
        if key not in SIGNED and isinstance(value, int | float) and value < 0:
            raise BadLine(f"a negative `{key[:40]}`")
    return dict(pairs)
