"""The folder for data that later runs can use: `LANLAB_CACHE`, or the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from lanlab.disk import make_folders
from lanlab.errors import RunError
from lanlab.user_files import user_path


def cache_folder() -> Path:
    """The folder, created if missing.

    Raises:
        RunError: It cannot be created, or belongs to another user.
    """
    cache = os.environ.get("LANLAB_CACHE")
    usual = os.environ.get("XDG_CACHE_HOME", "")
    place = Path(cache or Path(usual or user_path("~/.cache"), "lanlab")).absolute()
    hint = "name another place by LANLAB_CACHE"
    try:
        make_folders(place, 0o700)
        facts = place.lstat()
    except OSError as error:
        raise RunError(f"{place}: {error.strerror}", hint=hint) from None
    if place.is_symlink() or facts.st_uid != os.getuid():
        raise RunError(f"{place} belongs to another user", hint=hint)
    return place
