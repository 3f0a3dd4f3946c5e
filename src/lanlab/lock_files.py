"""
Files that stay locked as long as the process that made them lives. If a lock is free, its process
has ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lanlab.disk import entry, remove_file

#: Locks of this process: some file systems let a process lock a file twice.
_own: set[Path] = set()


@contextmanager
def held(path: Path, content: bytes = b"") -> Iterator[None]:
    """
    Create a file and lock it until the block ends. The file is not removed.

    Raises:
        OSError: It exists or cannot be written; then nothing of it is left.
    """
    with entry(path.parent, path.name) as place:
        file = place.create(0o600)
    _own.add(path)
    try:
        descriptor = file.fileno()
        # Without locks no process gets one, so no file counts as abandoned.
        with suppress(OSError):
            # Another process that checks the lock holds it for a moment.
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
    """This user's files with such a name that no process holds. Each is locked while the caller
    looks at it.
    """
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):
            if path in _own or not _is_users(path.lstat()):
                continue
            # Anyone may put something else with that name into a shared folder.
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
