"""File systems of a test's own, in a mount namespace that ends with its process."""

import os
import shutil
import sys
from pathlib import Path

from missing import missing
from programs import ran


def on_mount(options: list[str], place: Path, code: str, *args: str) -> str:
    """
    Run Python code with something mounted at a place; gives what it prints.

    Args:
        options: Of `mount`, without the place.
        code: `sys.argv[1]` is the place, `args` follow.
    """
    if shutil.which("unshare") is None:
        missing("needs `unshare` to have a file system of its own")
    flags = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    tried = ran(["unshare", *flags, "--", "mount", *options, str(place)])
    if tried.returncode:
        missing(f"cannot have a file system of its own: {tried.stderr.strip()}")
    script = 'place=$1; shift; options=$1; shift; mount $options "$place" && exec "$@"'
    ended = ran(
        [
            *("unshare", *flags, "--", "sh", "-c", script, "sh", str(place), " ".join(options)),
            *(sys.executable, "-c", code, str(place), *args),
        ]
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
