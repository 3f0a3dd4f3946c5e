"""
What closed loops of stations cannot exceed, from the greatest throughputs that were printed.

N stations that wait for nothing but the server have together N messages under way. So throughput
times response time is N messages (Little's law), and with a greatest throughput X the mean response
time of messages of M bytes is at least N M / X for every server.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.gather import printed
from lanlab.figures.number_text import plain
from lanlab.figures.published_tables import PublishedFigure
from lanlab.figures.published_values import levels_text
from lanlab.figures.wording import Quantity, quantity
from lanlab.studies import Published, PublishedValue, Study

_SIZE = "message_size_bytes"
_STATIONS = "stations"


def bound_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """
    Response time and throughput against the number of stations, with their operational bounds, a
    pair of figures for each operation and size of which two or more maxima are known.

    None where the study did not vary the number of stations.
    """
    counts = _station_counts(published)
    groups: dict[tuple[str, int], list[PublishedValue]] = {}
    for value in published.value:
        size = value.condition.get(_SIZE)
        is_maximum = (value.metric, value.statistic) == ("goodput_bps", "maximum")
        if is_maximum and value.kind in ("text", "derived") and isinstance(size, int):
            groups.setdefault((str(value.condition.get("operation", "")), size), []).append(value)
    if not counts:
        return []
    found = []
    for (operation, size), values in groups.items():
        if len(values) > 1:
            words = f"{operation} {plain(size)} byte".strip()
            name = f"bounds-{operation}-{size}".strip("-")
            ordered = sorted(values, key=lambda value: value.si)
            found.append(_response(study, published, ordered, counts, size, words, name))
            found.append(_throughput(study, published, ordered, counts, words, name))
    return found


def response_bound_ns(stations: int, size_bytes: int, most_bps: float) -> float:
    """
    The least mean response time of stations in a closed loop, ns.

    Args:
        stations: Each with one message under way.
        size_bytes: Bytes of a message.
        most_bps: The greatest throughput of the server, bit/s.

    Source:
        P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", Computing
        Surveys 10, 1978.

    Examples:
        >>> response_bound_ns(15, 750, 1_500_000) / 1e6
        60.0
    """
    return 8e9 * stations * size_bytes / most_bps


def _response(
    study: Study,
    published: Published,
    values: Sequence[PublishedValue],
    counts: Sequence[int],
    size: int,
    words: str,
    name: str,
) -> PublishedFigure:
    shown = quantity(study, "response_mean_ns")
    series = []
    for value in values:
        system = _system(published, value)
        points = [
            Point(
                float(count),
                shown.shown(response_bound_ns(count, size, value.si)),
                None,
                None,
                (),
                f"{system}, {count} stations, at least",
            )
            for count in counts
        ]
        series.append(Series(f"{system}: at least", tuple(points), "bound"))
    chart = Chart(
        title=f"Response time by stations, {words}: what the printed maxima leave",
        x=Axis("stations", ""),
        y=Axis(shown.name, shown.unit, logarithmic=True),
        series=tuple(series),
        limits=_links(published, counts, size, shown),
        caption="Lower bounds: stations times message over the greatest throughput, which was "
        "printed or follows from a printed ratio. The measured curves are lost.",
    )
    return PublishedFigure(f"{name}-response", chart, (), shown)


def _throughput(
    study: Study,
    published: Published,
    values: Sequence[PublishedValue],
    counts: Sequence[int],
    words: str,
    name: str,
) -> PublishedFigure:
    shown = quantity(study, "goodput_bps")
    ends = (float(min(counts)), float(max(counts)))
    series = tuple(
        Series(
            f"{_system(published, value)}: at most",
            tuple(
                Point(
                    float(count),
                    shown.shown(value.si),
                    None,
                    None,
                    (),
                    f"{_system(published, value)}, {count} stations, at most",
                )
                for count in counts
            ),
            "bound",
        )
        for value in values
    )
    marks = tuple(
        PublishedMark(None, shown.shown(value.si), printed(value))
        for value in values
        if value.published
    )
    limits = tuple(
        Limit(
            f"link of {plain(shown.shown(rate))} {shown.unit}",
            tuple((end, shown.shown(rate)) for end in ends),
        )
        for rate in _link_rates(published)
    )
    chart = Chart(
        title=f"Throughput by stations, {words}: what the printed maxima leave",
        x=Axis("stations", ""),
        y=Axis(shown.name, shown.unit, logarithmic=True),
        series=series,
        limits=limits,
        published=(PublishedSeries("greatest", marks),) if marks else (),
        caption="Upper bounds: the greatest throughput, which was printed or follows from a "
        "printed ratio. The measured curves are lost.",
    )
    return PublishedFigure(f"{name}-throughput", chart, (), shown)


def _links(
    published: Published, counts: Sequence[int], size: int, shown: Quantity
) -> tuple[Limit, ...]:
    return tuple(
        Limit(
            f"link of {plain(rate / 1e6)} Mbit/s alone",
            tuple((float(n), shown.shown(response_bound_ns(n, size, rate))) for n in counts),
        )
        for rate in _link_rates(published)
    )


def _link_rates(published: Published) -> list[float]:
    rates = {
        value.si
        for value in published.value
        if value.metric == "link_rate_bps" and value.where.startswith("Table")
    }
    return sorted(rates)


def _system(published: Published, value: PublishedValue) -> str:
    keys = [key for key in value.condition if key not in ("operation", _SIZE)]
    return levels_text(published, value.condition, keys)


def _station_counts(published: Published) -> list[int]:
    levels = [one for f in published.factor if f.name == _STATIONS for one in f.levels]
    return [one.level for one in levels if isinstance(one.level, int)]
