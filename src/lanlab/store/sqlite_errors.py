"""SQLite's errors as messages, with hints."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from lanlab.errors import StoreError

#: How long to wait for another process's transaction; usually it takes milliseconds.
BUSY_TIMEOUT_S = 10.0

CAUSES: Mapping[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "make room on it; what was committed before is safe, and the run can be resumed",
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written",
        "check the owner and mode of the file and its directory, or name another with --store",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "check the owner and mode of the file and its directory, or name another with --store",
    ),
    sqlite3.SQLITE_BUSY: (
        f"another process kept it locked for {BUSY_TIMEOUT_S:g} s",
        "end the other process, then resume the run",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed, or is full",
        "look at its free space and at the system's log; what was committed before is safe",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "restore a backup, or save what is readable: `sqlite3 FILE .recover`",
    ),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite file", "name another file with --store"),
}


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    # The low eight bits are the primary code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    cause, hint = CAUSES.get(code, (str(error), None))
    return StoreError(f"{path}: {cause}", hint=hint)
