"""
All calls that create, replace or remove something on this machine's disk.
`tools/check_disk_calls.py` checks that no other module makes such calls.

Links below a folder are not followed: each directory on the path is opened from its parent and held
open, so a link that replaces it later has no effect. A link, FIFO, device or directory is never
replaced or removed as a file.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from lanlab.frozen import dataclass
from lanlab.user_files import READ_FLAGS

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
#: Errors for a path that does not exist, or on which a part is not a directory (open(2), O_NOFOLLOW
#: and O_DIRECTORY).
_NO_WAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@dataclass(frozen=True)
class Entry:
    """A name in a directory that is held open."""

    name: str
    directory: int

    def facts(self) -> os.stat_result | None:
        """Status of the name itself, even if it is a link; `None` if the name is free."""
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self) -> IO[bytes]:
        """
        Open a regular file for reading.

        Raises:
            OSError: It does not exist, cannot be read, or is not a regular file.
        """
        # Opening a device may have side effects.
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            descriptor = os.open(self.name, READ_FLAGS | os.O_NOFOLLOW, dir_fd=self.directory)
            file = os.fdopen(descriptor, "rb")
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file
            file.close()
        raise _no_file(self.name)

    def read(self, most_bytes: int) -> bytes | None:
        """Content of a regular file of at most `most_bytes`; `None` if there is no such file."""
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most_bytes:
            return None
        with self.open() as file:
            content = file.read(most_bytes + 1)
        return content if len(content) <= most_bytes else None

    def create(self, mode: int = 0o666) -> IO[bytes]:
        """
        Create a file for writing. Existing files are not changed.

        Raises:
            FileExistsError: The name is in use, possibly by a dangling link.
        """
        return os.fdopen(os.open(self.name, _CREATE_FLAGS, mode, dir_fd=self.directory), "wb")

    def take(self, new: str | Path, directory: int | None = None) -> None:
        """Rename the file to this name. What has appeared there since the check is not replaced."""
        with contextlib.suppress(FileExistsError):
            self.create().close()
        os.replace(new, self.name, src_dir_fd=directory, dst_dir_fd=self.directory)

    def link(self, file: Path) -> None:
        """
        Add this name to the file's own.

        Raises:
            OSError: The name is in use (FileExistsError), or the file system has no hard links.
        """
        os.link(file, self.name, dst_dir_fd=self.directory)

    def take_free(self, new: Entry) -> None:
        """
        Rename a file of the same directory to this name.

        Raises:
            OSError: The name is in use (FileExistsError: by a file); nothing is changed.
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
        Remove a regular file, or an entry of the expected kind.

        Raises:
            OSError: It does not exist, or the name belongs to another kind, which is not removed.
        """
        facts = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        if not kind(facts.st_mode):
            raise _no_file(self.name)
        os.unlink(self.name, dir_fd=self.directory)

    def remove_empty_folder(self) -> None:
        """Remove an empty folder. Raises OSError if it has content."""
        os.rmdir(self.name, dir_fd=self.directory)


def _no_file(name: str) -> OSError:
    return OSError(errno.ELOOP, "is a link, folder, FIFO or device, not a file", name)


def is_inside(name: str) -> bool:
    """Whether a relative name stays below its folder."""
    return not Path(name).anchor and bool(name) and ".." not in Path(name).parts


@contextlib.contextmanager
def _opened(
    folder: Path,
    parts: Sequence[str],
    makes_folders: bool = False,
    when_made: Callable[[Path], None] | None = None,
) -> Iterator[int]:
    flags = os.O_PATH | os.O_DIRECTORY
    path, directory = folder, os.open(folder, flags)
    try:
        for part in parts:
            if makes_folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=directory)
                    if when_made is not None:
                        when_made(path)
            path /= part
            below = os.open(part, flags | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = below
        yield directory
    finally:
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
    An entry below a folder. The folder itself may be a link, because the user named it.

    Args:
        name: Relative to the folder, with `/` between its parts.
        makes_folders: Whether to create missing directories on the path.
        when_made: Called with the parent folder of each new directory.

    Raises:
        OSError: A part of the path is not a directory, is a link, or does not exist.
    """
    if not is_inside(name):
        raise NotADirectoryError(errno.ENOTDIR, "not below the folder", name)
    *parents, last = PurePosixPath(name).parts
    with _opened(folder, parents, makes_folders, when_made) as directory:
        yield Entry(last, directory)


@contextlib.contextmanager
def entries(folder: Path, name: str) -> Iterator[dict[str, Entry]]:
    """All entries of a folder below `folder`, by name. Raises the errors of `entry`."""
    with _opened(folder, PurePosixPath(name).parts) as directory:
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
    """Remove a file by its path. Raises the errors of `Entry.remove`."""
    with entry(path.parent, path.name) as place:
        place.remove(kind)


def is_the_file_at(descriptor: int, path: Path) -> bool:
    """Whether a path is a name of the open file itself, not a link to it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def make_folders(path: Path, mode: int = 0o777) -> None:
    """Create the folder that a user named, with its parents. Links in the path are followed,
    because the user chose them.
    """
    path.mkdir(mode, parents=True, exist_ok=True)


def sync_directory(directory: Path) -> None:
    """Write the entries of a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class TemporaryFolder:
    """A new folder that only this user can access, until `remove` or the end of the block."""

    def __init__(self, prefix: str, folder: Path | None = None) -> None:
        """
        Args:
            folder: Parent folder; `None` for the system's folder for temporary files.

        Raises:
            OSError: It cannot be created.
        """
        # Imported on demand, because most commands need no such folder.
        import tempfile

        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        self._made = self.path.lstat()

    def remove(self) -> None:
        """Remove the folder with its content, unless the name now belongs to something else."""
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
    """A new text file with its path. Only this user can access it, and it is kept."""
    import tempfile

    number, path = tempfile.mkstemp(prefix=prefix, suffix=suffix)
    return os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace"), path


def remove_left_folder(path: Path) -> None:
    """Remove the folder of an ended process, if it belongs to this user and has lanlab's private
    mode.
    """
    with contextlib.suppress(OSError):
        facts = path.lstat()
        is_ours = stat.S_ISDIR(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o700
        if is_ours and facts.st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
