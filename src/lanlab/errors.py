"""
Everything the package raises on purpose.

* LabError
  x UsageError            what was asked for cannot be done; nothing was run
    + UnknownName         no such testbed, workload, figure, study or run
    + BadStudy            a study file says something that is not allowed
    + UnmetNeed           the machine lacks a tool, a kernel feature or a right
    + UnfitValues         values do not allow the statistic that was asked of them
      - NoSpread          they are all equal, which says nothing about chance
  x RunError              a run was started and did not finish
    + EngineError         the engine said so; `code` is its own
    + EngineLost          an engine process ended or stopped answering
    + TestbedDamaged      a testbed is no longer as it was made
    + CommandFailed       a command of the user's around a trial failed, or took too long
    + RunInterrupted      the user ended the run; what had been measured is kept
  x StoreError            results could not be read or written
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping
from typing import TypeVar

_T = TypeVar("_T")


class LabError(Exception):
    """Base of every error that lanlab raises on purpose.

    `message` says what was found and what was allowed; `hint`, where there is one, what to do.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(LabError):
    """What was asked for cannot be done; nothing was run."""


class UnknownName(UsageError):
    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(names) or 'none'}"
        super().__init__(f"no {kind} named `{name}`", hint=hint)
        self.kind = kind


class NothingToRun(UsageError):
    """A study of which this version can run no experiment."""


def of_name(kind: str, name: str, known: Mapping[str, _T]) -> _T:
    """
    What has that name.

    Raises:
        UnknownName: Nothing has.
    """
    try:
        return known[name]
    except KeyError:
        raise UnknownName(kind, name, known) from None


class BadStudy(UsageError):
    """A study file says something that is not allowed.

    The message names the file, the key (dotted), what was found and what is allowed.
    """

    def __init__(self, file: str, key: str, found: str, allowed: str) -> None:
        super().__init__(f"{file}: `{key}`: found {found}; allowed: {allowed}")
        self.file = file
        self.key = key


class UnmetNeed(UsageError):
    """The machine lacks a tool, a kernel feature or a right."""


class UnfitValues(UsageError):
    """Values do not allow the statistic that was asked of them: too few, not finite, negative."""


class NoSpread(UnfitValues):
    """Values are all equal, so that they say nothing about how much chance moves them.

    Equal trials are no certainty: the metric may be too coarse to show a difference.
    """


class RunError(LabError):
    """A run was started and did not finish.

    `host` names the host of a testbed where it went wrong, where that is known.
    """

    def __init__(self, message: str, *, hint: str | None = None, host: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.host = host


class EngineError(RunError):
    """The engine refused or ended a request; `code` is its stable dotted code.

    `partial` is what the engine had measured until then, in the shape of the request's result,
    or `None`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        host: str | None = None,
        partial: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, host=host)
        self.code = code
        self.partial = partial


class EngineLost(RunError):
    """An engine process ended or stopped answering."""


class EngineOverdue(EngineLost):
    """A request has no end within the time that it was waited for; the engine may be well."""


class TestbedDamaged(RunError):
    """A testbed is no longer as it was made: a link was taken down, a namespace removed."""


class CommandFailed(RunError):
    """A command of the user's around a trial (`--setup`, `--prepare`, `--cleanup`) failed, or was
    ended as it took too long."""


class RunInterrupted(RunError):
    """The user ended the run; what had been measured until then is in the store."""


class StoreError(LabError):
    """Results could not be read or written."""


#: What to do about an error of the system: each only where its cause was seen.
SYSTEM_HINTS: Mapping[str, tuple[int, ...]] = {
    "check the owner and mode of it and of its folder": (errno.EACCES, errno.EPERM),
    "its file system is read-only": (errno.EROFS,),
    "make room on that disk": (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)),
    "shorten its name": (errno.ENAMETOOLONG,),
    "move away what is in its place, as a link": (errno.ELOOP, errno.ENOTDIR, errno.EISDIR),
    "see whether the path is right": (errno.ENOENT,),
    "look into the system's log: the disk may be failing": (errno.EIO,),
    "allow more open files by `ulimit -n`": (errno.EMFILE, errno.ENFILE),
}


def system_hint(error: Exception, otherwise: str) -> str:
    """
    What to do about an error of the system.

    Args:
        otherwise: What helps in any case, as an imperative.

    Examples:
        >>> system_hint(OSError(errno.ENOSPC, ""), "name another place")
        'make room on that disk, or name another place'
        >>> system_hint(OSError(errno.EBUSY, ""), "name another place")
        'name another place'
    """
    number = error.errno if isinstance(error, OSError) else None
    found = next((hint for hint, causes in SYSTEM_HINTS.items() if number in causes), None)
    return otherwise if found is None else f"{found}, or {otherwise}"
