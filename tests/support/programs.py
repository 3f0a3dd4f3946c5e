"""Programs that tests run to their end, or talk to."""

import subprocess
from collections.abc import Sequence
from typing import Any


def ran(
    argv: Sequence[object], *, check: bool = False, timeout: float = 400, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a program said and how it ended; it has no standard input, unless `input` is given."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    words = [str(word) for word in argv]
    return subprocess.run(
        words, capture_output=True, text=True, check=check, timeout=timeout, **options
    )


def begun(argv: Sequence[object], **options: Any) -> tuple[subprocess.Popen[str], str]:
    """A program that is there, by the first line that it said: it is talked to by pipes."""
    words = [str(word) for word in argv]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, **options)
    assert process.stdout is not None
    return process, process.stdout.readline()
