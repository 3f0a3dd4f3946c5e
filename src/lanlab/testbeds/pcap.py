"""Files for the frames on a link."""

from __future__ import annotations

import os
from pathlib import Path

from lanlab.errors import UsageError


def numbered(pcap: Path, number: int) -> Path:
    """
    The file of a later trial, by its number from 0.

    Examples:
        >>> [numbered(Path("frames.pcap"), number).name for number in (0, 1)]
        ['frames.pcap', 'frames-2.pcap']
    """
    return pcap if number == 0 else pcap.with_name(f"{pcap.stem}-{number + 1}{pcap.suffix}")


def check_pcap(pcap: Path) -> Path:
    """
    The absolute path of a new file for frames.

    Raises:
        UsageError: The file exists, or its folder does not.
    """
    path = pcap.absolute()
    if os.path.lexists(path):
        raise UsageError(
            f"--pcap: {pcap} already exists and is not replaced",
            hint="name another file, or move it away",
        )
    if not path.parent.is_dir():
        raise UsageError(
            f"--pcap: {path.parent} is not a folder",
            hint="make it, or name a file in another folder",
        )
    return path
