"""The command as typed, without passwords, for the record of a run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence

#: The password between user and host in a URL, and passwords in its query.
_PASSWORDS = (
    re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]*(?=@)"),
    re.compile(r"(?i)(?<=[?&])([^\s=&]*(?:password|secret|token)[^\s=&]*)=[^\s&]*"),
)
_HIDDEN = "***"


def masked(word: str) -> str:
    """Replace passwords in URLs of a command-line word by `***`.

    Examples:
        >>> masked("postgresql://me:pw@host/db?sslpassword=x&schema=s")
        'postgresql://me:***@host/db?sslpassword=***&schema=s'
        >>> masked("--store=postgresql://me@host/db")
        '--store=postgresql://me@host/db'
    """
    word = _PASSWORDS[0].sub(rf"\1:{_HIDDEN}", word)
    return _PASSWORDS[1].sub(rf"\1={_HIDDEN}", word)


def typed_command(argv: Sequence[str] | None = None) -> str:
    """The command that started this process, ready for a shell.

    Examples:
        >>> typed_command(["/usr/bin/lanlab", "stream", "--time", "0.5 s"])
        "lanlab stream --time '0.5 s'"
    """
    words = list(sys.argv if argv is None else argv)
    return shlex.join(["lanlab", *map(masked, words[1:])])
