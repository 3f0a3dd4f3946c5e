"""Common code of figures: groups conditions into series, and makes points from summaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from lanlab.analysis.links.wires import link_at
from lanlab.analysis.published.values import is_own, points_for
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import ConditionTrials, Summary, interval_of_mean
from lanlab.figures.chart import Axis, Chart, Kind, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.number_text import plain
from lanlab.figures.published_values import level_title, levels_text
from lanlab.figures.wording import (
    BOUNDS,
    Quantity,
    condition_text,
    level_text,
    link_text,
    obtained,
    quantity,
    quoted,
    server_names,
)
from lanlab.store import Level, TrialRecord
from lanlab.studies.model import Experiment, Figure, Study
from lanlab.studies.published import Published, PublishedValue
from lanlab.workloads.copy.datasets import mean_file_bytes

#: If published and measured numbers differ by a larger factor, they need a logarithmic axis.
_MOST_ON_A_LINEAR_AXIS = 20.0
_ONE_TRANSFER = {"goodput_bps", "elapsed_ns"}


class FigureData(RunData):
    def __init__(self, data: RunData, figure: Figure, trials: Sequence[TrialRecord]) -> None:
        super().__init__(data.run, trials, data.study, data.published)
        if trials is data.trials:
            self.counting = data.counting
            self._conditions, self._summaries = data._conditions, data._summaries
            self.found = data.found
        self.figure = figure

    def with_figure(self, figure: Figure) -> FigureData:
        return FigureData(self, figure, self.trials)

    def drawn(self, metric: str) -> list[Summary]:
        return [s for name in self.figure.experiments for s in self.summaries(name, metric)]

    def own_summaries(self, metric: str) -> list[Summary]:
        own = [e.id for e in self._experiments if metric in e.metrics]
        return [s for name in own for s in self.summaries(name, metric)]

    def called(self, factors: Mapping[str, Level]) -> str:
        return called(self.study, self.published, factors)

    def named(self, factors: Mapping[str, Level]) -> str:
        """The condition in words; if nothing is varied, how the numbers were obtained."""
        return self.called(factors) or obtained(self.study)

    def metric(self, beginning: str, default: str) -> str:
        every = (metric for experiment in self._experiments for metric in experiment.metrics)
        return next((metric for metric in every if metric.startswith(beginning)), default)

    def in_series(
        self, summaries: Sequence[Summary], x_factors: Collection[str]
    ) -> dict[str, list[Summary]]:
        """Conditions by experiment, and by the levels of all factors except the one on the x axis,
        named as in the study.
        """
        groups: dict[tuple[str, str], list[Summary]] = {}
        for summary in summaries:
            rest = {k: v for k, v in summary.factors.items() if k not in x_factors}
            groups.setdefault((summary.experiment, self.called(rest)), []).append(summary)
        return dict(zip(self.series_names(groups), groups.values(), strict=True))

    def series_names(self, groups: Collection[tuple[str, str]]) -> list[str]:
        """Names of series by experiment and condition. If they would not differ, they also have the
        levels of published factors that differ between the experiments, or else their titles.
        """
        drawn = {of for of, _ in groups}
        own = {one.id: one.parameters for one in self.study.experiment if one.id in drawn}
        keys = [
            factor.name
            for factor in self.published.factor
            if len({repr(levels.get(factor.name)) for levels in own.values()}) > 1
        ]
        for shown in ((), keys):
            more = {of: self.called({k: at[k] for k in shown if k in at}) for of, at in own.items()}
            names = [", ".join(filter(None, (said, more[of]))) for of, said in groups]
            if len(set(names)) == len(groups) and ("" not in names or len(names) == 1):
                return [name or obtained(self.study) for name in names]
        titles = [(self.study.titles[of], said) for of, said in groups]
        return [", ".join(filter(None, both)) for both in titles]

    def lines(
        self,
        groups: Mapping[str, Sequence[Summary]],
        x_of: Callable[[Summary], float | None],
        shown: Quantity,
        kind: Kind = "line",
    ) -> tuple[Series, ...]:
        return tuple(
            Series(name, points_of(own, x_of, shown, self.study), kind)
            for name, own in groups.items()
        )

    def chart(
        self, x: Axis | str, y: Axis | str, series: Sequence[Series], said: str = "", **more: Any
    ) -> Chart:
        """
        A chart with the figure's title.

        Args:
            x, y: An axis, or the key of its quantity, logarithmic if the values are far apart.
            said: The caption before what is drawn.
            more: Other fields of the chart; `drawn` replaces the usual words on means.
        """
        over = ""
        if self.study.is_simulated:
            over = " over seeds of the model"
            more.setdefault("interval", "95 % over seeds")
        links = [link_at(self.run, o.parameters, self.study) for o in self.drawn_conditions]
        drawn, where = more.pop("drawn", _MEANS.format(over)), link_text(self.run, links)
        made = f"{where[0].upper()}{where[1:]}; run {self.run.id}."
        caption = " ".join(filter(None, (said, drawn, made)))
        points = [point for one in series for point in one.points]
        marks = [mark for one in more.get("published", ()) for mark in one.marks]
        if isinstance(y, str):
            ys = [one.y for one in (*points, *marks)]
            y = axis(self.study, y, logarithmic=far_apart(ys))
        if isinstance(x, str):
            x = axis(self.study, x, logarithmic=far_apart([point.x for point in points]))
        title = f"{self.figure.title[0].upper()}{self.figure.title[1:]}"
        return Chart(title, x, y, tuple(series), caption=caption, **more)

    @property
    def drawn_trials(self) -> list[TrialRecord]:
        """The trials of the figure's experiments that count."""
        return [trial for trial in self.counting if trial.experiment in self.figure.experiments]

    @property
    def drawn_conditions(self) -> list[ConditionTrials]:
        return [one for drawn in self._experiments for one in self.conditions(drawn.id)]

    @property
    def _experiments(self) -> list[Experiment]:
        return [one for one in self.study.experiment if one.id in self.figure.experiments]


def called(study: Study, published: Published, factors: Mapping[str, Level]) -> str:
    """A condition in a few words, with published names in place of level ids."""
    every = (level for one in study.experiment for level in one.factors.get("server", ()))
    own = [*dict.fromkeys(every)]
    servers = server_names(own) if all("://" in str(level) for level in own) else {}
    return ", ".join(
        level_title(published, key, level)
        if isinstance(level, str) and published.named_level(key, level) is not None
        else servers[level]
        if key == "server" and level in servers
        else level_text(study, key, level)
        for key, level in factors.items()
    )


def place_along(factor: str, shown: Quantity) -> Callable[[Summary], float | None]:
    """The position of a condition on the axis of a numeric factor."""

    def place(summary: Summary) -> float | None:
        level = summary.factors.get(factor)
        is_number = isinstance(level, int | float) and not isinstance(level, bool)
        return shown.shown(float(level)) if is_number and level is not None else None

    return place


def points_of(
    summaries: Sequence[Summary],
    x_of: Callable[[Summary], float | None],
    shown: Quantity,
    study: Study,
) -> tuple[Point, ...]:
    """Points for the conditions with a mean and a position, ascending in x."""
    found = []
    for summary in summaries:
        x = x_of(summary)
        if x is not None and summary.mean is not None:
            ends = summary.ci_low, summary.ci_high
            words = condition_text(study, summary.factors)
            found.append(mean_point(x, shown, summary.mean, ends, summary.values, words))
    return tuple(sorted(found, key=lambda point: point.x))


def mean_point(
    x: float,
    shown: Quantity,
    mean: float,
    ends: tuple[float | None, float | None] | None,
    values: Sequence[float],
    condition: str,
) -> Point:
    """A mean over trials with its interval; all values in the unit of records."""
    low, high = (None if one is None else shown.shown(one) for one in ends or (None, None))
    return Point(x, shown.shown(mean), low, high, tuple(map(shown.shown, values)), condition)


def point_of_trials(
    x: float,
    shown: Quantity,
    goodputs_bps: Sequence[float],
    condition: str,
    limit_bps: float | None = None,
) -> Point:
    """The mean goodput of trials and its interval."""
    ends = interval_of_mean("goodput_bps", goodputs_bps, limit_bps)
    mean_bps = math.fsum(goodputs_bps) / len(goodputs_bps)
    return mean_point(x, shown, mean_bps, ends, goodputs_bps, condition)


def published_of(
    groups: Mapping[str, Sequence[Summary]],
    x_of: Callable[[Summary], float | None],
    shown: Quantity,
    published: Published,
    study: Study,
) -> tuple[PublishedSeries, ...]:
    found: dict[tuple[str, str], tuple[int, list[PublishedMark]]] = {}
    for index, (name, group) in enumerate(groups.items()):
        for summary in group:
            for point in points_for(summary, published, study):
                if point.value.statistic != "mean":
                    continue
                theirs = _their_words(published, point.value, summary.parameters)
                words = [theirs, name if len(groups) > 1 else ""]
                mark = PublishedMark(
                    x_of(summary), shown.shown(point.value.si), printed(point.value)
                )
                key = ", ".join(filter(None, words)), mark_kind(point.value, published, study)
                found.setdefault(key, (index, []))[1].append(mark)
    return tuple(
        PublishedSeries(name, tuple(marks), kind, index)
        for (name, kind), (index, marks) in sorted(found.items())
    )


def mark_kind(value: PublishedValue, published: Published, study: Study) -> str:
    """The kind of a published value's mark: next to simulated ones, also its role in the fit."""
    # The time and the rate of a transfer are one measurement.
    same = {
        one.id
        for one in published.value
        if one is value
        or (one.condition == value.condition and {one.metric, value.metric} == _ONE_TRANSFER)
    }
    if study.is_simulated and study.simulation is not None:
        if same & set(study.simulation.fitted):
            return "published, fitted"
        if same & set(study.simulation.held_out):
            return "published, held out"
    return "published"


def _their_words(published: Published, value: PublishedValue, known: Mapping[str, Level]) -> str:
    keys = [key for key in value.condition if key not in known]
    return levels_text(published, value.condition, keys)


def printed(value: PublishedValue) -> str:
    """A published number with its place in the publication; also its meaning, if the scan broke up
    the number.
    """
    read = f" (read as {plain(value.value)})" if value.status == "OCR repaired" else ""
    return f"{quoted(value.published)}{read}, {value.where}"


def published_levels(
    summaries: Sequence[Summary],
    published: Published,
    shown: Quantity,
    study: Study,
    places: Mapping[str, float] | None = None,
) -> tuple[PublishedSeries, ...]:
    """
    Maximum rates and shares of the link that the study published for these conditions.

    Args:
        places: The x of numbers that are no maximum over all of it, by their ids.
    """
    if not summaries:
        return ()
    # The levels that the conditions share select the published numbers.
    common = {
        key: level
        for key, level in summaries[0].parameters.items()
        if all(summary.parameters.get(key) == level for summary in summaries)
    }
    limits = {summary.limit for summary in summaries if summary.limit is not None}
    levels: dict[tuple[float, float | None, str], dict[str, str]] = {}
    for value in published.value:
        agreeing = {common[key] == level for key, level in value.condition.items() if key in common}
        if value.metric != "goodput_bps" or not is_own(value) or agreeing != {True}:
            continue
        if value.statistic == "maximum":
            si = value.si
        elif value.statistic == "share_of_link" and len(limits) == 1:
            si = value.si * max(limits)
        else:
            continue
        about = f"{BOUNDS[value.bound]}, " if value.bound else ""
        series = _their_words(published, value, common)
        kind = mark_kind(value, published, study)
        place = shown.shown(si), (places or {}).get(value.id), kind
        levels.setdefault(place, {})[series] = about + printed(value)
    return tuple(
        PublishedSeries(
            " and ".join(said), (PublishedMark(x, level, "; ".join(said.values())),), kind
        )
        for (level, x, kind), said in sorted(levels.items(), key=lambda one: -one[0][0])
    )


def far_apart(values: Collection[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > _MOST_ON_A_LINEAR_AXIS


def in_order(levels: Iterable[Level]) -> list[Level]:
    """Levels in the order of an axis: numbers ascending, datasets by file size, others as given."""
    found = list(levels)
    numbers = [level for level in found if isinstance(level, int | float)]
    if len(numbers) == len(found):
        return sorted(numbers)
    sizes = {level: size for level in found if (size := mean_file_bytes(level)) is not None}
    return sorted(found, key=sizes.__getitem__) if len(sizes) == len(found) else found


def axis(study: Study, key: str, *, logarithmic: bool = False) -> Axis:
    shown = quantity(study, key)
    return Axis(shown.name, shown.unit, logarithmic)


def category_axis(study: Study, published: Published, key: str, levels: Sequence[Level]) -> Axis:
    """An axis with a position for each level of a factor, by the study's name."""
    names = tuple(called(study, published, {key: level}) for level in levels)
    return Axis(quantity(study, key).name if key else "", "", categories=names)


_MEANS = (
    "Means of the trials; error bars are 95 % intervals{}, from three trials on; "
    "open circles are single trials."
)
