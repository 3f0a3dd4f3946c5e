"""
What trials have at users' own servers, written down before it is there, so that the next run can
remove what a lanlab that was killed has left.

One file for each trial, locked for as long as its process lives; a lock that can be had is that of
a process that is gone. The engine removes only what lies under the token that stands in the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lanlab.errors import LabError, RunError
from lanlab.workloads import copy_places as places

Request = dict[str, Any]


def _folder() -> Path:
    return places.base("disk") / "copies"


@contextmanager
def noted(server: str, spec: Request) -> Iterator[Callable[[], None]]:
    """
    A note of a trial for as long as it lasts; gives what takes the note away once it is emptied.

    Args:
        server: The URL of the server.
        spec: The trial; its password is not written.

    Raises:
        RunError: It cannot be written: then nothing may be, at the server.
    """
    service = {key: value for key, value in spec["service"].items() if key != "credentials"}
    text = json.dumps({"server": server, "spec": {**spec, "service": service}})
    path = _folder() / f"{spec['working_name']}.json"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}", hint="name a place by LANLAB_CACHE") from None
    is_emptied: list[bool] = []
    try:
        with os.fdopen(descriptor, "w") as file:
            _is_ours(file.fileno())
            file.write(text)
            file.flush()
            yield lambda: is_emptied.append(True)
    finally:
        # Whatever became of the trial.
        if is_emptied:
            path.unlink(missing_ok=True)


def left(server: str) -> Iterator[tuple[Path, Request]]:
    """What processes that are gone have left at a server: the note, and the trial in it."""
    folder = _folder()
    for path in sorted(folder.glob("lanlab-*.json")) if folder.is_dir() else ():
        with contextlib.suppress(OSError, ValueError, LabError), path.open("r+") as file:
            if not _is_ours(file.fileno()):
                continue
            told = json.load(file)
            if told["server"] == server and told["spec"]["working_name"] == path.stem:
                yield path, told["spec"]


def _is_ours(descriptor: int) -> bool:
    """Whether nobody else has the file locked; it is locked by us then."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # Beyond its text, so that it can be read.
            os.lseek(descriptor, 2**30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
