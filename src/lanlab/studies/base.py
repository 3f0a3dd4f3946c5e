"""The building blocks of all parts of a study's files."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict

from lanlab.errors import UsageError
from lanlab.units import parse_share

Level = bool | int | float | str

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]

#: Id of a published number, finding or discrepancy: parts joined by dots, as in `t1.vista.ipv4`.
DottedIdentifier = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$", max_length=64)
]


def _share(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse_share(value)
    except UsageError:
        raise ValueError("a share such as `5%` or `0.05`") from None


ShareRatio = Annotated[float, BeforeValidator(_share)]

_T = TypeVar("_T")
#: A list in the file, the only type that is converted: TOML has no tuples.
Several = Annotated[tuple[_T, ...], Strict(False)]


class Data(BaseModel):
    """A table of a study's files: no unknown keys, no conversions, immutable."""

    # Strict: `min = true` is an error, not 1. By alias, so that dumped models can be read again.
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        serialize_by_alias=True,
        # Findings and published numbers have many models, so each is built on first use.
        defer_build=True,
    )


def is_level(found: Level, wanted: Level) -> bool:
    """Whether two levels are equal, including their type: in Python, True equals 1."""
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted
