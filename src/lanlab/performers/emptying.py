"""
What a trial leaves at its file server: removed at its end, and said where it cannot be. At a user's
own server it is noted beforehand, so that the next trial there removes what a lanlab that was
killed has left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lanlab import left_behind
from lanlab.errors import EngineError, LabError
from lanlab.performers import journal

if TYPE_CHECKING:
    from lanlab.workloads.service_parameters import ServiceParameters

Request = dict[str, Any]

#: Codes of errors with which nothing of a trial comes to a server.
_NOTHING_WRITTEN = (
    "service.refused",
    "service.unreachable",
    "service.login",
    "service.certificate",
    "service.missing",
)


class Emptying:
    """
    Removes a trial from its server, and says what of it is left there.

    Args:
        kind: Of the request that removes it.
        spec: Of the trial, as engines are told of it.
        ask: Has an engine do a request.
        setup: Of the trial, for its record.
        note_emptied: Called when nothing of ours is left; without it the next trial at the server
            tries again.
    """

    def __init__(
        self,
        parameters: ServiceParameters,
        kind: str,
        spec: Request,
        ask: Callable[[Request], dict[str, Any]],
        setup: dict[str, Any],
        note_emptied: Callable[[], None],
    ) -> None:
        self._parameters, self._kind, self._spec, self._ask = parameters, kind, spec, ask
        self._setup, self._note_emptied = setup, note_emptied

    def __call__(self, failed: BaseException | None) -> None:
        """
        Remove it.

        Args:
            failed: Why the trial failed: it is not hidden by what is wrong with the tidying.

        Raises:
            EngineError: It could not be removed. That its server refuses to remove it does not make
                what was measured wrong.
        """
        try:
            self._empty()
        except LabError:
            if failed is None:
                raise

    def _empty(self) -> None:
        try:
            told = self._ask({"type": self._kind, "spec": self._spec})
        except BaseException as error:
            self._note_failure(error)
            raise
        self._setup["emptied"] = told
        left, place = told.get("left"), _place(self._parameters.server, self._spec)
        if told.get("not_listed") is not None and self._parameters.is_users_server:
            left_behind.note_unlisted(place, told["not_listed"])
        if left is None or left["refusal"] is None:
            self._note_emptied()
        elif self._parameters.is_users_server:
            left_behind.note(place, left)

    def _note_failure(self, error: BaseException) -> None:
        why = error.message if isinstance(error, LabError) else "interrupted"
        self._setup["not_emptied"] = why
        is_written = "prepared" in self._setup
        is_nothing = isinstance(error, EngineError) and error.code in _NOTHING_WRITTEN
        if self._parameters.is_users_server and (is_written or not is_nothing):
            place = _place(self._parameters.server, self._spec)
            left_behind.note_unknown(place, why, is_written=is_written)


def _place(server: str, spec: Request) -> str:
    return f"{server.rstrip('/')}/{spec['working_name']}"


def empty_left(
    server: str,
    service: Request,
    ask: Callable[[Request], dict[str, Any]],
    setup: dict[str, Any],
) -> None:
    """Remove what earlier trials at this server have left that were killed. What cannot be removed
    is said in the record, and tried again the next time.

    Args:
        server: Its URL.
        service: The same as engines are told, with the password.
        ask: Has an engine do a request.
    """
    for path, kind, of_other in journal.left(server):
        what = {"working_name": of_other["working_name"]}
        with_password = {**of_other, "service": service}
        place = _place(server, of_other)
        try:
            what |= ask({"type": kind, "spec": with_password})
            left = what.get("left")
            if left is None or left["refusal"] is None:
                path.unlink(missing_ok=True)
                left_behind.forget(place)
            else:
                left_behind.note(place, left)
        except EngineError as error:
            what |= {"error": error.message}
        setup.setdefault("left_before", []).append(what)
