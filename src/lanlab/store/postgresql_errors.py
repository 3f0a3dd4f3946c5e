"""Meanings of a PostgreSQL server's errors, with hints."""

from __future__ import annotations

from collections.abc import Mapping

#: Meaning and hint by SQLSTATE or its class
#: (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_CAUSES: Mapping[str, tuple[str, str]] = {
    "0A000": ("the server cannot do what is needed", "use PostgreSQL 12 or newer"),
    "25006": (
        "the server takes no changes: it is a standby, or set to be read only",
        "name the primary server with --store or LANLAB_STORE",
    ),
    "3D000": ("there is no such database", "make it with `createdb`"),
    "3F000": ("there is no such schema", "name another with `?schema=` in the URL"),
    "42501": (
        "the user may not do this",
        "ask the database's owner for `CREATE SCHEMA lanlab AUTHORIZATION` and your name, or for "
        "rights to the tables in it",
    ),
    "53100": (
        "the server's disk is full",
        "make room on it; what was committed before is safe, and the run can be resumed",
    ),
    "53300": ("the server has no connection left", "try again later, or raise max_connections"),
    "55P03": ("another process kept it locked", "end the other process, then resume the run"),
    "57014": ("the server took too long", "look at its load, then resume the run"),
    "57P03": ("the server is starting or stopping", "try again in some seconds"),
    "58": ("the server's disk failed", "look at the server's log"),
    "XX": ("the server found its data damaged", "look at the server's log"),
}
_LOST_CLASSES = ("08", "57P01", "57P02", "57P05")


def cause_of(sqlstate: str, message: str) -> tuple[str, str | None]:
    for key in (sqlstate, sqlstate[:2]):
        if key in _CAUSES:
            cause, hint = _CAUSES[key]
            return f"{cause} ({message})", hint
    return f"{message} (SQLSTATE {sqlstate})", None


def is_loss(sqlstate: str) -> bool:
    return sqlstate.startswith(_LOST_CLASSES)
