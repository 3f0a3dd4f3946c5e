"""Location of the store, and whether the location suits a store."""

from __future__ import annotations

import os
from pathlib import Path

from lanlab.errors import StoreError, UsageError

#: SQLite's locks and its shared memory do not work between machines
#: (https://www.sqlite.org/useovernet.html, https://www.sqlite.org/wal.html).
_NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "afs", "ceph"})
_MOUNTS = Path("/proc/self/mountinfo")


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
    return Path(rest).expanduser()


def results_folder(where: str | None) -> Path:
    """The folder for reports and other output from a store: next to a store file, otherwise below
    the current folder.
    """
    place = store_place(where)
    return place.parent if isinstance(place, Path) else Path("lanlab-results")


def _unescape(field: str) -> str:
    """Decode the octal escapes in mountinfo, such as spaces and backslashes (proc(5))."""
    for code in ("040", "011", "012", "134"):
        field = field.replace(f"\\{code}", chr(int(code, 8)))
    return field


def file_system_of(path: Path, mountinfo: str) -> str | None:
    """Type of the file system of `path`, from the text of /proc/self/mountinfo.

    Examples:
        >>> text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\\n2 1 0:9 / /home rw - nfs4 srv:/h rw"
        >>> file_system_of(Path("/home/ada/store"), text), file_system_of(Path("/x"), text)
        ('nfs4', 'ext4')
    """
    best: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(_unescape(fields[4]))
        # Of two equal mount points, the later one hides the earlier.
        if path.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), after.split()[0])
    return best and best[1]


def refuse_network_share(path: Path) -> None:
    """Refuse a file system on which SQLite cannot guarantee durability. Only Linux shows the type.

    Raises:
        StoreError: `path` is on a network file system.
    """
    try:
        mountinfo = _MOUNTS.read_text(errors="replace")
    except OSError:
        return
    kind = file_system_of(path.absolute(), mountinfo)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{path} is on a network share ({kind}), where records are not safe",
            hint="name a file on a local disk with --store or LANLAB_STORE",
        )
