"""Directories that trials need on this machine: on disk or in memory, ours alone."""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from lanlab import lock_files
from lanlab.errors import RunError, UnmetNeed

#: Where Linux keeps files in memory.
_SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "lanlab-copy-"
#: Beside such a directory lies a file of this ending, locked for as long as its process lives.
_LOCK = ".lock"
_ABOUT_TO_BE_MADE_S = 60.0


def _user() -> int:
    return os.getuid() if sys.platform != "win32" else 0


def _own_place(medium: str) -> Path:
    if medium == "tmpfs":
        return _SHARED_MEMORY / f"lanlab-{_user()}"
    cache = os.environ.get("LANLAB_CACHE")
    usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache or Path(usual, "lanlab")).absolute()


def base(medium: str) -> Path:
    """
    The directory in which those of a medium are made: only its owner may look into it.

    Args:
        medium: `disk` or `tmpfs`.

    Raises:
        UnmetNeed: There is no file system in memory here.
        RunError: It cannot be made, or is somebody else's.
    """
    if medium == "tmpfs" and not _SHARED_MEMORY.is_dir():
        raise UnmetNeed(
            f"no files in memory here: {_SHARED_MEMORY} is not there",
            hint="use medium `disk` or `memory`",
        )
    found = _own_place(medium)
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = found.lstat()
    except OSError as error:
        raise RunError(
            f"{found}: {error.strerror}", hint="name another place by LANLAB_CACHE"
        ) from None
    # Everyone may write to /dev/shm: somebody may have been there first.
    if sys.platform != "win32" and (found.is_symlink() or facts.st_uid != os.getuid()):
        raise RunError(f"{found} is somebody else's", hint="name another place by LANLAB_CACHE")
    return found


def _reachable(medium: str) -> Path:
    """A directory that every user can get to."""
    return base(medium).parent if medium == "tmpfs" else _disk_for_all()


def _disk_for_all() -> Path:
    # Where `/tmp` is in memory, this is not (hier(7)).
    kept = Path("/var/tmp")
    return kept if kept.is_dir() else Path(tempfile.gettempdir())


def remove_left() -> None:
    """Remove the directories that trials of this user made here and could not remove, as their
    process was killed. What is in use is locked, and stays."""
    own = (_own_place("disk"), _own_place("tmpfs"))
    left = []
    for parent in (*own, _disk_for_all(), _SHARED_MEMORY):
        for lock, file in lock_files.orphans(parent, f"{_PREFIX}*{_LOCK}"):
            made = lock.with_suffix("")
            age_s = time.time() - os.fstat(file.fileno()).st_mtime
            # It may be about to be made.
            if made.exists() or age_s > _ABOUT_TO_BE_MADE_S:
                shutil.rmtree(made, ignore_errors=True)
                left.append((lock, made))
    # What is open cannot be removed on Windows.
    for lock, made in left:
        _forget(lock, made)


def _forget(lock: Path, made: Path) -> None:
    """What could not be removed, the next trial removes."""
    with suppress(OSError):
        if not made.exists():
            lock.unlink()


def dataset_directory(medium: str, key: str) -> Path:
    """Where a dataset is kept: on disk from run to run, in memory until this process ends."""
    if medium != "tmpfs":
        return base(medium) / "datasets" / key
    return _in_memory() / key


@functools.cache
def _in_memory() -> Path:
    """A directory in memory for this process, removed at its end."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(temporary("tmpfs"))


@contextmanager
def temporary(medium: str, *, served: bool = False) -> Iterator[Path]:
    """A directory for one trial, removed with all that is in it.

    Args:
        medium: `disk` or `tmpfs`.
        served: Whether a server that runs as another user shall reach it.
    """
    parent = _reachable(medium) if served else base(medium)
    made = parent / f"{_PREFIX}{secrets.token_hex(6)}"
    lock = made.with_suffix(_LOCK)
    with ExitStack() as stack:
        # Before the directory, so that there is never one without.
        try:
            stack.callback(_forget, lock, made)
            stack.enter_context(lock_files.held(lock))
            made.mkdir(mode=0o700)
        except OSError as error:
            raise RunError(f"a directory for the trial: {error.strerror}") from None
        # A server that has not yet ended may still be writing.
        stack.callback(shutil.rmtree, made, ignore_errors=True)
        yield made
