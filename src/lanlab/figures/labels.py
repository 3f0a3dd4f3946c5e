"""Labels of a figure that name only the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart

_BETWEEN = ", "


def with_distinct_labels(chart: Chart) -> Chart:
    """Remove from the names of a figure's series, categories, published values and limits the parts
    that all share, which the caption contains.
    """
    before = [series.name for series in chart.series]
    shared = shared_parts(before)
    names = [_without(name, shared) for name in before]
    said = [part for part in before[0].split(_BETWEEN) if part in shared] if shared else []
    return replace(
        chart,
        caption=f"{chart.caption} {_BETWEEN.join(said)} throughout." if said else chart.caption,
        x=replace(chart.x, categories=distinct(chart.x.categories)),
        series=tuple(
            replace(series, name=name) for series, name in zip(chart.series, names, strict=True)
        ),
        published=tuple(replace(one, name=_without(one.name, shared)) for one in chart.published),
        limits=tuple(replace(one, name=_without(one.name, shared)) for one in chart.limits),
    )


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """
    Names without their common parts.

    Examples:
        >>> distinct(["IPv4, 64 B", "IPv6, 64 B"]), distinct(["IPv4, 64 B"])
        (('IPv4', 'IPv6'), ('IPv4, 64 B',))
    """
    shared = shared_parts(names)
    return tuple(_without(name, shared) for name in names)


def shared_parts(names: Sequence[str]) -> frozenset[str]:
    """The common parts of several names; empty if a name would be nothing without them."""
    # After a colon, commas have another meaning.
    if len(set(names)) < 2 or any(": " in name for name in names):
        return frozenset()
    parts = [set(name.split(_BETWEEN)) for name in names]
    shared = frozenset(set.intersection(*parts))
    return frozenset() if any(one <= shared for one in parts) else shared


def _without(name: str, shared: frozenset[str]) -> str:
    return _BETWEEN.join(part for part in name.split(_BETWEEN) if part not in shared)
