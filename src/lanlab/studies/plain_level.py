"""Levels in the form that workloads use."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from lanlab.studies.base import Level
from lanlab.workloads import WORKLOADS


@functools.lru_cache(maxsize=4096, typed=True)
def plain_level(factor: str, level: Level) -> Level:
    """A level as the workload parses it, if it has such a parameter; else unchanged."""
    for entry in WORKLOADS.values():
        known = entry.Parameters.model_fields.get(factor)
        if known is None:
            continue
        try:
            # The annotation has the parser that reads values with units.
            kind: Any = known.annotation
            kind = Annotated[kind, *known.metadata] if known.metadata else kind
            # Of a parameter's values, only `None` is not a level, and `level` is not `None`.
            reader: TypeAdapter[Level] = TypeAdapter(kind)
            return reader.validate_python(level, strict=True)
        except (ValidationError, OverflowError):
            return level
    return level
