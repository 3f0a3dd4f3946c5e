"""
What trials have at users' own servers, written down before it is there, so that the next run can
remove what a lanlab that was killed has left.

One file for each trial, locked for as long as its process lives; a lock that can be had is that of
a process that is gone. The engine removes only what lies under the token that stands in the file.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lanlab import lock_files
from lanlab.errors import RunError
from lanlab.performers.cache_folder import cache_folder

Request = dict[str, Any]


def _folder() -> Path:
    """Where notes lie. Errors as of `cache_folder`."""
    return cache_folder() / "copies"


@contextmanager
def noted(server: str, request: str, spec: Request) -> Iterator[Callable[[], None]]:
    """
    A note of a trial for as long as it lasts; gives what takes the note away once it is emptied.

    Args:
        server: The URL of the server.
        request: What has an engine remove what the trial has there.
        spec: The trial; its password is not written.

    Raises:
        RunError: It cannot be written: then nothing may be, at the server.
    """
    service = {key: value for key, value in spec["service"].items() if key != "credentials"}
    text = json.dumps({"server": server, "request": request, "spec": {**spec, "service": service}})
    path = _folder() / f"{spec['working_name']}.json"
    is_emptied: list[bool] = []
    with contextlib.ExitStack() as stack:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(lock_files.held(path))
            path.write_text(text)
        except OSError as error:
            stack.close()
            with contextlib.suppress(OSError):
                path.unlink()
            raise RunError(
                f"{path}: {error.strerror}", hint="name a place by LANLAB_CACHE"
            ) from None
        try:
            yield lambda: is_emptied.append(True)
        finally:
            stack.close()
            # Also after a trial that failed.
            if is_emptied:
                path.unlink(missing_ok=True)


def left(server: str) -> Iterator[tuple[Path, str, Request]]:
    """What processes that are gone have left at a server: the note, what removes it, the trial."""
    for path, file in lock_files.orphans(_folder(), "lanlab-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            entry = json.load(file)
            if entry["server"] == server and entry["spec"]["working_name"] == path.stem:
                yield path, entry["request"], entry["spec"]
