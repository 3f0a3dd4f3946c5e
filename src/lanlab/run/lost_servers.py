"""
Users' servers that a run has given up, so that the rest of their trials fail at once: logins may
lock a user out, and each condition would wait its whole time-out for a server that hangs.
"""

from __future__ import annotations

from lanlab.errors import EngineError, LabError
from lanlab.plan import PlannedTrial

_LOGIN = "service.login"
#: Codes of a server that is gone, hangs, or has become very slow.
_SILENT = {f"service.{why}" for why in ("refused", "unreachable", "timed_out", "reset")}
_SILENT |= {"copy.too_long"}
#: Least number of failed trials in a row, of their conditions, and seconds from the first: one
#: condition that takes too long, or a server that restarts (an NFS 4 server then refuses to open
#: files for 90 s), does not end the others.
_TRIALS, _CONDITIONS, _SILENT_S = 3, 2, 120.0


class LostServers:
    def __init__(self) -> None:
        self._failed: dict[str, list[tuple[str, float]]] = {}
        self._lost: dict[str, LabError] = {}

    def check(self, planned: PlannedTrial) -> None:
        """
        Raises:
            LabError: The trial's server has been given up; the error of its last trial.
        """
        if (lost := self._lost.get(_server(planned))) is not None:
            raise lost

    def note(
        self, planned: PlannedTrial, error: LabError | None, window_s: tuple[float, float]
    ) -> None:
        """
        Note how a trial ended.

        Args:
            window_s: When it began and ended.
        """
        server = _server(planned)
        code = error.code if isinstance(error, EngineError) else ""
        if error is None or code not in {_LOGIN, *_SILENT}:
            self._failed.pop(server, None)
            return
        failed = self._failed.setdefault(server, [])
        failed.append((f"{planned.experiment} {planned.factors}", window_s[0]))
        conditions = {condition for condition, _ in failed}
        is_long = window_s[1] - failed[0][1] >= _SILENT_S
        is_silent = len(failed) >= _TRIALS and len(conditions) >= _CONDITIONS and is_long
        if server and (is_silent or code == _LOGIN):
            self._lost[server] = error


def _server(planned: PlannedTrial) -> str:
    """The URL of a user's server; empty for others, of which each trial starts its own."""
    is_users_server = getattr(planned.values, "is_users_server", False)
    return str(getattr(planned.values, "server", "")) if is_users_server else ""
