"""
All that lanlab makes, replaces and removes on this machine's disk; `tools/check_disk_calls.py` sees
that no other module does.

An entry below a folder is reached without following a link: each directory on the way is opened
from the one above it and held open, so that one that is replaced by a link meanwhile is not
followed either. Where the system has no calls that are relative to an open directory (Windows),
each is looked at instead. A link, FIFO, device or directory is never replaced or removed as a file.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from lanlab.frozen import dataclass
from lanlab.user_files import READ_FLAGS

_IS_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_BINARY", 0)
#: What the system says of a way that is not there, or that leads over something else than
#: directories (open(2), O_NOFOLLOW and O_DIRECTORY).
_NO_WAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@dataclass(frozen=True)
class Entry:
    """A name in a directory that is held open; where it is not, the whole path."""

    name: str | Path
    directory: int | None

    def facts(self) -> os.stat_result | None:
        """Of the name itself, also if it is a link; `None`: it is free."""
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self) -> IO[bytes]:
        """
        A regular file, to read.

        Raises:
            OSError: It is not there or cannot be read, or something else has its name.
        """
        # Opening alone may do something, to a device.
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            descriptor = os.open(self.name, READ_FLAGS | _NO_LINK, dir_fd=self.directory)
            file = os.fdopen(descriptor, "rb")
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file
            file.close()
        raise _no_file(self.name)

    def read(self, most_bytes: int) -> bytes | None:
        """All of a regular file of at most that size; `None`: it is none."""
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most_bytes:
            return None
        with self.open() as file:
            content = file.read(most_bytes + 1)
        return content if len(content) <= most_bytes else None

    def create(self, mode: int = 0o666) -> IO[bytes]:
        """
        A new file, to write; nothing that is there is touched.

        Raises:
            FileExistsError: The name is taken, also by a link to nothing.
        """
        return os.fdopen(os.open(self.name, _CREATE_FLAGS, mode, dir_fd=self.directory), "wb")

    def take(self, new: str | Path, directory: int | None = None) -> None:
        """Give this name to a file; what has come there since it was judged is not replaced."""
        with contextlib.suppress(FileExistsError):
            self.create().close()
        os.replace(new, self.name, src_dir_fd=directory, dst_dir_fd=self.directory)

    def link(self, file: Path) -> None:
        """
        Give this name to a file, which keeps its own.

        Raises:
            OSError: The name is taken (FileExistsError), or there are no hard links there.
        """
        os.link(file, self.name, dst_dir_fd=self.directory)

    def take_free(self, new: Entry) -> None:
        """
        Give this name to a file of the same directory.

        Raises:
            OSError: The name is taken, by a file if it is FileExistsError; both stay as they are.
        """
        facts = self.facts()
        if facts is not None and not stat.S_ISREG(facts.st_mode):
            raise _no_file(self.name)
        self.create().close()
        try:
            self.take(new.name, new.directory)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove()
            raise

    def remove(self, kind: Callable[[int], bool] = stat.S_ISREG) -> None:
        """
        Remove a regular file, or what else is expected.

        Raises:
            OSError: It is not there, or something else has its name; that stays.
        """
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if not kind(facts.st_mode):
            raise _no_file(self.name)
        os.unlink(self.name, dir_fd=self.directory)

    def remove_empty_folder(self) -> None:
        """Remove a folder; one that has something in it stays, with an OSError."""
        os.rmdir(self.name, dir_fd=self.directory)


def _no_file(name: str | Path) -> OSError:
    return OSError(errno.ELOOP, "is a link, folder, FIFO or device, not a file", str(name))


def is_inside(name: str) -> bool:
    """Whether a name leads to no place but below the folder that it is relative to."""
    return not Path(name).anchor and bool(name) and ".." not in Path(name).parts


@contextlib.contextmanager
def _opened(
    folder: Path,
    parts: Sequence[str],
    makes_folders: bool = False,
    when_made: Callable[[Path], None] | None = None,
) -> Iterator[tuple[Path, int | None]]:
    flags = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
    path, directory = folder, os.open(folder, flags) if _IS_RELATIVE else None
    try:
        for part in parts:
            if makes_folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part if _IS_RELATIVE else path / part, dir_fd=directory)
                    if when_made is not None:
                        when_made(path)
            path /= part
            if directory is not None:
                below = os.open(part, flags | _NO_LINK, dir_fd=directory)
                os.close(directory)
                directory = below
            elif not stat.S_ISDIR(path.lstat().st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield path, directory
    finally:
        if directory is not None:
            os.close(directory)


@contextlib.contextmanager
def entry(
    folder: Path,
    name: str,
    *,
    makes_folders: bool = False,
    when_made: Callable[[Path], None] | None = None,
) -> Iterator[Entry]:
    """
    An entry below a folder; the folder itself may be a link, as its user named it.

    Args:
        name: Relative to the folder, with `/` between its parts.
        makes_folders: Whether directories on the way that are not there are made.
        when_made: Is called with the folder that a new directory was made in.

    Raises:
        OSError: A directory on the way is none, is a link or is not there.
    """
    if not is_inside(name):
        raise NotADirectoryError(errno.ENOTDIR, "not below the folder", name)
    *parents, last = PurePosixPath(name).parts
    with _opened(folder, parents, makes_folders, when_made) as (path, directory):
        yield Entry(path / last if directory is None else last, directory)


@contextlib.contextmanager
def entries(folder: Path, name: str) -> Iterator[dict[str, Entry]]:
    """All entries of a folder below a folder, by their names. Errors as of `entry`."""
    with _opened(folder, PurePosixPath(name).parts) as (path, directory):
        if directory is None:
            yield {one.name: Entry(one, None) for one in path.iterdir()}
            return
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
        try:
            yield {name: Entry(name, readable) for name in os.listdir(readable)}  # noqa: PTH208
        finally:
            os.close(readable)


@contextlib.contextmanager
def if_there() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_WAY:
            raise


def remove_file(path: Path, kind: Callable[[int], bool] = stat.S_ISREG) -> None:
    """Remove a file by its path. Errors as of `Entry.remove`."""
    with entry(path.parent, path.name) as place:
        place.remove(kind)


def is_the_file_at(descriptor: int, path: Path) -> bool:
    """Whether a path names an open file itself, and not by a link."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def make_folders(path: Path, mode: int = 0o777) -> None:
    """Make the folder that a user named, with those above it; links on the way are the user's."""
    path.mkdir(mode, parents=True, exist_ok=True)


def sync_directory(directory: Path) -> None:
    """Put the names in it on disk too; on Windows there is no such call and no need."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class TemporaryFolder:
    """A new folder, for this user only, until `remove` or the end of the block."""

    def __init__(self, prefix: str, folder: Path | None = None) -> None:
        """
        Args:
            folder: Where it is made; `None`: where the system has such folders.

        Raises:
            OSError: It cannot be made.
        """
        # Most commands make none.
        import tempfile

        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        self._made = self.path.lstat()

    def remove(self) -> None:
        """Remove it with all that is in it, unless something else has its name now."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self._made, self.path.lstat()):
                shutil.rmtree(self.path, ignore_errors=True)

    def remove_at_exit(self) -> None:
        atexit.register(self.remove)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def new_temporary_file(prefix: str, suffix: str) -> tuple[IO[str], str]:
    """A new file that stays, for this user only, to write text to; and its path."""
    import tempfile

    number, path = tempfile.mkstemp(prefix=prefix, suffix=suffix)
    return os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace"), path


def remove_left_folder(path: Path) -> None:
    """Remove a folder that a process which is gone has left: one of this user's own, and private as
    lanlab makes it."""
    with contextlib.suppress(OSError):
        facts = path.lstat()
        is_ours = stat.S_ISDIR(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o700
        if is_ours and (sys.platform == "win32" or facts.st_uid == os.geteuid()):
            shutil.rmtree(path, ignore_errors=True)
