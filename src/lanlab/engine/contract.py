"""
The engine's schema, and checks of values against this schema.

`schema.json` is the output of `lanlab-engine schema` without descriptions. The checks cover the
part of JSON Schema that it uses. A library (`jsonschema`) adds 0.1 s to the start of each command.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lanlab.outside import in_range

#: Checks a value; raises `Mismatch`.
Check = Callable[[object], None]
_Schema = Mapping[str, Any]

#: Ranges of the formats that the schema names. Other ranges are in `minimum` and `maximum`.
_RANGES = {
    "int64": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint64": (0, 2**64 - 1),
    "uint32": (0, 2**32 - 1),
    "uint16": (0, 2**16 - 1),
    "uint8": (0, 2**8 - 1),
}


class Mismatch(ValueError):
    """A value that the schema does not allow. `place` has the keys that lead to it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place: list[str] = []


@functools.cache
def definition(name: str) -> Check:
    return _check(_definitions()[name])


def properties(name: str) -> _Schema:
    """The fields of a definition, each with its own schema."""
    found: _Schema = _definitions()[name]["properties"]
    return found


@functools.cache
def _definitions() -> _Schema:
    text = Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    found: _Schema = json.loads(text)["$defs"]
    return found


def _check(schema: _Schema) -> Check:
    if "anyOf" in schema:
        # The schema uses `anyOf` only for values that may be null.
        return _or_null(next(each for each in schema["anyOf"] if each != {"type": "null"}))
    if "oneOf" in schema:
        return _one_of(schema["oneOf"])
    if "$ref" in schema:
        referred = definition(schema["$ref"].removeprefix("#/$defs/"))
        own = {key: each for key, each in schema.items() if key != "$ref"}
        return _both(_check(own), referred) if own else referred
    if "const" in schema or "enum" in schema:
        return _one_of([schema])
    kind = schema["type"]
    if isinstance(kind, list):
        return _or_null({**schema, "type": next(each for each in kind if each != "null")})
    return _OF_TYPE[kind](schema)


def _or_null(schema: _Schema) -> Check:
    check = _check(schema)

    def check_optional(value: object) -> None:
        if value is not None:
            check(value)

    return check_optional


def _both(first: Check, second: Check) -> Check:
    def check_both(value: object) -> None:
        first(value)
        second(value)

    return check_both


def _one_of(choices: list[_Schema]) -> Check:
    # Names without a description share one `enum`; a name with a description has a `const`.
    if all("const" in each or "enum" in each for each in choices):
        values = frozenset(
            value for each in choices for value in each.get("enum", (each.get("const"),))
        )

        def check_constant(value: object) -> None:
            if not isinstance(value, str) or value not in values:
                raise Mismatch("is none of the allowed values")

        return check_constant

    # Objects that differ in one key, which is a constant in each of them.
    (tag,) = (key for key, each in choices[0]["properties"].items() if "const" in each)
    by_tag = {each["properties"][tag]["const"]: each for each in choices}

    # Checks are made on demand: a command meets only a few kinds of result.
    @functools.cache
    def check_of(value: str) -> Check:
        return _check(by_tag[value])

    def check_tagged(value: object) -> None:
        found = value.get(tag) if isinstance(value, dict) else None
        if not isinstance(found, str) or found not in by_tag:
            raise _at(tag, Mismatch("is none of the allowed values"))
        check_of(found)(value)

    return check_tagged


def _object(schema: _Schema) -> Check:
    checks = {key: _check(each) for key, each in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    others = schema.get("additionalProperties")
    check_other = None if others is None else _check(others)

    def check_object(value: object) -> None:
        if not isinstance(value, dict):
            raise Mismatch("is no object")
        for key in required:
            if key not in value:
                raise _at(key, Mismatch("is missing"))
        for key, item in value.items():
            check = checks.get(key, check_other)
            if check is not None:
                try:
                    check(item)
                except Mismatch as error:
                    raise _at(key, error) from None

    return check_object


def _array(schema: _Schema) -> Check:
    check = _check(schema["items"])

    def check_array(value: object) -> None:
        if not isinstance(value, list):
            raise Mismatch("is no array")
        for index, item in enumerate(value):
            try:
                check(item)
            except Mismatch as error:
                raise _at(str(index), error) from None

    return check_array


def _integer(schema: _Schema) -> Check:
    least, most = _RANGES[schema["format"]]
    least, most = schema.get("minimum", least), schema.get("maximum", most)

    def check_integer(value: object) -> None:
        # In Python a `bool` is an integer, too.
        if type(value) is not int:
            raise Mismatch("is no whole number")
        if not least <= value <= most:
            raise Mismatch(f"is not between {least} and {most}")

    return check_integer


def _number(_: _Schema) -> Check:
    def check_number(value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise Mismatch("is no number")
        # All numbers of an engine are ratios, rates or times; the schema cannot express that.
        if not in_range(value):
            raise Mismatch("is negative" if value < 0 else "is too large to have been measured")

    return check_number


def _plain(kind: type, reason: str) -> Callable[[_Schema], Check]:
    def of(_: _Schema) -> Check:
        def check_plain(value: object) -> None:
            if not isinstance(value, kind):
                raise Mismatch(reason)

        return check_plain

    return of


_OF_TYPE: dict[str, Callable[[_Schema], Check]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "number": _number,
    "string": _plain(str, "is no string"),
    "boolean": _plain(bool, "is neither true nor false"),
}


def _at(key: str, error: Mismatch) -> Mismatch:
    error.place.insert(0, key)
    return error
