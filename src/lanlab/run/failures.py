"""What the record of a failed trial says of its cause, and whether a retry may help."""

from __future__ import annotations

from typing import Any

from lanlab.errors import EngineError, LabError, RunError, TestbedDamaged, UsageError

#: Codes of refusals by an engine that the same request meets again, however often it is sent: a
#: value that is not allowed, an option that this system does not have, a right that is lacking.
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
    }
)
_UNSUPPORTED = "unsupported"


def cause_of(error: LabError, lost: LabError | None, damage: str | None) -> LabError:
    """
    Why a trial failed, of all that is known.

    Args:
        error: What ended it.
        lost: How an engine ended that should not have. That its peer fell silent is all that the
            other end can say then.
        damage: What of the testbed is not as it was made. Then both ends can only say that they
            do not hear each other.
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


def error_record(error: LabError, roles: dict[str, str]) -> dict[str, Any]:
    """
    A cause as the record keeps it.

    Args:
        error: As `cause_of` gives it.
        roles: Name of a host to its role.

    Returns:
        `code` (the engine's own, or the name of the error), `message`, `hint`; `host` and `end`,
        its role, where it went wrong, `None` where that is not known; `retry_helps`.
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
