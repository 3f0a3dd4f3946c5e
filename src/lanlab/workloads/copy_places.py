"""Directories that copies need on this machine: on disk or in memory, ours alone."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanlab.errors import RunError, UnmetNeed

#: Where Linux keeps files in memory.
_SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "lanlab-copy-"


def _user() -> int:
    return os.getuid() if sys.platform != "win32" else 0


def base(medium: str) -> Path:
    """
    The directory in which those of a medium are made: only its owner may look into it.

    Args:
        medium: `disk` or `tmpfs`.

    Raises:
        UnmetNeed: There is no file system in memory here.
        RunError: It cannot be made, or is somebody else's.
    """
    if medium == "tmpfs":
        if not _SHARED_MEMORY.is_dir():
            raise UnmetNeed(
                f"no files in memory here: {_SHARED_MEMORY} is not there",
                hint="use medium `disk` or `memory`",
            )
        found = _SHARED_MEMORY / f"lanlab-{_user()}"
    else:
        cache = os.environ.get("LANLAB_CACHE")
        usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        found = Path(cache) if cache else Path(usual, "lanlab")
    found = found.absolute()
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
    if medium == "tmpfs":
        return base(medium).parent
    # Where `/tmp` is in memory, this is not (hier(7)).
    kept = Path("/var/tmp")
    return kept if kept.is_dir() else Path(tempfile.gettempdir())


def dataset_directory(medium: str, key: str) -> Path:
    """Where a dataset is kept: on disk from run to run, in memory until this process ends."""
    if medium != "tmpfs":
        return base(medium) / "datasets" / key
    return _in_memory() / key


@functools.cache
def _in_memory() -> Path:
    """A directory in memory for this process, removed at its end; those of processes that were
    killed are removed now, for they take memory from everybody."""
    parent = base("tmpfs")
    for other in parent.glob("process-*"):
        with suppress(ValueError):
            pid = int(other.name.removeprefix("process-"))
            if not Path(f"/proc/{pid}").exists():
                shutil.rmtree(other, ignore_errors=True)
    mine = parent / f"process-{os.getpid()}"
    mine.mkdir(mode=0o700, exist_ok=True)
    atexit.register(shutil.rmtree, mine, ignore_errors=True)
    return mine


@contextmanager
def temporary(medium: str, *, served: bool = False) -> Iterator[Path]:
    """A directory for one trial, removed with all that is in it.

    Args:
        medium: `disk` or `tmpfs`.
        served: Whether a server that runs as another user shall reach it.
    """
    try:
        parent = _reachable(medium) if served else base(medium)
        made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
    except OSError as error:
        raise RunError(f"a directory for the trial: {error.strerror}") from None
    try:
        yield Path(made.name)
    finally:
        # A server that has not yet ended may still be writing.
        with suppress(OSError):
            made.cleanup()
