"""Which live lines were asked for. Loads nothing, as every command's options need it."""

from __future__ import annotations

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class LiveOption:
    #: `None`: nothing was asked for; 0: no lines.
    interval_s: float | None = None
    is_json: bool = False
