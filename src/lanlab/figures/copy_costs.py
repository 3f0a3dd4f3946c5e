"""Goodput of single files against their size, and the cost of each byte and each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.copy_cost import CopyCost, copy_costs
from lanlab.analysis.file_sizes import SizeClass, classes_of
from lanlab.analysis.summary import limit_of
from lanlab.analysis.wires import wire_of
from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, far_apart, point_of_trials
from lanlab.figures.number_text import counted
from lanlab.figures.wording import Quantity, condition_text, quantity
from lanlab.plan import expand
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study
from lanlab.units import format_size
from lanlab.workloads import WORKLOADS

_FILE_TIME = "file_time_p50_s"
_DRAWN = (
    "Bytes over time from opening to close, of all files of a doubling of the size together; "
    "means of the trials with 95 % intervals; rings next to them are single trials."
)


def goodput_against_file_size(data: FigureData) -> Chart:
    """A line for each condition, over all datasets. Long axes are logarithmic.

    Trials without times of their files (`lanlab.analysis.file_sizes`) are not drawn.
    """
    y = quantity(data.study, "goodput_bps")
    lines: dict[str, list[Point]] = {}
    versions: set[Level] = set()
    trials = counting([trial for trial in data.trials if trial.purpose == "trial"])
    for condition in expand(data.study, data.run.scale):
        if condition.experiment not in data.figure.experiments:
            continue
        if _FILE_TIME not in WORKLOADS[condition.workload].metrics:
            continue
        place = condition.experiment, dict(condition.factors)
        own = [trial for trial in trials if (trial.experiment, trial.factors) == place]
        rest = {k: v for k, v in condition.factors.items() if k != "dataset"}
        name = data.named(rest)
        versions.add(condition.parameters.get("ip_version", 4))
        limit = limit_of("goodput_bps", dict(condition.parameters), wire_of(data.run))
        points = _points(own, data.study, condition.factors, y, limit)
        lines.setdefault(name, []).extend(points)
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
        found.append(point_of_trials(size / 1e3, y, "goodput_bps", rates, words, limit))
    return found


def _limits(
    run: RunRecord, xs: Sequence[float], unit: float, versions: set[Level]
) -> tuple[Limit, ...]:
    link = wire_of(run)
    if link is None or not xs or len(versions) != 1:
        return ()
    level = link.goodput_limit_bps("tcp", int(versions.pop()), None) / unit
    # Widen the line for a single size, so that it is visible.
    room = 1.2 if min(xs) == max(xs) else 1.0
    return (Limit(link.limit_name, ((min(xs) / room, level), (max(xs) * room, level))),)


_COSTS_DRAWN = (
    "By least squares over the trials of all datasets, with 95 % intervals in both directions."
)


def cost_per_byte_and_file(data: FigureData) -> Chart:
    """A point for each condition of the figure's experiments, over all datasets: lower is cheaper
    per byte, left is cheaper per file. Conditions whose costs cannot be separated are not drawn.
    """
    found = [
        cost for name in data.figure.experiments for cost in copy_costs(data.run, data.trials, name)
    ]
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
