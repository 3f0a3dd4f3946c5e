"""
Entries of a folder and of those below it, reached without following a link: none leads to anything
outside.

Each directory on the way is opened from the one above it and held open, so that one that is
replaced by a link meanwhile is not followed either. Where the system has no calls that are relative
to an open directory (Windows), each is looked at instead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lanlab.frozen import dataclass
from lanlab.user_files import READ_FLAGS

_IS_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
#: What the system says of a way that is not there, or that leads over something else than
#: directories (open(2), O_NOFOLLOW and O_DIRECTORY).
_NO_WAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_PIECE_BYTES = 2**20


@dataclass(frozen=True)
class Entry:
    """A name in a directory that is held open; where it is not, the whole path."""

    name: str | Path
    directory: int | None

    def read(self, most_bytes: int) -> bytes | None:
        """All of a regular file of at most that size; `None`: it is none."""
        mode = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            return None
        flags = READ_FLAGS | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(self.name, flags, dir_fd=self.directory), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > most_bytes:
                return None
            content = file.read(most_bytes + 1)
        return content if len(content) <= most_bytes else None

    def take(self, new: Path) -> None:
        """Give this name to a file; what has come there since it was judged is not replaced."""
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.name, _CLAIM_FLAGS, 0o666, dir_fd=self.directory))
        os.replace(new, self.name, dst_dir_fd=self.directory)

    def remove(self) -> None:
        """Remove a file."""
        os.unlink(self.name, dir_fd=self.directory)


_CLAIM_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def is_inside(name: str) -> bool:
    """Whether a name leads to no place but below the folder that it is relative to."""
    return not Path(name).anchor and bool(name) and ".." not in Path(name).parts


@contextlib.contextmanager
def entry(folder: Path, name: str, *, makes_folders: bool = False) -> Iterator[Entry]:
    """
    An entry below a folder; the folder itself may be a link, as its user named it.

    Args:
        name: Relative to the folder, with `/` between its parts.
        makes_folders: Whether directories on the way that are not there are made.

    Raises:
        OSError: A directory on the way is none, is a link or is not there.
    """
    if not is_inside(name):
        raise NotADirectoryError(errno.ENOTDIR, "not below the folder", name)
    *parents, last = PurePosixPath(name).parts
    if not _IS_RELATIVE:
        path = folder
        for part in parents:
            path /= part
            if makes_folders:
                path.mkdir(exist_ok=True)
            if not stat.S_ISDIR(path.lstat().st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield Entry(path / last, None)
        return
    flags = os.O_RDONLY | os.O_DIRECTORY
    directory = os.open(folder, flags)
    try:
        for part in parents:
            if makes_folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=directory)
            below = os.open(part, flags | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = below
        yield Entry(last, directory)
    finally:
        os.close(directory)


@contextlib.contextmanager
def if_there() -> Iterator[None]:
    """Pass over what is not there, or is reached by a link."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_WAY:
            raise
