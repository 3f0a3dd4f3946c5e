"""What a simulated bus carries, and how long it takes, against the load offered to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.frozen import dataclass

#: Slot of Ethernet up to 100 Mbit/s, bits: IEEE 802.3, 4.4.2.
SLOT_BITS = 512
_OFFERED = Axis("offered load", "% of the rate")


def metcalfe_boggs_efficiency(frame_bytes: int, stations: int) -> float:
    """
    The efficiency of a bus by the formula of Metcalfe and Boggs: an orientation, not a limit.

    Stations that always have a frame are taken to contend in slots, each with the probability that
    is best for all. Real stations back off as each one's own collisions tell; on a short bus they
    do better with small frames.

    Args:
        frame_bytes: Length of a frame without preamble, with the check sequence.
        stations: Stations that always have a frame, from 1.

    Returns:
        Frame bits for each bit that the rate could carry, 0 to 1; without preamble and gap.

    Source:
        R. Metcalfe, D. Boggs, "Ethernet: Distributed Packet Switching for Local Computer Networks",
        Communications of the ACM 19(7), 1976, section 6.

    Examples:
        >>> [round(metcalfe_boggs_efficiency(size, 15), 3) for size in (64, 512, 832, 1518)]
        [0.381, 0.831, 0.889, 0.936]
        >>> metcalfe_boggs_efficiency(64, 1)
        1.0
    """
    # That exactly one of them sends in a slot, each with probability 1 / stations.
    acquires = (1 - 1 / stations) ** (stations - 1)
    waiting_slots = (1 - acquires) / acquires
    frame_bits = 8 * frame_bytes
    return frame_bits / (frame_bits + waiting_slots * SLOT_BITS)


@dataclass(frozen=True)
class LoadedMedium:
    """One load of one number of stations, computed several times with different seeds."""

    stations: int
    #: Frame bits that came to the adapters for each bit of the rate, over all seeds.
    offered_ratio: float
    #: Frame bits delivered for each bit of the rate, by seed.
    utilisation_ratios: tuple[float, ...]
    #: Mean time from adapter to receiver, by seed, ns.
    mean_delays_ns: tuple[float, ...]


def utilisation_chart(loads: Sequence[LoadedMedium], frame_bytes: int) -> Chart:
    """Utilisation against offered load, a line for each number of stations."""
    series = _series(loads, lambda load: tuple(100 * ratio for ratio in load.utilisation_ratios))
    places = [100 * load.offered_ratio for load in loads]
    ends = (min(places), max(places))
    guides = [
        Limit(
            f"Metcalfe & Boggs, {stations} stations",
            tuple((end, 100 * metcalfe_boggs_efficiency(frame_bytes, stations)) for end in ends),
            series=index,
            kind="guide",
        )
        for index, (stations, _) in enumerate(_by_stations(loads))
    ]
    return Chart(
        title=f"What a bus carries, frames of {frame_bytes} bytes",
        x=_OFFERED,
        y=Axis("utilisation", "% of the rate"),
        series=series,
        limits=tuple(guides),
        caption="Bits of frames without preamble and gap. The formula of Metcalfe and Boggs is of "
        "saturated stations: an orientation, not a limit.",
    )


def delay_chart(loads: Sequence[LoadedMedium], frame_bytes: int) -> Chart:
    """Mean delay against offered load, a line for each number of stations."""
    return Chart(
        title=f"How long a frame of {frame_bytes} bytes takes on a bus",
        x=_OFFERED,
        y=Axis("mean delay", "ms", logarithmic=True),
        series=_series(loads, lambda load: tuple(ns / 1e6 for ns in load.mean_delays_ns)),
        caption="From the frame's arrival at the adapter to its last bit at the receiver; of the "
        "frames that arrived.",
    )


def _by_stations(loads: Sequence[LoadedMedium]) -> Iterator[tuple[int, list[LoadedMedium]]]:
    by_stations = sorted(loads, key=lambda load: (load.stations, load.offered_ratio))
    for stations, group in groupby(by_stations, key=lambda load: load.stations):
        yield stations, list(group)


def _series(
    loads: Sequence[LoadedMedium], values_of: Callable[[LoadedMedium], tuple[float, ...]]
) -> tuple[Series, ...]:
    return tuple(
        Series(
            f"{stations} stations",
            tuple(_point(load, values_of(load)) for load in group),
        )
        for stations, group in _by_stations(loads)
    )


def _point(load: LoadedMedium, values: tuple[float, ...]) -> Point:
    from lanlab.analysis.statistics.intervals import mean_interval

    offered = 100 * load.offered_ratio
    condition = f"{load.stations} stations, {offered:.1f} % offered"
    if len(values) < 2:
        return Point(offered, values[0], None, None, (), condition, n=1)
    seen = mean_interval(values)
    return Point(offered, seen.mean, seen.low, seen.high, (), condition, n=seen.n)
