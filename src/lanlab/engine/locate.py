"""Finds the engine binary."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from lanlab.errors import UnmetNeed

NAME = "lanlab-engine"


def engine_path() -> str:
    """
    The engine binary: `LANLAB_ENGINE` if set, else the one next to this Python (even if its virtual
    environment is not active), else the first on PATH.

    Raises:
        UnmetNeed: It does not exist, or `LANLAB_ENGINE` is not a program.
    """
    named = os.environ.get("LANLAB_ENGINE")
    if named:
        if not (Path(named).is_file() and os.access(named, os.X_OK)):
            raise UnmetNeed(
                f"LANLAB_ENGINE names `{named}`, which is no program",
                hint="name the engine binary, or unset it",
            )
        return named
    own = Path(sysconfig.get_path("scripts"), NAME)
    if own.is_file():
        return str(own)
    found = shutil.which(NAME)
    if found is None:
        raise UnmetNeed(
            f"need `{NAME}`, not found next to this Python or on PATH",
            hint="install it with `pip install lanlab-engine`, or `make setup` in the source tree",
        )
    return found
