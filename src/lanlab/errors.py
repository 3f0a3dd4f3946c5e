"""
All errors that the package raises on purpose.

* LabError
  x UsageError            the request cannot be executed; nothing was run
    + UnknownName         an unknown testbed, workload, figure, study or run
    + BadStudy            a study file contains something that is not allowed
    + UnmetNeed           the machine lacks a tool, a kernel feature or a permission
    + UnfitValues         the statistic does not allow these values
      - NoSpread          all values are equal, so random variation is unknown
  x RunError              a run was started and did not finish
    + EngineError         the engine reported an error; `code` is its own
    + EngineLost          an engine process ended or stopped answering
    + TestbedDamaged      a testbed has changed since setup
    + CommandFailed       a user's command around a trial failed, or took too long
    + RunInterrupted      the user ended the run; finished trials are kept
  x StoreError            results could not be read or written
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from lanlab.messages import Result

_T = TypeVar("_T")


class LabError(Exception):
    """Base of all errors that lanlab raises on purpose.

    `message` states what was found and what is allowed; `hint`, if any, what to do.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def closest(name: str, known: Sequence[str], least: float = 0.6) -> str | None:
    """The known name most similar to a mistyped one; `None` if none reaches `least` (0 to 1)."""
    import difflib

    return next(iter(difflib.get_close_matches(name, known, 1, least)), None)


class UsageError(LabError):
    """The request cannot be executed; nothing was run."""


class UnknownName(UsageError):
    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = closest(name, names)
        hint = f"did you mean `{close}`?" if close else f"known: {', '.join(names) or 'none'}"
        super().__init__(f"no {kind} named `{name}`", hint=hint)
        self.kind = kind


def of_name(kind: str, name: str, known: Mapping[str, _T]) -> _T:
    """
    The value with that name.

    Raises:
        UnknownName: No value has it.
    """
    try:
        return known[name]
    except KeyError:
        raise UnknownName(kind, name, known) from None


class BadStudy(UsageError):
    """A study file contains something that is not allowed.

    The message names the file, the key (dotted), what was found and what is allowed.
    """

    def __init__(self, file: str, key: str, found: str, allowed: str) -> None:
        super().__init__(f"{file}: `{key}`: found {found}; allowed: {allowed}")
        self.file = file
        self.key = key


class UnmetNeed(UsageError):
    """The machine lacks a tool, a kernel feature or a permission."""


class UnfitValues(UsageError):
    """Values that the statistic does not allow: too few, not finite, or negative."""


class NoSpread(UnfitValues):
    """All values are equal, so they do not show how large random variation is.

    Equal values are not exact: the metric may be too coarse to show a difference.
    """


class RunError(LabError):
    """A run was started and did not finish.

    `host` names the host of the testbed where the error occurred, if known.
    """

    def __init__(self, message: str, *, hint: str | None = None, host: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.host = host


#: Rust adds the number of a system's error to its words.
_SYSTEM_NUMBER = re.compile(r" \(os error [0-9]+\)")


class EngineError(RunError):
    """The engine refused or ended a request; `code` is its stable dotted code.

    `partial` is what the engine had measured before the error, in the form of the request's result,
    or `None`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        host: str | None = None,
        partial: Result | None = None,
    ) -> None:
        super().__init__(_SYSTEM_NUMBER.sub("", message), hint=hint, host=host)
        self.code = code
        self.partial = partial


class EngineLost(RunError):
    """An engine process ended or stopped answering."""


class EngineOverdue(EngineLost):
    """A request did not end within its time; the engine may still work."""


class TestbedDamaged(RunError):
    """A testbed has changed since setup, such as by a link taken down or a namespace removed."""


class CommandFailed(RunError):
    """A user's command around a trial (`--setup`, `--prepare`, `--cleanup`) failed or timed out."""


class RunInterrupted(RunError):
    """The user ended the run. Trials that had finished are in the store."""


class StoreError(LabError):
    """Results could not be read or written."""


#: Hints for system errors whose cause is known.
SYSTEM_HINTS: Mapping[str, tuple[int, ...]] = {
    "check the owner and mode of it and of its folder": (errno.EACCES, errno.EPERM),
    "remount its file system read-write": (errno.EROFS,),
    "make room on that disk": (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)),
    "shorten its name": (errno.ENAMETOOLONG,),
    "move away the link, file or folder in its place": (errno.ELOOP, errno.ENOTDIR, errno.EISDIR),
    "check the path": (errno.ENOENT,),
    "check the system log: the disk may be failing": (errno.EIO,),
    "raise the limit on open files with `ulimit -n`": (errno.EMFILE, errno.ENFILE),
}


def system_hint(error: Exception, otherwise: str) -> str:
    """
    The hint for a system error.

    Args:
        otherwise: A hint that always applies, as an imperative.

    Examples:
        >>> system_hint(OSError(errno.ENOSPC, ""), "name another place")
        'make room on that disk, or name another place'
        >>> system_hint(OSError(errno.EBUSY, ""), "name another place")
        'name another place'
    """
    number = error.errno if isinstance(error, OSError) else None
    found = next((hint for hint, causes in SYSTEM_HINTS.items() if number in causes), None)
    return otherwise if found is None else f"{found}, or {otherwise}"
