"""Regular files of bounded size that a user names, checked before anything is read."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from lanlab.errors import UsageError, system_hint

#: With these flags, opening does not block on a FIFO without a writer, and does not make a terminal
#: the controlling one.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_PIECE_BYTES = 2**20


def user_path(text: str) -> Path:
    """
    A path in the user's notation, where `~` is a home folder.

    Raises:
        UsageError: The user's home folder is unknown.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UsageError(
            f"`{text}`: no home folder found for it", hint="set HOME, or write the path without `~`"
        ) from None


def read_user_file(path: Path, what: str, most_bytes: int) -> bytes:
    """
    Content of a regular file; symbolic links are followed.

    Args:
        what: The user's name for the file, such as `password file` or `--trust`.
        most_bytes: Longer files are refused; at most one byte beyond this is read.

    Raises:
        UsageError: It does not exist, cannot be read, is too long, or is a directory, FIFO, socket
            or device, which is not even opened.
    """
    name = f"{what} `{path}`"
    try:
        # Merely opening a device can have an effect: a tape rewinds, a watchdog starts.
        _check_regular(path.stat().st_mode, name)
        descriptor = os.open(path, READ_FLAGS)
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
            facts = os.fstat(descriptor)
            # Another file may have replaced the checked one.
            _check_regular(facts.st_mode, name)
            if facts.st_size > most_bytes:
                raise _too_long(name, facts.st_size, most_bytes)
            content = bytearray()
            # Kernel files report size 0, and other files may be growing.
            while piece := file.read(min(_PIECE_BYTES, most_bytes + 1 - len(content))):
                content += piece
    except (OSError, ValueError) as error:
        # A name with a zero byte raises ValueError.
        why = error.strerror if isinstance(error, OSError) else None
        raise UsageError(
            f"{name}: {why or error}", hint=system_hint(error, "name another file")
        ) from None
    if len(content) > most_bytes:
        raise _too_long(name, len(content), most_bytes)
    return bytes(content)


def text_of(content: bytes) -> str:
    """
    Content of a UTF-8 text file, without the byte order mark that some Windows editors write.

    Raises:
        UnicodeDecodeError: It is not UTF-8; the reason mentions UTF-16 if it looks like it.

    Examples:
        >>> text_of(codecs.BOM_UTF8 + b"schema = 1")
        'schema = 1'
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        why = "it begins as UTF-16 does; save it as UTF-8"
        raise UnicodeDecodeError("utf-8", content, 0, 2, why)
    return content.removeprefix(codecs.BOM_UTF8).decode()


def special(mode: int) -> str | None:
    """The kind of a special file, by its mode; `None` for a regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


def _check_regular(mode: int, name: str) -> None:
    found = special(mode)
    if found is None:
        return
    raise UsageError(
        f"{name}: found {found}; allowed: a regular file",
        hint="name a file"
        if stat.S_ISDIR(mode)
        else "save its content to a file, and name that file",
    )


def _too_long(name: str, found_bytes: int, most_bytes: int) -> UsageError:
    return UsageError(
        f"{name}: found {found_bytes} bytes or more; allowed: at most {most_bytes}",
        hint="check that it is the right file",
    )
