"""The numbers of a body of evidence, and the answers to a study's question from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from lanlab.analysis.findings.evidence import Cell, Evidence, matches
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.sample import Sample, Trials
from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.number_text import number, plain, with_interval
from lanlab.figures.published_values import level_title, levels_text
from lanlab.figures.wording import Quantity, quantity
from lanlab.frozen import dataclass
from lanlab.studies import (
    Finding,
    Level,
    Published,
    Study,
)
from lanlab.studies.base import is_level
from lanlab.studies.model import Answer
from lanlab.studies.plain_level import plain_level
from lanlab.workloads.metrics import metric_direction

Levels = Mapping[str, Level]
#: If more conditions differ, the text only gives their number.
_MOST_PLACES = 4
#: Up to this share of the sent messages, a stream counts as free of loss.
_MOST_LOST_RATIO = 0.01
#: A condition, its best level, and whether that level is shown to be the best.
Found = tuple[Levels, Level, bool]


_Any = TypeVar("_Any")


def _ends(ordered: Sequence[_Any]) -> Sequence[_Any]:
    """The first and the last item."""
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
            (rest, order[0], one.verdict == "holds")
            for (rest, order, _), one in zip(tops, judged, strict=True)
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
    else:
        yield f"no {most} {name} is shown; {most} mean: {open_ones}"


def _where(places: Sequence[str], count: int) -> str:
    if not any(places):
        return ""
    if len(places) == count > 1:
        return " in both conditions" if count == 2 else f" in all {count} conditions"
    if len(places) > _MOST_PLACES:
        return f" in {len(places)} of {count} conditions"
    return f" ({'; '.join(places)})"


def _by_level(ask: Answer, body: Body, metric: str) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    points = body.points(ask, metric)
    levels = _printed_levels(ask, body)
    for level in levels:
        own = [
            p
            for p in points
            if ask.factor in p.levels
            and is_level(p.levels[ask.factor], plain_level(ask.factor, level))
        ]
        if own:
            found[level_title(body.published, ask.factor, level)] = own
    return found if levels else {"": points}


def range_text(ask: Answer, body: Body) -> Iterator[str]:
    """The minimum and maximum of each level; along loads, the maximum of each."""
    shown = quantity(body.study, ask.metric)
    for title, points in _by_level(ask, body, ask.metric).items():
        tops: dict[str, Point] = {}
        for point in points:
            key = repr(sorted(_rest(point.levels, ask.along).items()))
            if key not in tops or (ask.along and point.sample.mean > tops[key].sample.mean):
                tops[key] = point
        if not tops:
            continue
        ends = _ends(sorted(tops.values(), key=lambda point: point.sample.mean))
        in_unit = shown.readable(point.sample.mean for point in ends)
        each = [
            body.value(in_unit, p.sample)
            + _named(body.words(p.levels, p.varied, ask.factor, ask.along))
            for p in ends
        ]
        yield f"{f'{title}: ' if title else ''}{shown.name} {' to '.join(each)}"


def _named(condition: str) -> str:
    return f" ({condition})" if condition else ""


def ratio_text(ask: Answer, body: Body) -> Iterator[str]:
    shown = quantity(body.study, ask.metric)
    levels = [plain_level(ask.factor, level) for level in _printed_levels(ask, body)[:2]]
    groups: dict[str, tuple[dict[str, Level], dict[Level, dict[Level, Point]]]] = {}
    for point in body.points(ask, ask.metric):
        rest = _rest(point.levels, ask.factor, ask.along)
        own = groups.setdefault(repr(sorted(rest.items())), (rest, {}))[1]
        at = point.levels.get(ask.along, point.stands)
        own.setdefault(at, {})[point.levels[ask.factor]] = point
    names = [level_title(body.published, ask.factor, level) for level in levels]
    for rest, by_place in groups.values():
        both = {at: own for at, own in by_place.items() if len(own) == 2}
        sizes = sorted((at for at in both if not isinstance(at, str)), key=float)
        # Prefer published ends of a range; otherwise compare the first and last common size.
        chosen = _ends([e for e in ("least", "greatest") if e in both] or sizes)
        each = [
            f"{_ratio_text(body, *(both[at][level].sample for level in levels))} "
            + (f"at the {at} value" if isinstance(at, str) else f"at {_level_text(body, ask, at)}")
            for at in chosen
        ]
        if each:
            over = f"{shown.name} over {names[0]} against {names[1]}"
            varied = next(iter(both[chosen[0]].values())).varied
            yield f"{over}{_named(body.words(rest, varied))}: {' and '.join(each)}"


def _level_text(body: Body, ask: Answer, at: Level) -> str:
    shown = quantity(body.study, ask.along)
    return f"{plain(shown.shown(float(at)))} {shown.unit}"


def _ratio_text(body: Body, a: Sample, b: Sample) -> str:
    text = f"{number(a.mean / b.mean, 3)} \N{MULTIPLICATION SIGN}"
    if body.kind != "measured" or not isinstance(a, Trials) or not isinstance(b, Trials):
        return text
    from lanlab.analysis.statistics import paired_by_block
    from lanlab.errors import LabError

    sides = [dict(zip(one.blocks, one.values, strict=False)) for one in (a, b)]
    try:
        test = paired_by_block(*sides, scale="log")
    except LabError:  # too few trials, or equal ones
        return text
    return f"{text} ({number(test.low, 3)} to {number(test.high, 3)})"


def onset_text(ask: Answer, body: Body) -> Iterator[str]:
    """The load from which more than 1 % is lost."""
    load = quantity(body.study, ask.along)

    def text(value: float) -> str:
        return f"{plain(load.shown(value))} {load.unit}"

    if body.kind == "published":
        for value in body.published.value:
            if value.metric == ask.along and value.statistic == "level" and value.bound is None:
                where = levels_text(body.published, value.condition, value.condition)
                yield f"received and sent speed part at {text(value.si)} ({where})"
        return
    for title, points in _by_level(ask, body, ask.metric).items():
        series: dict[str, list[Point]] = {}
        for point in sorted(points, key=lambda p: float(p.levels.get(ask.along, 0))):
            rest = _rest(point.levels, ask.factor, ask.along)
            series.setdefault(repr(sorted(rest.items())), []).append(point)
        lossy = [
            next((p for p in own if p.sample.mean > _MOST_LOST_RATIO), None)
            for own in series.values()
        ]
        each = []
        ordered = sorted((float(p.levels[ask.along]), n) for n, p in enumerate(lossy) if p)
        for at, place in _ends(ordered):
            first = lossy[place]
            assert first is not None
            named = body.words(first.levels, first.varied, ask.factor, ask.along)
            each.append(f"{text(at)}{_named(named)}")
        opening = f"{title}: " if title else ""
        if each:
            yield f"{opening}more than 1 % lost from {' to '.join(each)}"
        whole = [own for own, first in zip(series.values(), lossy, strict=True) if first is None]
        if whole:
            top = min(float(own[-1].levels.get(ask.along, 0)) for own in whole)
            names = (body.words(o[0].levels, o[0].varied, ask.factor, ask.along) for o in whole)
            which = _named("; ".join(filter(None, names))) if each else ""
            yield f"{opening}no more than 1 % lost up to {text(top)}{which}"


@dataclass(frozen=True)
class Point:
    levels: Levels
    sample: Sample
    #: `each`, or which end of a range the published number is.
    stands: str
    varied: frozenset[str]


@dataclass(frozen=True)
class Body:
    kind: str
    evidence: Evidence
    study: Study
    published: Published
    error_log: float | None = None
    #: How many of the trials that count were disturbed, in words.
    disturbed: str = ""

    def as_run(self, found: Sequence[Found]) -> list[Found]:
        """The conditions without the factors in which this system stands for every published one,
        where their answers agree.
        """
        assumed = getattr(self.evidence, "assumed", {})
        merged: dict[str, list[Found]] = {}
        for one in found:
            merged.setdefault(repr(_rest(one[0], *assumed)), []).append(one)
        return [
            one
            for own in merged.values()
            for one in (
                [(_rest(own[0][0], *assumed), *own[0][1:])]
                if len({each[1:] for each in own}) == 1
                else own
            )
        ]

    def points(self, ask: Answer, metric: str) -> list[Point]:
        wanted = {
            key: tuple(plain_level(key, one) for one in (own if isinstance(own, tuple) else (own,)))
            for key, own in ask.at.items()
        }
        cells = [c for c in self.evidence.cells(metric) if self._is_possible(c, wanted, metric)]
        names = [f.name for f in self.published.factor]
        names += [ask.along] if ask.along and ask.along not in names else []
        varied = frozenset(
            name
            for name in names
            if len({repr(c.levels[name]) for c in cells if name in c.levels}) > 1
        )
        return [
            Point({n: c.levels[n] for n in names if n in c.levels}, c.sample, c.stands, varied)
            for c in cells
        ]

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
        return levels_text(self.published, levels, keys)

    def value(self, shown: Quantity, sample: Sample) -> str:
        ends = None
        if isinstance(sample, Trials) and self.kind == "measured" and len(sample.values) > 2:
            ends = interval_of_mean(shown.key, sample.values)
        own = shown.interval(*ends) if ends else None
        mean = shown.shown(sample.mean)
        text = number(mean, 3) if own is None else with_interval(mean, own, is_simulated=False)
        return f"{text} {shown.unit}".strip()
