"""The conditions that a statement refers to, by the levels of their factors."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import ConfigDict, PlainSerializer, PlainValidator

from lanlab.studies.base import Data, Level


def _level(found: object) -> Level:
    if isinstance(found, bool | int | str) or (isinstance(found, float) and math.isfinite(found)):
        return found
    raise ValueError("true, false, a number, a text, or a list of these")


def _levels(found: object) -> Level | tuple[Level, ...]:
    if isinstance(found, list | tuple) and found:
        return tuple(_level(one) for one in found)
    return _level(found)


OneLevel = Annotated[Level, PlainValidator(_level), PlainSerializer(lambda found: found)]
Levels = Annotated[
    Level | tuple[Level, ...],
    PlainValidator(_levels),
    PlainSerializer(lambda found: list(found) if isinstance(found, tuple) else found),
]


class Selection(Data):
    """Conditions by their levels: factors, each with a level or with several ("each of")."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Levels]

    metric: str | None = None
    #: If several match: each of them, or only the one with the minimum or maximum.
    take: Literal["each", "least", "greatest"] | None = None

    @property
    def levels(self) -> dict[str, Level | tuple[Level, ...]]:
        return dict(self.__pydantic_extra__)
