"""The shell script `holder.sh`, which holds a connection, as one line for any POSIX shell."""

from __future__ import annotations

from pathlib import Path

_LINES = Path(__file__).with_name("holder.sh").read_text(encoding="utf-8").splitlines()
LINE = " ".join(one for one in _LINES if not one.startswith("#")).strip() + "\n"
