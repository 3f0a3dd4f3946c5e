"""Which live lines were asked for. Loads nothing, as every command's options need it."""

from __future__ import annotations

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class LiveOption:
    """What was asked for."""

    #: `None`: nothing was asked for; 0: no lines.
    interval_s: float | None = None
    #: Whether lines are JSON on standard output.
    is_json: bool = False
