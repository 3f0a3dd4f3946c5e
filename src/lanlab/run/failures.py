"""The cause of a failed trial in its record, and whether a retry may help."""

from __future__ import annotations

from lanlab.errors import EngineError, LabError, RunError, TestbedDamaged, UsageError
from lanlab.trial_data import ErrorRecord

#: Codes of an engine's refusals that every retry would meet: a value that is not allowed, an option
#: that this system lacks, a missing right, a wrong password.
_REFUSALS = frozenset(
    {
        "request.value",
        "request.malformed",
        "request.too_long",
        "socket.option",
        "socket.congestion_control",
        "system.invalid",
        "system.permission",
        "processor.unusable",
        "service.login",
    }
)
_UNSUPPORTED = "unsupported"


def cause_of(error: LabError, lost: LabError | None, damage: str | None) -> LabError:
    """
    Why a trial failed, from all that is known.

    Args:
        error: The error that ended it.
        lost: How a lost engine ended; the other end can then only report that its peer is silent.
        damage: A change of the testbed; both ends can then only report that they do not hear each
            other.
    """
    cause = lost or error
    if damage is None or not retry_helps(cause):
        return cause
    return TestbedDamaged(
        f"{damage}; seen as: {cause.message}",
        hint="lanlab sets the testbed up again for the next trial",
        host=damage.partition(":")[0],
    )


def retry_helps(error: LabError) -> bool:
    if isinstance(error, EngineError):
        return error.code not in _REFUSALS and not error.code.endswith(_UNSUPPORTED)
    return not isinstance(error, UsageError)


def error_record(error: LabError, roles: dict[str, str]) -> ErrorRecord:
    """
    A cause in the form of the record.

    Args:
        error: The result of `cause_of`.
        roles: Name of a host to its role.
    """
    host = error.host if isinstance(error, RunError) else None
    return {
        "code": error.code if isinstance(error, EngineError) else type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "host": host,
        "end": roles.get(host) if host is not None else None,
        "retry_helps": retry_helps(error),
    }
