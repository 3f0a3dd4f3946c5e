"""Rates, times and costs of copies: of files by their size, of every trial, and as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.copies.cost import CopyCost, copy_costs
from lanlab.analysis.copies.file_sizes import SizeClass, classes_of
from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.published.values import amount_of, is_own
from lanlab.analysis.trials.summary import Summary, limit_of
from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.gather import FigureData, far_apart, in_order, point_of_trials, printed
from lanlab.figures.number_text import counted
from lanlab.figures.wording import Quantity, condition_text, obtained, quantity
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.counterparts import in_published_words, stands_for_something
from lanlab.studies.model import Figure, Study
from lanlab.studies.published import Published, PublishedValue
from lanlab.units import format_size

_DRAWN = (
    "Bytes over time from opening to close, of all files of a doubling of the size together; "
    "means of the trials with 95 % intervals; rings next to them are single trials."
)


def goodput_against_file_size(data: FigureData) -> Chart:
    """A line for each condition, over all datasets. Long axes are logarithmic.

    Trials without times of their files (`lanlab.analysis.copies.file_sizes`) are not drawn.
    """
    y = quantity(data.study, "goodput_bps")
    lines: dict[str, list[Point]] = {}
    versions: set[Level] = set()
    for one in data.drawn_conditions:
        rest = {key: level for key, level in one.factors.items() if key != "dataset"}
        versions.add(one.parameters.get("ip_version", 4))
        limit = limit_of("goodput_bps", one.parameters, wire_of(data.run))
        points = _points(one.counted, data.study, one.factors, y, limit)
        lines.setdefault(data.named(rest), []).extend(points)
    series = tuple(
        Series(name, tuple(sorted(points, key=lambda point: point.x)))
        for name, points in lines.items()
        if points
    )
    xs = [point.x for one in series for point in one.points]
    return data.chart(
        Axis("size of a file", "kB", logarithmic=True),
        "goodput_bps",
        series,
        drawn=_DRAWN,
        limits=_limits(data.run, xs, y.si_per_unit, versions),
        empty="no times of files",
    )


def _points(
    trials: Sequence[TrialRecord],
    study: Study,
    factors: Mapping[str, Level],
    y: Quantity,
    limit: float | None,
) -> list[Point]:
    by_power: dict[int, list[SizeClass]] = {}
    for trial in trials:
        for one in classes_of(trial):
            by_power.setdefault(one.power, []).append(one)
    found = []
    for classes in by_power.values():
        rates = [8e9 * one.octets / one.time_ns for one in classes if one.time_ns > 0]
        if not rates:
            continue
        files, octets = sum(c.files for c in classes), sum(c.octets for c in classes)
        size = octets / files
        each = counted(files // len(classes), "file")
        words = f"{each} of {format_size(round(size))} on average"
        words = ", ".join(filter(None, [condition_text(study, factors), words]))
        found.append(point_of_trials(size / 1e3, y, rates, words, limit))
    return found


def _limits(
    run: RunRecord, xs: Sequence[float], unit: float, versions: set[Level]
) -> tuple[Limit, ...]:
    link = wire_of(run)
    if link is None or not xs or len(versions) != 1:
        return ()
    level = link.goodput_limit_bps("tcp", int(versions.pop()), None) / unit
    return (Limit(link.limit_name, ((min(xs), level), (max(xs), level))),)


_COSTS_DRAWN = (
    "By least squares over the trials of all datasets, with 95 % intervals in both directions."
)


def cost_per_byte_and_file(data: FigureData) -> Chart:
    """A point for each condition of the figure's experiments, over all datasets: lower is cheaper
    per byte, left is cheaper per file. Conditions whose costs cannot be separated are not drawn.
    """
    found = [cost for name in data.figure.experiments for cost in copy_costs(data, name)]
    drawn = [
        Series(data.named(cost.factors), (point,), "points")
        for cost in found
        if (point := _cost_point(cost, data.study)) is not None
    ]
    left_out = len(found) - len(drawn)
    text = f"{left_out} of {len(found)} conditions are not drawn: costs not separated."
    return data.chart(
        Axis("cost of a file", "ms", logarithmic=far_apart([one.points[0].x for one in drawn])),
        Axis("cost of a GB", "s", logarithmic=far_apart([one.points[0].y for one in drawn])),
        drawn,
        text if left_out else "",
        drawn=_COSTS_DRAWN,
        empty="no costs could be separated",
    )


def _cost_point(cost: CopyCost, study: Study) -> Point | None:
    byte, file = cost.per_byte, cost.per_file
    if byte is None or file is None:
        return None
    low, high = (None if end is None else 1e9 * end for end in (byte.low, byte.high))
    x_low, x_high = (None if end is None else 1e3 * end for end in (file.low, file.high))
    x, y, words = 1e3 * file.value, 1e9 * byte.value, condition_text(study, cost.factors)
    return Point(x, y, low, high, (), words, x_low, x_high)


_TIMES_DRAWN = "Points are means with 95 % intervals, rings below them single trials."


def copy_times(data: FigureData) -> Chart:
    """The figure's `metric`, by default the rate, as rows: first each condition, with its datasets
    side by side, then the published conditions. These have a mark for each trial, or for the mean
    if the study published no trials.
    """
    metric = data.figure.metric or "goodput_bps"
    y = quantity(data.study, metric)
    found = data.drawn(metric)
    found = [summary for summary in found if summary.mean is not None]
    levels = (s.factors["dataset"] for s in found if "dataset" in s.factors)
    place_of = {level: place for place, level in enumerate(in_order(dict.fromkeys(levels)))}
    found.sort(key=lambda s: place_of.get(s.factors.get("dataset", ""), -1))
    several = len({summary.experiment for summary in found}) > 1
    rows: dict[str, int] = {}
    place: dict[int, float] = {}
    series: dict[str, list[Summary]] = {}
    for summary in found:
        rest = {k: v for k, v in summary.factors.items() if k != _inside(summary)}
        words = [data.study.titles[summary.experiment] if several else "", data.called(rest)]
        name = ", ".join(filter(None, words)) or _what(data.study, summary)
        place[id(summary)] = float(rows.setdefault(name, len(rows)))
        series.setdefault(_dataset(data.study, data.published, summary), []).append(summary)
    marks = _published(data.study, data.published, data.figure, metric, rows)
    text = ""
    if metric == "elapsed_ns" and (marks or len(series) > 1):
        text = "Times of different amounts do not compare; rates do."
    return data.chart(
        Axis("", "", categories=tuple(rows)),
        metric,
        data.lines(series, lambda s: place[id(s)], y, "points"),
        text,
        drawn=_TIMES_DRAWN,
        published=tuple(
            PublishedSeries(name, tuple(_mark(row, y, value) for row, value in own))
            for name, own in marks.items()
        ),
        sideways=True,
    )


def _mark(row: float, y: Quantity, value: PublishedValue) -> PublishedMark:
    is_rate_of_trial = (value.metric, value.statistic) == ("goodput_bps", "trial")
    text = f"{printed(value)}, in {value.unit}" if is_rate_of_trial else printed(value)
    return PublishedMark(row, y.shown(value.si), text)


def _what(study: Study, summary: Summary) -> str:
    keys = [key for key in ("service", "dataset") if key in summary.parameters]
    named = {str(key): summary.parameters[key] for key in keys if key not in summary.factors}
    return condition_text(study, named) or obtained(study)


def _inside(summary: Summary) -> str:
    return "dataset" if "dataset" in summary.factors else next(reversed(summary.factors), "")


def _dataset(study: Study, published: Published, summary: Summary) -> str:
    factor = _inside(summary)
    if factor not in summary.factors:
        return obtained(study)
    level = {factor: summary.factors[factor]}
    here = condition_text(study, level)
    for one in study.counterpart:
        if one.factor == factor and one.levels:
            for words in in_published_words(study, summary.experiment, level):
                own = words.get(one.published)
                if own is None or own == summary.factors[factor]:
                    continue
                if not any(known.name == one.published for known in published.factor):
                    # The publication has no such factor, so use the same text for all experiments.
                    return condition_text(study, {one.published: own})
                return f"{here}, for {_short_title(published, one.published, own)}"
    return here


def _published(
    study: Study, published: Published, figure: Figure, metric: str, rows: dict[str, int]
) -> dict[str, list[tuple[float, PublishedValue]]]:
    """Marks by their subject, each with its row; new rows are appended.

    Rows are systems, and published levels without our counterpart. Levels with a counterpart are
    different kinds of marks.
    """
    if not study.counterpart:
        return {}
    own = [
        value
        for value in (*published.value, *_rates_of_trials(published))
        if value.metric == metric
        and is_own(value)
        and value.experiment in (None, *figure.experiments)
        and value.statistic in ("trial", "mean")
    ]
    has_trials = any(value.statistic == "trial" for value in own)
    wanted = "trial" if has_trials else "mean"
    known = [factor.name for factor in published.factor if factor.name != "trial"]
    in_rows = {one.published for one in study.counterpart if one.factor == "service"}
    kinds = [name for name in known if stands_for_something(study, name) and name not in in_rows]
    # Put the protocol before the system.
    others = [name for name in known if name not in kinds]
    others.sort(key=lambda name: not any(one.published == name for one in study.counterpart))
    found: dict[str, list[tuple[float, PublishedValue]]] = {}
    for value in own:
        if value.statistic != wanted:
            continue
        row = "published: " + _words(published, others, value)
        name = _words(published, kinds, value)
        found.setdefault(name, []).append((float(rows.setdefault(row, len(rows))), value))
    return found


def _rates_of_trials(published: Published) -> list[PublishedValue]:
    trials = [value for value in published.value if value.statistic == "trial"]
    if any(value.metric == "goodput_bps" for value in trials):
        return []
    found = []
    for value in trials:
        amount = amount_of(published, value.condition)
        if value.metric == "elapsed_ns" and amount is not None:
            rate = {"metric": "goodput_bps", "si": 8e9 * amount / value.si, "si_unit": "bit/s"}
            found.append(value.model_copy(update=rate))
    return found


def _words(published: Published, factors: Sequence[str], value: PublishedValue) -> str:
    levels = [(name, value.condition[name]) for name in factors if name in value.condition]
    return ", ".join(_short_title(published, name, level) for name, level in levels)


def _short_title(published: Published, factor: str, level: Level) -> str:
    named = published.named_level(factor, level)
    return str(level) if named is None else named.title.partition(" (")[0]
