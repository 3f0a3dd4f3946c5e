"""matplotlib caches a list of this machine's fonts in the user's home. If it cannot, it works
without the cache, and its advice is suppressed.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from lanlab.disk import TemporaryFolder


def prepare() -> None:
    # Messages about font lists do not help users of a report.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if os.environ.get("MPLCONFIGDIR") or _is_kept():
        return
    folder = TemporaryFolder("lanlab-matplotlib-")
    folder.remove_at_exit()
    os.environ["MPLCONFIGDIR"] = str(folder.path)


def _is_kept() -> bool:
    try:
        home = Path.home()
    except RuntimeError:
        return False
    wanted = []
    for variable, usual in (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache")):
        base = os.environ.get(variable)
        wanted.append((Path(base) if base else home / usual) / "matplotlib")
    return all(_can_be_written(folder) for folder in wanted)


def _can_be_written(folder: Path) -> bool:
    for place in (folder, *folder.parents):
        try:
            if place.is_dir():
                return os.access(place, os.W_OK | os.X_OK)
            if place.exists():
                return False
        except OSError:
            return False
    return False
