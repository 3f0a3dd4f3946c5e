"""The option for live lines. Imports nothing, because the options of every command need it."""

from __future__ import annotations

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class LiveOption:
    #: `None` if not given; 0 for no lines.
    interval_s: float | None = None
    is_json: bool = False
