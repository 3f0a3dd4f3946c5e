"""
One process at a time may execute a run of a store file.

A lock on a small file next to the store says which. The kernel drops the lock when the process
ends, however it ends, so a killed process never holds a run. On Unix this is `flock`, which belongs
to the open file and so also keeps two leases of one process apart; on Windows a locked byte, with
the same two properties.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from pathlib import Path

from lanlab.disk import is_the_file_at, remove_file
from lanlab.errors import StoreError, system_hint
from lanlab.store.base import Lease, is_executed

#: A probe (`is_held`) holds the lock for some microseconds; do not take that for an owner.
_PATIENCE_S = 0.1
_RETRY_S = 0.005
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
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
    """The file of a lock cannot be made."""


class FileLease(Lease):
    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        # Removed while still locked: a process that locks the removed file sees below that it is
        # gone.
        if sys.platform != "win32" and is_the_file_at(descriptor, self.path):
            with contextlib.suppress(FileNotFoundError):
                remove_file(self.path)
        os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    """Whether it is a regular file with nothing in it and one name, as all of ours are."""
    facts = os.fstat(descriptor)
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0 and facts.st_nlink <= 1


def acquire(path: Path, what: str, *, patience_s: float = _PATIENCE_S) -> FileLease:
    """Take the lock that the file at `path` stands for.

    Args:
        path: The lock file; made if there is none, removed on release.
        what: What is being locked, for the message.
        patience_s: How long to wait for another holder, seconds.

    Raises:
        StoreError: Another lease holds it, or the file cannot be made.
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
                    f"{path}: is in the way of the lock file of {what}, and lanlab did not make it",
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
