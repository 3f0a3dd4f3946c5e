"""Which long tests run: all, none, or a share of them, for Python and Rust alike."""

from __future__ import annotations

import re
import zlib


def check_choice(choice: str) -> None:
    """
    Refuse what is no choice of long tests.

    Raises:
        ValueError: Neither `all` nor `none` nor `K/N` with K from 0 to N - 1.
    """
    share = re.fullmatch(r"(\d+)/(\d+)", choice)
    if choice not in ("all", "none") and not (share and int(share[1]) < int(share[2])):
        raise ValueError(f"found `{choice}`; allowed: all, none, or K/N with K from 0 to N - 1")


def is_chosen(name: str, choice: str) -> bool:
    """Whether a choice includes the long test of this name."""
    if choice in ("all", "none"):
        return choice == "all"
    share, shares = map(int, choice.split("/"))
    # By its name, so that a new test leaves the others in their shares.
    return zlib.crc32(name.encode()) % shares == share
