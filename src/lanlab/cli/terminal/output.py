"""Makes standard output and standard error print every character, and never a traceback."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

#: Replacements for lanlab's characters in ASCII output; others become `\\xe4` or `\\u2c00`.
_PLAIN = {
    "±": "+-",
    "…": "...",
    "µ": "u",
    "μ": "u",
    "²": "^2",
    "≤": "<=",
    "≥": ">=",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "→": "->",
    "\u00d7": "x",
    "·": ".",
    "\u00a0": " ",
    "\u202f": " ",
}
_READABLE = "lanlab.readable"
OUTPUTS = ("standard output", "standard error")


class _Output(io.TextIOWrapper):
    def __init__(self, stream: io.TextIOWrapper, what: str) -> None:
        settings = (stream.encoding, stream.line_buffering, stream.write_through)
        super().__init__(
            stream.detach(),
            encoding=settings[0],
            errors=_READABLE,
            line_buffering=settings[1],
            write_through=settings[2],
        )
        self._what = what

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            error.filename = self._what
            raise

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            error.filename = self._what
            raise


def make_readable() -> None:
    """From now on, replace characters that an output's encoding does not have, and name the
    output in write errors.
    """
    codecs.register_error(_READABLE, _replaced)
    _have_all()
    for name, what in zip(("stdout", "stderr"), OUTPUTS, strict=True):
        stream = getattr(sys, name)
        # Without a console the stream is `None`, and tests replace it.
        if isinstance(stream, io.TextIOWrapper) and stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, _Output(stream, what))


def _have_all() -> None:
    """Reopen standard streams that were closed (`>&-`). Otherwise the next opened file would get
    the number and receive the output. Then output fails as on a full disk, and messages to
    standard error are discarded, as the user requested.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        mode = "r" if name == "stdin" else "w"
        stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    written = (
        _PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii")
        for letter in letters
    )
    return "".join(written), error.end


def can_hold(text: str, stream: TextIO | None) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def flushed(stream: TextIO | None) -> OSError | None:
    """Flush an output. If that fails, return the error, and discard the rest."""
    try:
        if stream is not None:
            stream.flush()
    except OSError as error:
        discard(stream)
        return error
    except ValueError:
        # The stream is closed already.
        return None
    return None


def discard(stream: TextIO | None) -> None:
    """Discard the rest of an output and everything printed later."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError):
        # A test's buffer has no file.
        return
