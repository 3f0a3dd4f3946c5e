"""
The tables of a store file.

In the file's header, `application_id` identifies lanlab and `user_version` the schema. Both have
fixed positions in the first 100 bytes (https://www.sqlite.org/fileformat2.html, section 1.3). So a
file can be checked without opening it as a database, which could change it.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

from lanlab.disk import entry
from lanlab.errors import StoreError, system_hint
from lanlab.user_files import READ_FLAGS, special

APPLICATION_ID = 0x4C4E4C42
SCHEMA_VERSION = 8

_MAGIC = b"SQLite format 3\x00"
_USER_VERSION_AT = 60
_APPLICATION_ID_AT = 68
_HEADER_BYTES = 100


def sql(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")


def tables(**types: str) -> str:
    """
    The tables that every store has, with the database's types: `sequence`, `json`, `whole` and
    `real` numbers.

    Trials, series and digests are never changed, and are removed only with their whole run: first
    the run, then within the same transaction all rows that refer to it (foreign keys). Lists read
    `summary`, and `digest` in place of `raw` (`large_runs.py`).
    """
    return sql("tables").format(**types)


TABLES = tables(
    sequence="INTEGER PRIMARY KEY AUTOINCREMENT", json="TEXT", whole="INTEGER", real="REAL"
) + "".join(
    f"""CREATE TRIGGER {table}_is_never_changed BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'a {table} is never changed'); END;
CREATE TRIGGER {table}_is_never_removed BEFORE DELETE ON {table}
WHEN EXISTS (SELECT 1 FROM run WHERE id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a {table} is never removed'); END;
"""
    for table in ("trial", "series", "digest")
)


def refuse_other_version(version: int, place: object) -> None:
    """Refuse a schema that this version of lanlab does not know.

    Raises:
        StoreError: `version` is not `SCHEMA_VERSION`.
    """
    if version != SCHEMA_VERSION:
        advice = "update lanlab" if version > SCHEMA_VERSION else "use the lanlab that made it"
        raise StoreError(
            f"{place}: the store has schema version {version}; this lanlab knows version "
            f"{SCHEMA_VERSION}",
            hint=f"{advice}, or name another store with --store; it was not touched",
        )


def _check_regular(facts: os.stat_result, path: Path) -> None:
    """
    Raises:
        StoreError: It is not a regular file.
    """
    if stat.S_ISDIR(facts.st_mode):
        raise StoreError(
            f"{path} is a directory, not a store", hint="name a file in it with --store"
        )
    if special(facts.st_mode):
        raise StoreError(
            f"{path} is a device, FIFO or socket; a store is a regular file",
            hint="name another file with --store; this one was not touched",
        )


def check_header(path: Path) -> bool:
    """Check a file by its first bytes, without changing it.

    Returns:
        Whether it is a store; false if there is no file, or an empty one (which can be replaced).

    Raises:
        StoreError: Not a file, not readable, not SQLite, of another program, or of another schema.
    """
    other = "name another file with --store; this one was not touched"
    try:
        # Merely opening a FIFO may block, and opening a device may have side effects.
        _check_regular(path.stat(), path)
        with open(os.open(path, READ_FLAGS), "rb") as file:  # noqa: PTH123 - a descriptor
            _check_regular(os.fstat(file.fileno()), path)
            header = file.read(_HEADER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from None
    if not header:
        return False
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise StoreError(f"{path} is not a store: not an SQLite file", hint=other)
    (application_id,) = struct.unpack_from(">I", header, _APPLICATION_ID_AT)
    (version,) = struct.unpack_from(">I", header, _USER_VERSION_AT)
    if application_id != APPLICATION_ID:
        raise StoreError(
            f"{path} is not a store: an SQLite file of another program "
            f"(application id {application_id:#x}, ours is {APPLICATION_ID:#x})",
            hint=other,
        )
    refuse_other_version(version, path)
    (page_bytes,) = struct.unpack_from(">H", header, 16)
    (pages,) = struct.unpack_from(">I", header, 28)
    # The log may contain the rest.
    has_log = path.with_name(f"{path.name}-wal").exists()
    if not has_log and path.stat().st_size < page_bytes * pages:
        raise StoreError(
            f"{path} is damaged: the file is truncated",
            hint="restore a backup, or name another store with --store",
        )
    return True


def _unreadable(path: Path, error: OSError) -> StoreError:
    hint = system_hint(error, "name another file with --store")
    return StoreError(f"{path}: cannot be read: {error.strerror}", hint=hint)


#: First bytes of SQLite's files next to a store (https://www.sqlite.org/fileformat2.html, sections
#: 3 and 4; https://www.sqlite.org/walformat.html, section 2). The log's index has this machine's
#: byte order.
_LOGS = {
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": (struct.pack("=I", 3_007_000), bytes(4)),
    "-journal": (bytes.fromhex("d9d505f920a163d7"), bytes(8)),
}


def refuse_foreign_logs(store: Path) -> None:
    """
    Refuse files next to a store that SQLite would write or remove but did not create.

    Raises:
        StoreError: One is a link, FIFO, device, or a file of another program.
    """
    for suffix, beginnings in _LOGS.items():
        path = store.with_name(store.name + suffix)
        try:
            with entry(path.parent, path.name) as place:
                facts = place.facts()
                # SQLite refuses folders by itself.
                if facts is None or stat.S_ISDIR(facts.st_mode):
                    continue
                if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
                    with place.open() as file:
                        length = len(beginnings[0])
                        found = file.read(length)
                        file.seek(max(length, facts.st_size - length))
                        # SQLite would remove the file that a journal names before its last bytes.
                        names_another = suffix == "-journal" and file.read() == beginnings[0]
                    if not found or (found in beginnings and not names_another):
                        continue
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(path, error) from None
        raise StoreError(
            f"{path} has the name of the store's log, but SQLite did not make it",
            hint="move it away, or name another file with --store",
        )
