"""The steps of a trial of `load`: an echo and streams at the same time, with one start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.trial_data import Line, RoleResult
from lanlab.workloads.outcome import Progress
from lanlab.workloads.steps import EngineReport, Part, Stage, Steps, TwoEnds


class LoadSteps(Steps):
    """
    An echo, and streams at the same time.

    Args:
        echo: Steps of the echo.
        streams: Steps of the streams of one direction.
        prefixes: Prefixes of the streams' roles, one for each direction.
    """

    def __init__(self, echo: TwoEnds, streams: TwoEnds, prefixes: Sequence[str]) -> None:
        self._echo, self._streams, self._prefixes = echo, streams, tuple(prefixes)

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """All listeners, then all that connect. In the first direction, the listener is the first
        part and the connector the last: two hosts, whose clocks the record relates.
        """
        # The streams outlast the last reply, which may be in flight for as long as the path takes.
        self._streams.lengthen(stage.round_trip_ns())
        pairs = [self._streams.direction(stage, prefix) for prefix in self._prefixes]
        pairs.append(self._echo.direction(stage, ""))
        listens = [[listen] for listen, _ in pairs]
        connects = [[connect] for _, connect in reversed(pairs)]
        return [*listens, *connects]

    def longest_s(self) -> float:
        if not self._prefixes:
            return self._echo.longest_s()
        return max(self._echo.longest_s(), self._streams.longest_s())

    def round_trips(self) -> int:
        """Round trips of the longer of both, and one by which the streams are lengthened."""
        return 1 + max(self._echo.round_trips(), self._streams.round_trips())

    def progress(self, lines: Sequence[Line | None]) -> Progress:
        """Progress of the streams by direction, from the listener; without streams, of the echo."""
        half = len(lines) // 2
        # Connecting parts are in reverse order.
        pairs = list(zip(lines[:half], reversed(lines[half:]), strict=True))
        if not self._prefixes:
            return self._echo.progress(pairs[0])
        found = self._streams.progress(pairs[0])
        if len(self._prefixes) < 2 or pairs[1][0] is None:
            return found
        return replace(found, reverse=self._streams.progress(pairs[1]))

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, RoleResult]:
        return self._streams.collect(reports)
