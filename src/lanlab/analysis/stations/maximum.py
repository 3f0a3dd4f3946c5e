"""The maximum throughput, its number of stations, and whether more stations reduce it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.analysis.stations.levels import StationCurve
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.analysis.statistics.intervals import MeanInterval
    from lanlab.analysis.statistics.trend import PeakThenDecline

_LEVEL = 0.05


@dataclass(frozen=True)
class GreatestThroughput:
    stations: int
    #: Operations per second, geometric mean; its interval is `None` for a single trial. The
    #: greatest of several means is biased upwards, for which the interval is not corrected.
    operations_per_s: float
    interval: MeanInterval | None
    #: Numbers of stations whose throughput does not differ from the maximum (Welch's test, 5 % over
    #: all levels by Bonferroni), including the peak. With single trials, only the peak.
    alike: tuple[int, ...]
    #: Tests of the rise before the peak and the fall after; `None` with too few levels or trials.
    shape: PeakThenDecline | None

    @property
    def declines(self) -> bool:
        """Whether more stations are shown to reduce the total throughput."""
        return self.shape is not None and self.shape.decline_p < _LEVEL


def greatest_throughput(curve: StationCurve) -> GreatestThroughput:
    # This loads a part of scipy.
    from lanlab.analysis.statistics.trend import peak_then_decline
    from lanlab.analysis.statistics.two_groups import welch

    peak = max(curve.levels, key=lambda level: level.throughput)
    alike = []
    for level in curve.levels:
        if level is peak:
            alike.append(level.stations)
        elif peak.trials > 1 and level.trials > 1:
            try:
                found = welch(peak.operations_per_s, level.operations_per_s, scale="log")
            except NoSpread:
                continue
            # One-sided, because the peak was chosen as the greatest; with as many tests as levels.
            if found.p_greater * (len(curve.levels) - 1) >= _LEVEL:
                alike.append(level.stations)
    try:
        shape = peak_then_decline([level.operations_per_s for level in curve.levels])
    except (UnfitValues, NoSpread):
        shape = None
    return GreatestThroughput(
        stations=peak.stations,
        operations_per_s=peak.throughput,
        interval=peak.interval(of="throughput"),
        alike=tuple(alike),
        shape=shape,
    )
