"""Programs that others wrote: found, or a skip that says how to get them."""

from __future__ import annotations

import os
import shutil

import pytest


def peer_program(name: str) -> str:
    """The path of a program, or a skip; with LANLAB_REQUIRE_PEERS=1 a failure."""
    path = shutil.which(name)
    if path is None:
        message = f"need `{name}`, not found on PATH; apt install {name}"
        if os.environ.get("LANLAB_REQUIRE_PEERS") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return path
