"""
What an engine says, read as something that may be anything: one line of bounded length is one
message of the types that the engine's schema has, or it is refused.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

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

    try:
        _replies().validate_python(line, strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        # Of the kinds of results that it is not, each has an error of its own.
        others = [one["loc"][:-1] for one in errors if one["loc"][-1:] == ("kind",)]
        own = (one for one in errors if not any(one["loc"][: len(of)] == of for of in others))
        first = next(own, errors[0])
        # What is found is not repeated: nobody knows what it is.
        place = ".".join(str(part)[:40] for part in first["loc"][:8])
        raise BadLine(f"`{place}`: {first['type']}") from None


@functools.cache
def _replies() -> TypeAdapter[Any]:
    """The engine's side of the messages, by their types."""
    from pydantic import Field, TypeAdapter

    from lanlab.engine.messages import Messages

    kinds = get_args(get_type_hints(Messages)["reply"])
    union: Any = functools.reduce(lambda left, right: left | right, kinds)
    told: Any = Annotated[union, Field(discriminator="type")]
    return TypeAdapter(told)


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
