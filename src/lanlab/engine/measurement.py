"""A request that an engine is executing, and its results."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Protocol

from lanlab.engine.lines import BadLine
from lanlab.errors import EngineError, EngineLost, EngineOverdue
from lanlab.messages import Line, Result

#: Limit of lines of a request that wait to be read; our engine sends two.
_KEPT_LINES = 8
ENDS = ("result", "error")
_CONVERSATION = ("ready", *ENDS)

#: Hint for a request that the engine cannot read. The engine's own hint is for authors of requests,
#: but here lanlab is the author.
_MALFORMED = "request.malformed"
_OUR_FAULT = "lanlab asked for this, and should have refused it before: please report it"


class Asked(Protocol):
    """The parts of an engine that its requests use."""

    @property
    def name(self) -> str:
        """Name of its host, for programs."""

    @property
    def label(self) -> str:
        """Name of its host, for texts."""

    def lost(self) -> EngineLost:
        """The error with which the engine ended."""


class Measurement:
    def __init__(self, engine: Asked, request_id: int, kind: str) -> None:
        self.id = request_id
        self._kind = kind
        self._engine = engine
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self.on_progress: Callable[[Line], None] | None = None
        #: Called from another thread with each line of data before the result.
        self.on_data: Callable[[Line], None] | None = None
        #: Called once from another thread when the result or error is available.
        self.on_over: Callable[[], None] | None = None
        #: Whether the result or error has been read: nothing more will follow.
        self.is_over = False
        #: Whether the engine has reported that it is ready. A request that prepares a trial reports
        #: it before it writes at the server.
        self.was_ready = False

    def deliver(self, line: Line | None) -> None:
        """Handle a line of this request, or `None` when the engine is lost."""
        if line is not None and line["type"] == "progress":
            if self.on_progress is not None:
                self.on_progress(line)
            return
        if line is not None and line["type"] not in _CONVERSATION:
            if self.on_data is not None:
                self.on_data(line)
            return
        if line is not None and self._lines.qsize() >= _KEPT_LINES:
            raise BadLine("more lines of a request than there can be")
        self.was_ready = self.was_ready or (line is not None and line["type"] == "ready")
        self._lines.put(line)
        if (line is None or line["type"] in ENDS) and self.on_over is not None:
            self.on_over()

    def overdue(self, timeout_s: float) -> EngineOverdue:
        """The error for an engine that has not answered this request in time."""
        return EngineOverdue(
            f"{self._engine.label}: no answer within {timeout_s:.0f} s",
            hint="check whether the host is overloaded",
            host=self._engine.name,
        )

    def _next(self, timeout_s: float) -> Line:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise self.overdue(timeout_s) from None
        self.is_over = line is None or line["type"] in ENDS
        if line is None:
            raise self._engine.lost()
        answer = line.get("result") if line["type"] == "result" else line.get("partial")
        if answer is not None and answer["kind"] != self._kind:
            raise EngineLost(
                f"{self._engine.label}: the engine answered with `{answer['kind']}` instead of "
                f"`{self._kind}`",
                hint="install lanlab and lanlab-engine of the same version",
            )
        if line["type"] == "error":
            is_ours = line["code"] == _MALFORMED
            raise EngineError(
                line["code"],
                f"{self._engine.label}: {line['message']}",
                hint=_OUR_FAULT if is_ours else line.get("hint"),
                host=self._engine.name,
                partial=line.get("partial"),
            )
        return line

    def wait_ready(self, timeout_s: float) -> Line:
        """
        Wait until this end is set up.

        Raises:
            EngineError: The engine ended the request instead.
            EngineLost: The engine ended, or sent nothing for `timeout_s`.
        """
        line = self._next(timeout_s)
        if line["type"] != "ready":
            raise EngineLost(f"{self._engine.label}: the engine gave a result before it was ready")
        return line

    def result(self, timeout_s: float) -> Result:
        """
        Wait for the result, an object with a `kind`.

        Raises:
            EngineError: The engine ended the request otherwise; `partial` is what it had measured.
            EngineLost: The engine ended, or sent nothing for `timeout_s`.
        """
        line = self._next(timeout_s)
        while line["type"] == "ready":
            line = self._next(timeout_s)
        return line["result"]
