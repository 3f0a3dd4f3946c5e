"""Converts values to JSON text and back, without loss and with finite numbers only."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Sequence
from typing import Any

from lanlab.errors import StoreError
from lanlab.outside import BadValue, json_of

#: A row of a table.
Row = Sequence[Any]


def utc_now() -> str:
    """The time now, ISO 8601, UTC, with microseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


def _check(value: object, where: str) -> None:
    if value is None or isinstance(value, bool | int | str):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise StoreError(
                f"`{where}` is {value}, which JSON cannot represent", hint="omit missing values"
            )
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise StoreError(f"`{where}` has the key {key!r}; allowed: text")
            _check(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check(item, f"{where}.{index}")
    else:
        raise StoreError(f"`{where}` is a {type(value).__name__}, which JSON does not have")


def to_json(value: object, where: str) -> str:
    """JSON text of a value. `where` names the value in an error message.

    Raises:
        StoreError: It contains NaN, an infinity, a key that is not text, or an unknown object.
    """
    _check(value, where)
    return json.dumps(value, separators=(",", ":"))


def from_json(text: object) -> Any:
    """The value of a JSON text written by `to_json`.

    Raises:
        StoreError: The value is not text or not JSON, is nested too deeply, or has a number that
            is NaN, infinite or thousands of digits long.
    """
    if not isinstance(text, str):
        raise StoreError("a JSON value is not text")
    try:
        return json_of(text)
    except BadValue as error:
        raise StoreError(f"a value is {error}") from None
