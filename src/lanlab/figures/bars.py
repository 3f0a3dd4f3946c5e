"""A bar for each condition, and for each of several flows on a shared link."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.trials.summary import Summary, interval_of_mean
from lanlab.figures.chart import (
    Axis,
    Chart,
    Limit,
    PublishedMark,
    PublishedSeries,
    Series,
    limit_span,
)
from lanlab.figures.gather import (
    FigureData,
    axis,
    category_axis,
    far_apart,
    in_order,
    point_of_trials,
    published_levels,
    published_of,
)
from lanlab.figures.number_text import with_interval
from lanlab.figures.wording import Quantity, obtained, quantity
from lanlab.store import TrialRecord
from lanlab.workloads.stream.results import flow_goodputs_bps

Place = Callable[[Summary], float]

#: Limits of bars that differ by less, as those of two carriers do, are one line.
_ALIKE = 1.05


def bars(data: FigureData) -> Chart:
    """The first metric of the experiments: grouped by the last factor, one bar for each combination
    of the others.
    """
    metric = data.metric("", "goodput_bps")
    y = quantity(data.study, metric)
    found = data.own_summaries(metric)
    factor = next(reversed(found[0].factors), "") if found else ""
    levels = in_order(dict.fromkeys(s.factors[factor] for s in found if factor in s.factors))

    def place(summary: Summary) -> float:
        level = summary.factors.get(factor)
        return float(levels.index(level)) if level in levels else 0.0

    groups = data.in_series(found, (factor,))
    marks = list(published_of(groups, place, y, data.published, data.study))
    if not marks:
        marks = _levels(found, place, data, y)
    means = [y.shown(s.mean) for s in found if s.mean is not None]
    return data.chart(
        category_axis(data.study, data.published, factor, levels),
        axis(data.study, metric, logarithmic=far_apart(means)),
        data.lines(groups, place, y, "bars"),
        limits=_limits(groups, place, y),
        published=tuple(marks),
    )


def _levels(
    found: Sequence[Summary], place: Place, data: FigureData, y: Quantity
) -> list[PublishedSeries]:
    marks: dict[tuple[str, str], list[PublishedMark]] = {}
    for summary in found:
        for level in published_levels([summary], data.published, y, data.study):
            marks.setdefault((level.name, level.kind), []).extend(
                replace(mark, x=place(summary)) for mark in level.marks
            )
    return [PublishedSeries(name, tuple(those), kind) for (name, kind), those in marks.items()]


def _limits(
    groups: Mapping[str, Sequence[Summary]], place: Place, y: Quantity
) -> tuple[Limit, ...]:
    own = [
        tuple((place(one), y.shown(one.limit)) for one in group if one.limit is not None)
        for group in groups.values()
    ]
    levels = [level for points in own for _, level in points]
    if not levels or max(levels) > _ALIKE * min(levels):
        # Each bar has its own, so one name is enough.
        return tuple(Limit("link limit", points, n) for n, points in enumerate(own) if points)
    name = "link limit" if min(levels) == max(levels) else "highest link limit"
    spans = [limit_span(at, n, len(own)) for n, points in enumerate(own) for at, _ in points]
    sides = [end for span in spans for end in span]
    return (Limit(name, ((min(sides), max(levels)), (max(sides), max(levels)))),)


_CONTROLS = {"cubic": "CUBIC", "reno": "Reno", "bbr": "BBR", "dctcp": "DCTCP", "vegas": "Vegas"}


def flow_shares(data: FigureData) -> Chart:
    """Goodput of each flow, a bar for each, coloured by its congestion control.

    It shows the condition with the most flows, or the first of several such. For few flows a table
    is enough.
    """
    condition = max(
        data.drawn_conditions, key=lambda c: int(c.parameters.get("flows", 1)), default=None
    )
    if condition is None:
        # A search has no conditions, so there are no flows to show.
        return Chart(data.figure.title, Axis("flow", ""), axis(data.study, "goodput_bps"), ())
    own = condition.counted
    y = quantity(data.study, "goodput_bps")
    flows = int(condition.parameters.get("flows", 1))
    measured = [flow_goodputs_bps(trial.result("receiver").get("flows", ())) for trial in own]
    by_flow = [
        [goodputs[flow] for goodputs in measured if flow < len(goodputs)] for flow in range(flows)
    ]
    controls = str(condition.parameters.get("congestion_control", "")).split(",")
    said = data.named(condition.factors)
    return data.chart(
        Axis("flow", "", categories=tuple(str(flow + 1) for flow in range(flows))),
        axis(data.study, "goodput_bps"),
        # A stack, because each position has the bar of only one series.
        [
            Series(
                _CONTROLS.get(control, control) or obtained(data.study),
                tuple(
                    point_of_trials(float(flow), y, values, f"{said}, flow {flow + 1}")
                    for flow, values in enumerate(by_flow)
                    if values and controls[flow % len(controls)] == control
                ),
                "stack",
            )
            for control in dict.fromkeys(controls[:flows])
        ],
        f"{said[0].upper()}{said[1:]}{_fairness(own)}.",
        drawn="Means of the trials.",
    )


def _fairness(trials: Sequence[TrialRecord]) -> str:
    indices = [trial.metrics["jain_index"] for trial in trials if "jain_index" in trial.metrics]
    if not indices:
        return ""
    mean = math.fsum(indices) / len(indices)
    return f": Jain's index {with_interval(mean, interval_of_mean('jain_index', indices))}"
