"""
Files that are locked for as long as the process lives that made them: one whose lock can be had
tells of a process that is gone, however it ended.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lanlab.disk import entry, remove_file

#: Those of this process: not every file system refuses a process what it has locked itself.
_own: set[Path] = set()


@contextmanager
def held(path: Path, content: bytes = b"") -> Iterator[None]:
    """
    A new file, locked until the block ends; it is not removed then.

    Raises:
        OSError: It is there already, or cannot be written; then nothing of it is left.
    """
    with entry(path.parent, path.name) as place:
        file = place.create(0o600)
    _own.add(path)
    try:
        descriptor = file.fileno()
        # Where there are no locks no process gets one, and nothing is taken for an orphan's.
        with suppress(OSError):
            # Who looks whether it is held has it for a moment.
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
    """This user's files of such a name that no process holds, each locked while it is looked at."""
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):
            if path in _own or not _is_users(path.lstat()):
                continue
            # Everyone may put something else of that name into a folder for all.
            flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            with os.fdopen(os.open(path, flags), "r+") as file:
                if _is_users(os.fstat(file.fileno())):
                    _lock(file.fileno(), waits=False)
                    yield path, file


def _is_users(facts: os.stat_result) -> bool:
    is_plain = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1
    return is_plain and (sys.platform == "win32" or facts.st_uid == os.getuid())


def _lock(descriptor: int, *, waits: bool) -> None:
    if sys.platform == "win32":
        import msvcrt

        # Beyond its text, so that it can be read.
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
