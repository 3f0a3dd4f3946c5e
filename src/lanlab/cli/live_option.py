"""Parse the live lines option. Imports nothing, as every command's options need it."""

from __future__ import annotations

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class LiveOption:
    #: `None`: not given; 0: no lines.
    interval_s: float | None = None
    is_json: bool = False
