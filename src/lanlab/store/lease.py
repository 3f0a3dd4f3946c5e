"""
Lets one process at a time execute a run of a store file.

The lease is a lock on a small file next to the store. The kernel releases the lock when the process
ends, for any reason, so a killed process never holds a run. The lock is a `flock`, which belongs to
the open file, so it also works between two leases of one process.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

from lanlab.disk import is_the_file_at, remove_file
from lanlab.errors import StoreError, system_hint
from lanlab.store.base import Lease, is_executed

#: A probe (`is_held`) holds the lock for some microseconds and must not be taken for an owner.
_PATIENCE_S = 0.1
_RETRY_S = 0.005
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        raise StoreError(
            f"the file system of the store has no locks: {error.strerror}",
            hint="name a file on a local disk with --store or LANLAB_STORE",
        ) from None
    return True


class NoLockFile(StoreError):
    """The lock file cannot be created."""


class FileLease(Lease):
    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        # Removed while still locked: a process that then locks the removed file will notice
        # that the file has no name.
        if is_the_file_at(descriptor, self.path):
            with contextlib.suppress(FileNotFoundError):
                remove_file(self.path)
        os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    """Whether it is an empty regular file without further hard links, as all lock files are."""
    facts = os.fstat(descriptor)
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0 and facts.st_nlink <= 1


def acquire(path: Path, what: str, *, patience_s: float = _PATIENCE_S) -> FileLease:
    """Take the lock of the file at `path`.

    Args:
        path: The lock file; created if missing, removed on release.
        what: The locked thing, for error messages.
        patience_s: How long to wait for another holder, seconds.

    Raises:
        StoreError: Another lease holds the lock, or the file cannot be created.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o666)
        except OSError as error:
            raise NoLockFile(
                f"{path}: cannot make the lock file of {what}: {error.strerror}",
                hint=system_hint(error, "name another store"),
            ) from None
        locked = False
        try:
            if not _is_ours(descriptor):
                raise NoLockFile(
                    f"{path} is not a lock file of lanlab, but has the name of that of {what}",
                    hint="move it away, or name another store",
                )
            locked = _try_lock(descriptor) and is_the_file_at(descriptor, path)
        finally:
            if not locked:
                os.close(descriptor)
        if locked:
            return FileLease(path, descriptor)
        if time.monotonic() >= deadline:
            raise is_executed(what)
        time.sleep(_RETRY_S)


def is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        return _is_ours(descriptor) and not _try_lock(descriptor)
    finally:
        os.close(descriptor)
