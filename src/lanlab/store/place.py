"""Location of the store, and whether the location suits a store."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from lanlab.errors import StoreError, UsageError
from lanlab.linux import file_system_of
from lanlab.user_files import user_path

#: SQLite's locks and its shared memory do not work between machines
#: (https://www.sqlite.org/useovernet.html, https://www.sqlite.org/wal.html).
_NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "afs", "ceph"})


def default_store() -> str:
    """The default store: LANLAB_STORE, otherwise a file below this folder."""
    return os.environ.get("LANLAB_STORE") or "lanlab-results/store.sqlite"


def store_place(where: str | None) -> Path | str:
    """The store that `where` names: a file, or the unchanged URL of a PostgreSQL database.

    Raises:
        UsageError: The URL names another kind of store.

    Examples:
        >>> store_place("results.sqlite").as_posix(), store_place("sqlite:///tmp/x").as_posix()
        ('results.sqlite', '/tmp/x')
        >>> store_place("postgresql://db.example/lab")
        'postgresql://db.example/lab'
    """
    text = default_store() if where is None else where
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "sqlite", text
    if scheme in ("postgresql", "postgres"):
        return f"postgresql://{rest}"
    if scheme != "sqlite":
        raise UsageError(
            f"no store of the kind `{scheme}://`; allowed: a path, `sqlite://` and a path, or "
            "`postgresql://` and a database",
            hint="name a file, e.g. `--store results.sqlite`",
        )
    if not rest or "\0" in rest:
        raise UsageError(
            "the store's path is empty or has a NUL byte in it",
            hint="name a file, e.g. `--store results.sqlite`",
        )
    return user_path(rest)


def store_option(where: str | None) -> str:
    """The option that names a store, for the commands of hints; empty for the default.

    Examples:
        >>> store_option("my results.sqlite"), store_option(None)
        (" --store 'my results.sqlite'", '')
    """
    return "" if where is None else f" --store {shlex.quote(where)}"


def results_folder(where: str | None) -> Path:
    """The folder for reports and other output from a store: next to a store file, otherwise below
    the current folder.
    """
    place = store_place(where)
    return place.parent if isinstance(place, Path) else Path("lanlab-results")


def refuse_network_share(path: Path) -> None:
    """Refuse a file system on which SQLite cannot guarantee durability. Only Linux shows the type.

    Raises:
        StoreError: `path` is on a network file system.
    """
    kind = file_system_of(path)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{path} is on a network share ({kind}), where records are not safe",
            hint="name a file on a local disk with --store or LANLAB_STORE",
        )
