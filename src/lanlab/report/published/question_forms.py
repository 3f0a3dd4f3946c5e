"""The numbers of a body of evidence, and the answers to a study's question from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from lanlab.analysis.findings.evidence import Cell, Evidence, matches
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Sample, Trials
from lanlab.analysis.published import amount_of
from lanlab.analysis.summary import LEAST_FOR_INTERVAL, interval_of_mean
from lanlab.errors import LabError
from lanlab.figures.number_text import number, plain, with_interval
from lanlab.figures.published_values import level_title, levels_text
from lanlab.figures.wording import Quantity, quantity
from lanlab.frozen import dataclass
from lanlab.studies import Finding, Level, Published, Study
from lanlab.studies.base import is_level
from lanlab.studies.model import Answer
from lanlab.studies.plain_level import plain_level
from lanlab.workloads.metrics import metric_direction

Levels = Mapping[str, Level]
#: If more conditions differ, the text only gives their number.
_MOST_PLACES = 4
#: Up to this share of the sent messages, a stream counts as free of loss.
_MOST_LOST_RATIO = 0.01
#: A run with a smaller share of the published bytes says so.
LEAST_SHARE = 0.99
#: A condition, its best level, and whether that level is shown to be the best.
Found = tuple[Levels, Level, bool]


#: What a published end of a range stands for.
_ENDS = ("least", "greatest")
_Any = TypeVar("_Any")


def _ends(ordered: Sequence[_Any]) -> Sequence[_Any]:
    return ordered if len(ordered) < 2 else (ordered[0], ordered[-1])


def _printed_levels(ask: Answer, body: Body) -> list[Level]:
    factors = (f for f in body.published.factor if f.name == ask.factor)
    return [one.level for factor in factors for one in factor.levels]


def _rest(levels: Levels, *without: str | None) -> dict[str, Level]:
    return {name: level for name, level in levels.items() if name not in without}


def best(ask: Answer, body: Body) -> list[Found]:
    """The best level at each condition of the other factors, and whether it is shown to be best: by
    a test against all other levels and, if simulated, by a difference beyond the model's error.
    """
    groups: dict[str, tuple[dict[str, Level], dict[Level, float]]] = {}
    for point in body.points(ask, ask.metric):
        if ask.factor not in point.levels:
            continue
        rest = _rest(point.levels, ask.factor, ask.along)
        known = groups.setdefault(repr(sorted(rest.items())), (rest, {}))[1]
        level = point.levels[ask.factor]
        # Along stations or loads, use the maximum, whether of throughput or of waiting time.
        known[level] = max(known.get(level, -math.inf), point.sample.mean)
    sign = 1 if metric_direction(ask.metric) == "more" else -1
    tops = []
    for rest, means in groups.values():
        printed = {k: v for k, v in means.items() if body.published.named_level(ask.factor, k)}
        own = printed if len(printed) > 1 else means
        if len(own) > 1:
            tops.append((rest, sorted(own, key=lambda level: -sign * own[level]), own))
    if body.kind == "simulated":
        least = math.exp(math.sqrt(2) * (body.error_log or math.inf))
        return [
            (rest, order[0], (own[order[0]] / own[order[1]]) ** sign > least)
            for rest, order, own in tops
        ]
    from lanlab.analysis.findings.judge import judge

    findings = [_is_extreme(ask, place, rest, order) for place, (rest, order, _) in enumerate(tops)]
    judged = judge(findings, body.evidence).judgements
    return body.as_run(
        [
            (sign * own[order[0]], (rest, order[0], one.verdict == "holds"))
            for (rest, order, own), one in zip(tops, judged, strict=True)
        ]
    )


def _is_extreme(ask: Answer, place: int, rest: Levels, order: Sequence[Level]) -> Finding:
    take = {"take": "greatest"} if ask.along else {}
    statement = {
        "form": "extreme",
        "metric": ask.metric,
        "at": {**ask.at, **rest, ask.factor: list(order), **take},
        "along": ask.factor,
        "at_level": order[0],
        "kind": "greatest" if metric_direction(ask.metric) == "more" else "least",
    }
    claim = {"id": f"q{place}", "claim": f"{order[0]} is best", "statement": statement}
    return Finding.model_validate(claim)


def best_text(ask: Answer, body: Body, found: Sequence[Found]) -> Iterator[str]:
    """For each level, the conditions where it is shown to be the best, and those where only its
    mean is the best.
    """
    if not found:
        return
    is_more = metric_direction(ask.metric) == "more"
    most, name = "highest" if is_more else "shortest", quantity(body.study, ask.metric).name
    varied = {
        name
        for name in found[0][0]
        if len(found) == 1 or len({repr(one[0].get(name)) for one in found}) > 1
    }

    def best(is_shown: bool) -> str:
        places: dict[Level, list[str]] = {}
        for condition, level, is_so in found:
            if is_so == is_shown:
                places.setdefault(level, []).append(body.words(condition, varied))
        return ", ".join(
            f"{level_title(body.published, ask.factor, level)}{_where(own, len(found))}"
            for level, own in places.items()
        )

    shown, open_ones = best(True), best(False)
    if shown:
        rest = f"; {most} mean, not shown to differ: {open_ones}" if open_ones else ""
        yield f"{most} {name}: {shown}{rest}"
        return
    which = {one.name: one.title for one in body.published.factor}.get(ask.factor, ask.factor)
    yield f"no {which} is shown to have the {most} {name}; {most} mean: {open_ones}"


def _where(places: Sequence[str], count: int) -> str:
    if not any(places):
        return ""
    if len(places) == count > 1:
        return " in both conditions" if count == 2 else f" in all {count} conditions"
    if len(places) > _MOST_PLACES:
        return f" in {len(places)} of {count} conditions"
    return f" ({'; '.join(places)})"


def _by_level(ask: Answer, body: Body, metric: str) -> dict[str, list[Cell]]:
    points, levels = body.points(ask, metric), _printed_levels(ask, body)
    if not levels:
        return {"": points}
    known = [point for point in points if ask.factor in point.levels]
    by_title = {
        level_title(body.published, ask.factor, level): [
            p for p in known if is_level(p.levels[ask.factor], plain_level(ask.factor, level))
        ]
        for level in levels
    }
    return {title: own for title, own in by_title.items() if own}


def range_text(ask: Answer, body: Body, published: Body) -> Iterator[str]:
    """The minimum and maximum of each level; along loads, of the maximum of each condition. What
    was published about one load is no maximum, so it is compared at that load.
    """
    shown = quantity(body.study, ask.metric)
    highest = "highest " if ask.along else ""
    for title, points in _by_level(ask, body, ask.metric).items():
        at_loads = body.at_loads(ask, points)
        tops: dict[str, Cell] = {}
        for place, point in enumerate(body.maxima(ask, points, published)):
            key = repr(sorted(_rest(point.levels, ask.along).items())) if ask.along else str(place)
            if key not in tops or point.sample.mean > tops[key].sample.mean:
                tops[key] = point
        if not tops:
            continue
        ends = _ends(sorted(tops.values(), key=lambda point: point.sample.mean))
        is_one = len({point.sample.mean for point in ends}) == 1
        in_unit = shown.readable(point.sample.mean for point in ends)

        def text(point: Cell, in_unit: Quantity = in_unit) -> str:
            named = body.words(point.levels, point.varied, ask.factor, ask.along)
            return f"{body.value(in_unit, point)}{_named(named)}"

        each = [body.value(in_unit, ends[0])] if is_one else map(text, ends)
        at_load = ", taken for its speed at" if body.kind == "published" else " at"
        further = [f", {text(p)}{at_load} {_level_text(body, ask, at)} sent" for at, p in at_loads]
        yield f"{_titled(title)}{highest}{shown.name} {' to '.join(each)}{''.join(further)}"


def _titled(title: str) -> str:
    return f"{title}: " if title else ""


def _named(condition: str) -> str:
    return f" ({condition})" if condition else ""


_Pairs = dict[Level, dict[Level, Cell]]


def _pairs(ask: Answer, body: Body) -> list[tuple[dict[str, Level], _Pairs]]:
    """By condition of the other factors: the points at which two levels have values."""
    groups: dict[str, tuple[dict[str, Level], _Pairs]] = {}
    for point in body.points(ask, ask.metric):
        rest = _rest(point.levels, ask.factor, ask.along)
        own = groups.setdefault(repr(sorted(rest.items())), (rest, {}))[1]
        at = point.levels.get(ask.along, point.stands)
        own.setdefault(at, {})[point.levels[ask.factor]] = point
    return [
        (rest, {at: two for at, two in own.items() if len(two) == 2})
        for rest, own in groups.values()
    ]


def _sizes(both: _Pairs) -> list[Level]:
    return sorted((at for at in both if not isinstance(at, str)), key=float)


def _are_elsewhere(end: str, both: _Pairs) -> bool:
    """Whether a printed pair shows that two ends of ranges belong to different sizes: one of them
    is the value at a size where the other is not.
    """
    return any(
        sum(math.isclose(both[end][level].sample.mean, p.sample.mean) for level, p in own.items())
        == 1
        for own in (both[size] for size in _sizes(both))
    )


def ratio_text(ask: Answer, body: Body, published: Body) -> Iterator[str]:
    """The ratio at each published size, or of the published ends of both ranges; from a run, also
    at its first and its last size.
    """
    shown = quantity(body.study, ask.metric)
    levels = [plain_level(ask.factor, level) for level in _printed_levels(ask, body)[:2]]
    names = [level_title(body.published, ask.factor, level) for level in levels]
    printed = _pairs(ask, published)
    for rest, both in _pairs(ask, body):
        sizes = _sizes(both)
        if body.kind == "published":
            ends = [end for end in _ENDS if end in both and not _are_elsewhere(end, both)]
            chosen = [*ends[:1], *sizes, *ends[1:]]
        else:
            own = [at for where, pairs in printed if where == rest for at in pairs]
            chosen = [at for at in sizes if at in (*_ends(sizes), *own)]
        each = [
            f"{_ratio_text(body, *(both[at][level].sample for level in levels))} "
            + (f"for the {at} values" if at in _ENDS else f"at {_level_text(body, ask, at)}")
            for at in chosen
        ]
        if each:
            over = f"{shown.name} over {names[0]} against {names[1]}"
            varied = next(iter(both[chosen[0]].values())).varied
            yield f"{over}{_named(body.words(rest, varied))}: {', '.join(each)}"


def _level_text(body: Body, ask: Answer, at: Level) -> str:
    shown = quantity(body.study, ask.along)
    return f"{plain(shown.shown(float(at)))} {shown.unit}"


def _ratio_text(body: Body, a: Sample, b: Sample) -> str:
    text = f"{number(a.mean / b.mean, 3)} \N{MULTIPLICATION SIGN}"
    if body.kind != "measured" or not isinstance(a, Trials) or not isinstance(b, Trials):
        return text
    if min(len(a.values), len(b.values)) < LEAST_FOR_INTERVAL:
        return text
    from lanlab.analysis.statistics import paired_by_block

    sides = [dict(zip(one.blocks, one.values, strict=False)) for one in (a, b)]
    try:
        test = paired_by_block(*sides, scale="log")
    except LabError:  # too few common blocks, or equal trials
        return text
    return f"{text} ({number(test.low, 3)} to {number(test.high, 3)})"


def onset_text(ask: Answer, body: Body, published: Body) -> Iterator[str]:
    """The load from which more than 1 % is lost: the least, those of published conditions, and the
    greatest.
    """
    printed = [
        value
        for value in published.published.value
        if value.metric == ask.along and value.statistic == "level" and value.bound is None
    ]
    if body.kind == "published":
        for value in printed:
            title = level_title(body.published, ask.factor, value.condition.get(ask.factor, ""))
            keys = [key for key in value.condition if key not in (ask.factor, *ask.at)]
            where = _named(levels_text(body.published, value.condition, keys))
            at = _level_text(body, ask, value.si)
            yield f"{_titled(title)}less is received than sent from {at}{where}"
        return
    for title, points in _by_level(ask, body, ask.metric).items():
        series: dict[str, list[Cell]] = {}
        for point in sorted(points, key=lambda p: float(p.levels.get(ask.along, 0))):
            rest = _rest(point.levels, ask.factor, ask.along)
            series.setdefault(repr(sorted(rest.items())), []).append(point)
        lossy = [
            next((p for p in own if p.sample.mean > _MOST_LOST_RATIO), None)
            for own in series.values()
        ]
        ordered = sorted(filter(None, lossy), key=lambda p: float(p.levels[ask.along]))
        ends = [id(point) for point in _ends(ordered)]
        each = [
            f"{_level_text(body, ask, point.levels[ask.along])}"
            + _named(body.words(point.levels, point.varied, ask.factor, ask.along))
            for point in ordered
            if id(point) in ends
            or any(matches(point.levels, _as_wanted(value.condition)) for value in printed)
        ]
        if each:
            yield f"{_titled(title)}more than 1 % lost from {', '.join(each)}"
        whole = [own for own, first in zip(series.values(), lossy, strict=True) if first is None]
        if whole:
            top = min(float(own[-1].levels.get(ask.along, 0)) for own in whole)
            names = (body.words(o[0].levels, o[0].varied, ask.factor, ask.along) for o in whole)
            which = _named("; ".join(filter(None, names))) if each else ""
            most = _level_text(body, ask, top)
            yield f"{_titled(title)}no more than 1 % lost up to {most}{which}"


def _as_wanted(condition: Levels) -> dict[str, tuple[Level, ...]]:
    return {key: (plain_level(key, level),) for key, level in condition.items()}


@dataclass(frozen=True)
class Body:
    kind: str
    evidence: Evidence
    study: Study
    published: Published
    error_log: float | None = None
    #: How many of the trials that count were disturbed, in words.
    disturbed: str = ""

    def as_run(self, found: Sequence[tuple[float, Found]]) -> list[Found]:
        """The conditions without the factors in which this system stands for every published one:
        the level with the highest of the given numbers, shown if all that name it show it.
        """
        assumed = getattr(self.evidence, "assumed", {})
        merged: dict[str, list[tuple[float, Found]]] = {}
        for score, one in found:
            merged.setdefault(repr(_rest(one[0], *assumed)), []).append((score, one))
        tops: list[Found] = []
        for own in merged.values():
            rest, level, _ = max(own, key=lambda scored: scored[0])[1]
            is_shown = all(one[2] for _, one in own if one[1] == level)
            tops.append((_rest(rest, *assumed), level, is_shown))
        return tops

    @cached_property
    def _smaller(self) -> dict[tuple[str, Level], Level]:
        """The data sets of a run that are smaller than the published ones they stand for."""
        if not isinstance(self.evidence, RunEvidence):
            return {}
        return {
            (one.published, cell.levels[one.published]): condition.parameters[one.factor]
            for cell, condition in self.evidence.with_conditions("copied_bytes")
            if cell.sample.mean < LEAST_SHARE * (amount_of(self.published, cell.levels) or 0)
            for one in self.study.counterpart
            if one.factor == "dataset"
        }

    def points(self, ask: Answer, metric: str) -> list[Cell]:
        wanted = {
            key: tuple(plain_level(key, one) for one in (own if isinstance(own, tuple) else (own,)))
            for key, own in ask.at.items()
        }
        cells = [c for c in self.evidence.cells(metric) if self._is_possible(c, wanted, metric)]
        names = [f.name for f in self.published.factor]
        names += [ask.along] if ask.along and ask.along not in names else []
        varied = tuple(
            name
            for name in names
            if len({repr(c.levels[name]) for c in cells if name in c.levels}) > 1
        )
        return [
            replace(c, levels={n: c.levels[n] for n in names if n in c.levels}, varied=varied)
            for c in cells
        ]

    def _of_one_load(self, ask: Answer) -> dict[str, Level]:
        """The load of each published number that is known to be of one load, by its id."""
        simulation = self.study.simulation
        return {} if simulation is None else simulation.readings_at(ask.along)

    def at_loads(self, ask: Answer, points: Sequence[Cell]) -> list[tuple[Level, Cell]]:
        """The points of published numbers that are of one load, with this load."""
        found = []
        for name, load in self._of_one_load(ask).items():
            value = next(one for one in self.published.value if one.id == name)
            wanted = _as_wanted(value.condition)
            if self.kind != "published":
                wanted[ask.along] = (load,)
            found += [(load, point) for point in points if matches(point.levels, wanted)]
        return found

    def maxima(self, ask: Answer, points: Sequence[Cell], published: Body) -> Sequence[Cell]:
        """The points without those of one load; simulated, only at the published conditions."""
        if self.kind == "published":
            apart = self._of_one_load(ask).keys()
            return [one for one in points if not one.sample.sources & apart]
        if self.kind == "measured":
            return points
        printed = published.maxima(ask, published.points(ask, ask.metric), published)
        rests = [_as_wanted(_rest(one.levels, ask.along)) for one in printed]
        return [one for one in points if any(matches(one.levels, rest) for rest in rests)] or points

    def _is_possible(
        self, cell: Cell, wanted: Mapping[str, tuple[Level, ...]], metric: str
    ) -> bool:
        if not matches(cell.levels, wanted):
            return False
        if not (cell.is_derived and isinstance(self.evidence, PublishedEvidence)):
            return True
        limit = self.evidence.link_limit(metric, cell.levels)
        return limit is None or cell.sample.mean <= limit

    def words(self, levels: Levels, varied: Collection[str], *without: str | None) -> str:
        keys = [key for key in levels if key in varied and key not in without]
        own = {key: self._smaller.get((key, levels[key]), levels[key]) for key in keys}
        return levels_text(self.published, own, keys)

    def value(self, shown: Quantity, point: Cell) -> str:
        ends, sample = None, point.sample
        if isinstance(sample, Trials) and self.kind == "measured":
            ends = interval_of_mean(shown.key, sample.values, point.limit)
        own = shown.interval(*ends) if ends else None
        mean = shown.shown(sample.mean)
        if own is None:
            return f"{number(mean, 3)} {shown.unit}".strip()
        return with_interval(mean, own, shown.unit)
