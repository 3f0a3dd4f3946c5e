"""
Files that a process locks for as long as it lives. If a lock is free, its process has ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lanlab.disk import entry, remove_file

#: Files locked by this process: some file systems let a process lock a file twice.
_own: set[Path] = set()


@contextmanager
def held(path: Path, content: bytes = b"") -> Iterator[None]:
    """
    Create a file and lock it until the block ends. The file is not removed.

    Raises:
        OSError: It exists or cannot be written; nothing of it is left.
    """
    with entry(path.parent, path.name) as place:
        file = place.create(0o600)
    _own.add(path)
    try:
        descriptor = file.fileno()
        # On a file system without locks no process can lock, so no file counts as abandoned.
        with suppress(OSError):
            # Another process may hold the lock for a moment to check it.
            _lock(descriptor, waits=True)
        try:
            file.write(content)
            file.flush()
        except OSError:
            with suppress(OSError):
                remove_file(path)
            raise
        yield
    finally:
        _own.discard(path)
        with suppress(OSError):
            file.close()


def orphans(folder: Path, pattern: str) -> Iterator[tuple[Path, IO[str]]]:
    """This user's files that match the pattern and whose process has ended. Each is locked while
    the caller looks at it.
    """
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):
            if path in _own or not _is_users(path.lstat()):
                continue
            # In a shared folder, another user may create a file with such a name.
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(path, flags), "r+") as file:
                if _is_users(os.fstat(file.fileno())):
                    _lock(file.fileno(), waits=False)
                    yield path, file


def _is_users(facts: os.stat_result) -> bool:
    is_plain = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1
    return is_plain and facts.st_uid == os.getuid()


def _lock(descriptor: int, *, waits: bool) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
