"""Programs that others wrote: found, or a skip that says how to get them."""

import shutil

from missing import missing


def peer_program(name: str) -> str:
    """The path of a program, or a skip; with LANLAB_REQUIRE_PEERS=1 a failure."""
    path = shutil.which(name)
    if path is None:
        missing(f"need `{name}`, not found on PATH; apt install {name}")
    return path
