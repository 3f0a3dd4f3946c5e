"""The numbers of a body of evidence, and the answers to a study's question from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile

from lanlab.analysis.comparison.ranking import Ranking, rankings
from lanlab.analysis.findings.evidence import Cell, Evidence, matches
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.simulation.accuracy import PAIRED, Accuracy
from lanlab.analysis.simulation.model_error import of_metric, ratio_factor
from lanlab.analysis.simulation.run import held_out_of
from lanlab.analysis.traffic.peaks import LOAD, MOST_LOST_RATIO, PEAKED, is_limited_by_offer
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import greatest_possible, interval_of_mean
from lanlab.figures.number_text import number, plain, with_interval
from lanlab.figures.published_values import level_title, levels_text
from lanlab.figures.wording import Quantity, name_of, quantity, tried_text
from lanlab.frozen import dataclass
from lanlab.report.answer.difference_text import difference_text
from lanlab.report.answer.where import listed_alike, where_text
from lanlab.report.document.table import Cell as TextCell
from lanlab.report.document.table import Column, words
from lanlab.studies.base import Level, is_level
from lanlab.studies.findings import Finding
from lanlab.studies.model import Answer, Study
from lanlab.studies.plain_level import plain_level
from lanlab.studies.published import Published
from lanlab.workloads.metrics import metric_direction

Levels = Mapping[str, Level]
#: A run with a smaller share of the published bytes says so.
LEAST_SHARE = 0.99
#: A condition, its best level, and whether that level is shown to be the best.
Found = tuple[Levels, Level, bool]
Row = tuple[TextCell, ...]


@dataclass(frozen=True)
class Part:
    """The answer about one metric from one body of evidence."""

    #: The verdict or the numbers first; of an open question only what is known.
    text: str
    #: Every condition, under the columns of `columns_of`.
    rows: tuple[Row, ...]
    #: Why there is no verdict, as in `not shown`; empty if there is one.
    is_open: str = ""
    #: How large the difference in `text` is, so that a summary names the largest.
    size: float = 0.0
    note: str = ""


#: What a published end of a range stands for.
_ENDS = ("least", "greatest")
#: What more and less of a metric are called, by whether it is a time.
_WORDS = {True: ("longer", "shorter"), False: ("higher", "lower")}
_SHOWN = {True: "shown", False: "not shown", None: "not tested"}
_LIMIT = "the link's limit"


def columns_of(ask: Answer, body: Body) -> tuple[Column, ...]:
    """The columns of the rows of an answer."""
    shown, title = quantity(body.study, ask.metric), body.factor_title(ask.factor)
    own = {
        "best": ["condition", f"best {title}", "is it shown"],
        "range": [title, "condition", f"{shown.name} ({shown.unit})"],
        "onset": [title, "condition", "more than 1 % lost from"],
    }
    if ask.form == "ratio":
        names = [f"{name} ({shown.unit})" for name in _level_titles(ask, body)]
        own["ratio"] = ["condition", *names, "difference", "is it shown"]
    return tuple(Column(name, name, name, is_number=False) for name in own[ask.form] if name)


def _printed_levels(ask: Answer, body: Body) -> list[Level]:
    factors = (f for f in body.published.factor if f.name == ask.factor)
    return [one.level for factor in factors for one in factor.levels]


def _level_titles(ask: Answer, body: Body) -> list[str]:
    """The names of the two levels that a ratio compares."""
    levels = (plain_level(ask.factor, level) for level in _printed_levels(ask, body)[:2])
    return [level_title(body.published, ask.factor, level) for level in levels]


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
        least = ratio_factor(body.held_out_of(ask), ask.metric)
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


def best_part(ask: Answer, body: Body, found: Sequence[Found]) -> Part | None:
    """For each level, the conditions where it is shown to be the best, and those where only its
    mean is the best.
    """
    if not found:
        return None
    every = [condition for condition, *_ in found]

    def places(is_shown: bool) -> dict[Level, list[Levels]]:
        own: dict[Level, list[Levels]] = {}
        for condition, level, is_so in found:
            if is_so == is_shown:
                own.setdefault(level, []).append(condition)
        return own

    def title(level: Level) -> str:
        return level_title(body.published, ask.factor, level)

    shown, open_ones = places(True), places(False)
    where = {level: where_text(every, at, body.level_text) for level, at in shown.items()}
    # Conditions of several levels have commas.
    between = "; " if any(", " in at for at in where.values()) else ", "
    text = between.join(f"{title(level)} {at}".rstrip() for level, at in where.items())
    if shown and open_ones:
        text += "; no order shown elsewhere"
    # Best means of several levels are in the table.
    if len(open_ones) == 1:
        text += f"{', ' if text else ''}best mean {title(*open_ones)}"
    varied = [name for name in every[0] if len({repr(one.get(name)) for one in every}) > 1]
    # Published means without a spread are compared as they are.
    is_tested = body.kind != "published" or max(counts_behind([ask], body)) > 1
    rows = [
        (body.words(at, varied), title(level), _SHOWN[is_shown if is_tested else None])
        for at, level, is_shown in found
    ]
    is_open = "none is shown to be best"
    if body.kind == "simulated" and ratio_factor(body.held_out_of(ask), ask.metric) < math.inf:
        is_open = "no difference exceeds the model's error"
    return Part(text, _rows(rows), "" if shown else is_open)


def counts_behind(asked: Sequence[Answer], body: Body) -> list[int]:
    """How many trials are behind each number of an answer."""
    samples = [p.sample for ask in asked for p in body.points(ask, ask.metric)]
    return [
        len(one.values) + len(one.missing) if isinstance(one, Trials) else getattr(one, "n", 1)
        for one in samples
    ]


def _rows(rows: Iterable[Iterable[str]]) -> tuple[Row, ...]:
    return tuple(tuple(map(words, row)) for row in rows)


def range_part(ask: Answer, body: Body) -> Part | None:
    """The minimum and maximum of each level, with the conditions of both; along loads, of the
    maximum of each condition. What was published about one load is no maximum, so it is compared at
    that load.
    """
    shown = quantity(body.study, ask.metric)
    apart = body.of_one_load(ask).keys()
    found: list[tuple[str, list[str], list[str]]] = []
    rows = []
    for title, points in body.by_level(ask, ask.metric).items():
        tops: dict[str, Cell] = {}
        maxima = (one for one in points if not one.sample.sources & apart)
        for place, point in enumerate(maxima):
            key = repr(sorted(_rest(point.levels, ask.along).items())) if ask.along else str(place)
            if key not in tops or point.sample.mean >= tops[key].sample.mean:
                tops[key] = point
        ordered = sorted(tops.values(), key=_mean)
        ends = ordered[:1]
        # Of equal values at the upper end, name the one most like the lower end.
        upper = [point for point in ordered if _mean(point) == _mean(ordered[-1]) != _mean(*ends)]
        ends += sorted(upper, key=lambda point: len(_apart(point, ordered[0])))[:1]
        in_unit = shown.readable(point.sample.mean for point in ends)

        def row(point: Cell, value: str, title: str = title) -> tuple[str, ...]:
            return title, body.words(point.levels, point.varied, ask.factor, ask.along), value

        # The table has the intervals.
        values = [
            f"{_at_least(ask, one)}{number(in_unit.shown(one.sample.mean), 3)} {in_unit.unit}"
            for one in ends
        ]
        if values:
            found.append((title, values, _end_names(ask, body, ends)))
        for point in ordered:
            rows.append(row(point, f"{_at_least(ask, point)}{body.value(in_unit, point)}"))
        taken = "taken for its speed at" if body.kind == "published" else "at"
        for at, point in body.at_loads(ask, points):
            load = f"{taken} {body.level_text(ask.along, at)} offered"
            rows.append(row(point, f"{body.value(in_unit, point)}, {load}"))
    if not found:
        return None
    # Names of the ends of all levels stand once.
    (*_, shared) = found[0]
    shared = shared if all(names == shared for *_, names in found) else []
    said: dict[str, list[str]] = {}
    for title, values, names in found:
        said.setdefault(_range(values, named=[] if shared else names), []).append(title)
    from_to = f", from {' to '.join(shared)}" if shared else ""
    return Part(_by_levels(said) + from_to, _rows(rows))


def _mean(point: Cell) -> float:
    return point.sample.mean


def _apart(one: Cell, other: Cell) -> list[str]:
    """The factors in which two conditions differ."""
    return [key for key in one.varied if one.levels.get(key) != other.levels.get(key)]


def _end_names(ask: Answer, body: Body, ends: Sequence[Cell]) -> list[str]:
    """Both ends of a range by the levels in which they differ."""
    keys = [key for key in _apart(ends[0], ends[-1]) if key not in (ask.factor, ask.along)]
    # A local run has one system, whose levels the table has.
    named = [
        [body.level_text(key, end.levels[key]).partition(" (")[0] for key in keys]
        for end in (ends if body.kind != "measured" else ())
    ]
    return [" + ".join(own) for own in named if own]


def _range(values: Sequence[str], between: str = " to ", named: Sequence[str] = ()) -> str:
    """One or two values, with a unit of both only once, and their names."""
    unit = values[-1].partition(" ")[2]
    is_one = all(value[:1].isdigit() for value in values)
    own = [one.removesuffix(f" {unit}") if is_one else one for one in values[:-1]]
    return between.join(map("{}{}".format, [*own, values[-1]], map(_named, named or ("", ""))))


def _by_levels(said: Mapping[str, Sequence[str]]) -> str:
    """What was said of levels, with their names: those of a number after `at`."""
    parts: list[str] = []
    every = sum(map(len, said.values()))
    # The words with which all begin are said once.
    begun = takewhile(lambda same: len({*same}) == 1, zip(*map(str.split, said), strict=False))
    shared = len([*begun])
    for text, titles in said.items():
        names = listed_alike(list(filter(None, titles)), "or")
        if len(titles) == every > 1:
            names = ""
        is_number = names[:1].isdigit()
        text = " ".join(text.split()[shared:]) if parts else text
        parts.append(f"{text} at {names}" if is_number else f"{text}{_named(names)}")
    return ", ".join(parts)


def _at_least(ask: Answer, top: Cell) -> str:
    is_bound = ask.along and is_limited_by_offer(ask.metric, top.levels, top.sample.mean)
    return "at least " if is_bound else ""


def _named(condition: str) -> str:
    return f" ({condition})" if condition else ""


@dataclass(frozen=True)
class _Pair:
    """Two levels at one condition of the other factors."""

    levels: Levels
    means: tuple[float, float]
    #: The second level's value by the first's, and its 95 % interval.
    ratio: float
    interval: tuple[float, float] | None = None
    #: `None` without a test.
    is_shown: bool | None = None
    #: Whether it is a published end of a range over conditions.
    end: str = ""
    is_at_limit: bool = False

    @property
    def size(self) -> float:
        return abs(math.log(self.ratio))


def _pairs(ask: Answer, body: Body) -> list[_Pair]:
    a, b = (plain_level(ask.factor, level) for level in _printed_levels(ask, body)[:2])
    if body.kind == "measured":
        return _ranked_pairs(ask, body, a, b)
    groups: dict[str, dict[Level, Cell]] = {}
    for point in body.points(ask, ask.metric):
        rest = sorted(_rest(point.levels, ask.factor).items())
        groups.setdefault(f"{rest!r} {point.stands}", {})[point.levels[ask.factor]] = point
    factor = ratio_factor(body.held_out_of(ask), ask.metric)
    found = []
    for own in groups.values():
        if not {a, b} <= own.keys():
            continue
        means = own[a].sample.mean, own[b].sample.mean
        end = own[a].stands if own[a].stands in _ENDS else ""
        ratio = means[1] / means[0]
        is_shown = max(ratio, 1 / ratio) > factor if factor < math.inf else None
        kept = {key: own[a].levels[key] for key in own[a].varied if key in own[a].levels}
        found.append(_Pair(_rest(kept, ask.factor), means, ratio, is_shown=is_shown, end=end))
    return [one for one in found if not (one.end and _is_elsewhere(one, found, ask.along))]


def _is_elsewhere(end: _Pair, found: Sequence[_Pair], along: str) -> bool:
    """Whether a printed pair shows that two ends of ranges belong to different sizes: one of them
    is the value at a size where the other is not.
    """
    rest = _rest(end.levels, along)
    return any(
        sum(math.isclose(a, b) for a, b in zip(end.means, one.means, strict=True)) == 1
        for one in found
        if not one.end and _rest(one.levels, along) == rest
    )


def _ranked_pairs(ask: Answer, body: Body, a: Level, b: Level) -> list[_Pair]:
    """The comparisons of the run's ranking, so that both texts rest on one test."""
    points = body.points(ask, ask.metric)
    is_more_better = metric_direction(ask.metric) == "more"
    found = []
    for one in body.rankings:
        ranked = {
            body.evidence.plain(ask.factor, each.level): each
            for group in one.groups
            for each in group
        }
        if (one.factor, one.metric) != (ask.factor, ask.metric) or ranked.keys() != {a, b}:
            continue
        own = {
            point.levels[ask.factor]: point
            for point in points
            if all(point.levels.get(key, level) == level for key, level in one.condition.items())
        }
        worst = max(ranked, key=lambda level: ranked[level] is not one.groups[0][0])
        if not {a, b} <= own.keys():
            continue
        sign = -1 if (worst == b) == is_more_better else 1
        low, high = ranked[worst].low, ranked[worst].high
        means = own[a].sample.mean, own[b].sample.mean
        # Single trials have no ranking.
        factor = ranked[worst].worse if one.is_tested else None
        found.append(
            _Pair(
                {key: level for key, level in own[a].levels.items() if key in one.condition},
                means,
                means[1] / means[0] if factor is None else factor**sign,
                None
                if low is None or high is None
                else (min(low**sign, high**sign), max(low**sign, high**sign)),
                (len(one.groups) > 1 or bool(ranked[worst].behind)) if one.is_tested else None,
                is_at_limit={a, b} <= {body.evidence.plain(ask.factor, at) for at in one.at_limit},
            )
        )
    return found


def ratio_part(ask: Answer, body: Body) -> Part | None:
    """Whether the second level is worse than the first, where, and by how much at most."""
    found = _pairs(ask, body)
    if not found:
        return None
    shown = quantity(body.study, ask.metric)
    is_more_better = metric_direction(ask.metric) == "more"
    tested = [one for one in found if one.is_shown is not None]
    clear = [one for one in tested if one.is_shown] if tested else found
    worse = [one for one in clear if (one.ratio < 1) == is_more_better and one.ratio != 1]
    better = [one for one in clear if one not in worse and one.ratio != 1]
    places = [one.levels for one in found if not one.end]
    limited = [one.levels for one in found if one.is_at_limit]
    is_open, text = "", ""
    own: Sequence[_Pair] = ()
    if len(limited) == len(found):
        is_open = "both are as fast as the network"
    elif body.kind == "simulated" and not tested:
        is_open = "not known"
    elif not clear:
        is_open = "not shown"
    elif not tested and body.kind == "measured":
        is_open, own = "not shown", clear
        text = f"by the means, {_largest(ask, body, own, found, shown.name)}"
    else:
        # Of published means, the signs are the answer; of a model, what exceeds its error.
        verdict, where, own = "yes", "", clear
        if better:
            verdict = "yes and no" if worse else "no"
        elif tested and len(clear) < len(found):
            where = where_text(places, [one.levels for one in clear], body.level_text)
            where = f" only {where}"
        apart = clear if where else found
        sizes = [_largest(ask, body, one, apart) for one in (worse, better) if one]
        text = f"{verdict} for {shown.name}{where}: {' or '.join(sizes)}"
    note = ""
    if limited and not is_open:
        where = where_text(places, limited, body.level_text)
        note = f"{where} both are as fast as the network".strip()
    shown_words = dict(_SHOWN)
    if body.kind == "simulated":
        shown_words[False] = "within the model's error"
    rows = [
        (
            body.pair_words(one.levels, one.end, shown.name),
            *(number(shown.shown(mean), 3) for mean in one.means),
            _change(ask, body, one),
            "as fast as the network" if one.is_at_limit else shown_words[one.is_shown],
        )
        for one in found
    ]
    return Part(text, _rows(rows), is_open, max((one.size for one in own), default=0.0), note)


def _largest(
    ask: Answer, body: Body, own: Sequence[_Pair], every: Sequence[_Pair], metric: str = ""
) -> str:
    """The largest of some differences, with its condition; with a metric, also what it is of."""
    one = max(own, key=lambda pair: pair.size)
    varied = [key for key in one.levels if len({repr(at.levels.get(key)) for at in every}) > 1]
    where = [body.level_text(key, one.levels[key]) for key in varied]
    most, of = "up to " if len(own) > 1 else "", _named(", ".join(where))
    if metric:
        of = f" with {_level_titles(ask, body)[1]}{of}"
    return f"{most}{_change(ask, body, replace(one, interval=None), metric)}{of}"


def _change(ask: Answer, body: Body, one: _Pair, what: str = "") -> str:
    is_time = quantity(body.study, ask.metric).si_unit in ("ns", "s")
    more, less = (f"{word} {what}".rstrip() for word in _WORDS[is_time])
    return difference_text(one.ratio, one.interval, more, less)


def onset_part(ask: Answer, body: Body) -> Part | None:
    """The loads up to which no more than 1 % is lost."""
    if body.kind == "published":
        return _printed_onsets(ask, body)
    said: dict[str, list[str]] = {}
    rows = []

    def means(metric: str, is_known: bool) -> dict[str, float]:
        points = body.points(ask, metric) if is_known else ()
        return {repr(point.levels): point.sample.mean for point in points}

    sent = means("sent_bps", ask.along == LOAD)
    # What arrives after the trial was in a full buffer: of a longer trial, it would be lost.
    arrived, in_time = (
        means(metric, body.kind == "simulated") for metric in ("received_ratio", "goodput_ratio")
    )

    def is_lossy(point: Cell) -> bool:
        key = repr(point.levels)
        late = arrived.get(key, 0.0) * (1 - MOST_LOST_RATIO) - in_time.get(key, 1.0)
        return point.sample.mean > MOST_LOST_RATIO or late > 0

    for title, points in body.by_level(ask, ask.metric).items():
        series: dict[str, list[Cell]] = {}
        for point in sorted(points, key=lambda p: float(p.levels.get(ask.along, 0))):
            rest = _rest(point.levels, ask.factor, ask.along)
            series.setdefault(repr(sorted(rest.items())), []).append(point)
        tops: list[tuple[float, str]] = []
        for own in series.values():
            loads = [float(one.levels.get(ask.along, 0)) for one in own]
            first = next((at for at, point in enumerate(own) if is_lossy(point)), None)
            named = body.words(own[0].levels, own[0].varied, ask.factor, ask.along)
            if first is None:
                most = max(sent.get(repr(one.levels), loads[-1]) for one in own)
                limit = _limit(ask, body, own, most)
                load = limit or min(most, loads[-1])
                top = _load_text(ask, body, load)
                if load < loads[-1] * (1 - MOST_LOST_RATIO) and not limit:
                    top = f"the most that was sent, {top}"
                # The limit of each level is in the table.
                tops.append((load, f"at most 1 % lost up to {_LIMIT if limit else top}"))
                lost = f"not up to {f'{_LIMIT}, ' if limit else ''}{top}"
            elif first:
                between = [_load_text(ask, body, load) for load in loads[first - 1 : first + 1]]
                tops.append((loads[first - 1], f"first loss above {between[0]}"))
                lost = f"between {_range(between, ' and ')}"
            else:
                lost = f"{_load_text(ask, body, loads[0])}, the lowest tried"
                tops.append((0.0, f"first loss at or below {_load_text(ask, body, loads[0])}"))
            rows.append((title, named, lost))
        if tops:
            said.setdefault(min(tops)[1], []).append(title)
    return Part(_by_levels(said), _rows(rows)) if said else None


def _printed_onsets(ask: Answer, body: Body) -> Part | None:
    said: dict[str, list[str]] = {}
    rows = []
    for value in sorted(body.published.value, key=lambda one: one.si):
        if (value.metric, value.statistic, value.bound) != (ask.along, "level", None):
            continue
        title = level_title(body.published, ask.factor, value.condition.get(ask.factor, ""))
        keys = [key for key in value.condition if key not in (ask.factor, *ask.at)]
        load = body.level_text(ask.along, value.si)
        said.setdefault(f"first loss from {load}", []).append(title)
        rows.append((title, levels_text(body.published, value.condition, keys), f"from {load}"))
    return Part(_by_levels(said), _rows(rows)) if said else None


def _limit(ask: Answer, body: Body, own: Sequence[Cell], sent: float) -> float | None:
    """The link's limit of some loads, if they and what was sent reach it."""
    rest = _rest(own[-1].levels, ask.along)
    rates = [p for p in body.points(ask, PEAKED) if _rest(p.levels, ask.along) == rest]
    limit = min((rate.limit for rate in rates if rate.limit), default=math.inf)
    is_beyond = limit < float(own[-1].levels.get(ask.along, 0))
    return limit if is_beyond and sent >= limit * (1 - MOST_LOST_RATIO) else None


def _load_text(ask: Answer, body: Body, load: float) -> str:
    shown = quantity(body.study, ask.along)
    return f"{plain(float(f'{shown.shown(load):.4g}'))} {shown.unit}"


def _as_wanted(condition: Levels) -> dict[str, tuple[Level, ...]]:
    return {key: (plain_level(key, level),) for key, level in condition.items()}


@dataclass(frozen=True)
class Body:
    kind: str
    evidence: Evidence
    study: Study
    published: Published
    #: The run; `None` for the published values.
    data: RunData | None = None
    #: How many of the trials that count were disturbed, in words.
    disturbed: str = ""

    def held_out_of(self, ask: Answer) -> list[Accuracy]:
        """The published values that nothing was fitted to, of the answer's metric and conditions. A
        ratio shows no error of a single value.
        """
        if self.data is None:
            return []
        wanted = self._wanted(ask)
        return [
            one
            for one in of_metric(self.data.once(held_out_of), ask.metric)
            if not (ask.form in ("range", "onset") and one.value.statistic in PAIRED)
            and all(
                plain_level(key, level) in wanted.get(key, (plain_level(key, level),))
                for key, level in one.value.condition.items()
            )
        ]

    def _wanted(self, ask: Answer) -> dict[str, tuple[Level, ...]]:
        return {
            key: tuple(plain_level(key, one) for one in (own if isinstance(own, tuple) else (own,)))
            for key, own in ask.at.items()
        }

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The rankings of a measured run."""
        if self.data is None or self.kind == "simulated":
            return []
        return [one for own in self.data.once(rankings).values() for one in own]

    def factor_title(self, factor: str) -> str:
        titles = {one.name: one.title for one in self.published.factor}
        return titles.get(factor, name_of(factor) if factor else "")

    def level_text(self, factor: str, level: Level) -> str:
        """One level in words."""
        if self.published.named_level(factor, level) is None and not isinstance(level, str):
            shown = quantity(self.study, factor)
            if shown.unit:
                return f"{plain(shown.shown(float(level)))} {shown.unit}"
        return levels_text(self.published, self.own_levels({factor: level}), [factor])

    def pair_words(self, levels: Levels, end: str, name: str) -> str:
        """A condition, or the end of a published range, in words."""
        own = [self.level_text(key, level) for key, level in levels.items()]
        return ", ".join([*own, *([f"the {end} {name} of each"] if end else ())])

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
    def _datasets(self) -> dict[tuple[str, Level], Level]:
        """The data sets of a run, by the published ones they stand for."""
        if not isinstance(self.evidence, RunEvidence):
            return {}
        return {
            (one.published, cell.levels[one.published]): condition.parameters[one.factor]
            for cell, condition in self.evidence.with_conditions("copied_bytes")
            for one in self.study.counterpart
            if one.factor == "dataset"
        }

    def own_levels(self, levels: Levels) -> Levels:
        """A published condition with the data sets that the run copied."""
        return {key: self._datasets.get((key, level), level) for key, level in levels.items()}

    def points(self, ask: Answer, metric: str) -> list[Cell]:
        wanted = self._wanted(ask)
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

    def by_level(self, ask: Answer, metric: str) -> dict[str, list[Cell]]:
        """The points of each published level of the answer's factor, by its name."""
        points, levels = self.points(ask, metric), _printed_levels(ask, self)
        if not levels:
            return {"": points}
        known = [point for point in points if ask.factor in point.levels]
        by_title = {
            level_title(self.published, ask.factor, level): [
                p for p in known if is_level(p.levels[ask.factor], plain_level(ask.factor, level))
            ]
            for level in levels
        }
        return {title: own for title, own in by_title.items() if own}

    def of_one_load(self, ask: Answer) -> dict[str, Level]:
        """The load of each published number that is known to be of one load, by its id."""
        simulation = self.study.simulation
        return {} if simulation is None else simulation.readings_at(ask.along)

    def at_loads(self, ask: Answer, points: Sequence[Cell]) -> list[tuple[Level, Cell]]:
        """The points of published numbers that are of one load, with this load."""
        found = []
        for name, load in self.of_one_load(ask).items():
            value = next(one for one in self.published.value if one.id == name)
            wanted = _as_wanted(value.condition)
            if self.kind != "published":
                wanted[ask.along] = (load,)
            found += [(load, point) for point in points if matches(point.levels, wanted)]
        return found

    def _is_possible(
        self, cell: Cell, wanted: Mapping[str, tuple[Level, ...]], metric: str
    ) -> bool:
        if not matches(cell.levels, wanted):
            return False
        if not (cell.is_derived and isinstance(self.evidence, PublishedEvidence)):
            return True
        limit = self.evidence.link_limit(metric, cell.levels)
        return limit is None or cell.sample.mean <= limit

    def tried(self, ask: Answer, points: Iterable[Cell]) -> str:
        """The levels over which maxima were taken, in words; empty if published."""
        if self.kind == "published" or not ask.along:
            return ""
        levels = {float(own) for one in points if (own := one.levels.get(ask.along)) is not None}
        return tried_text(self.study, ask.along, levels) if levels else ""

    def words(self, levels: Levels, varied: Collection[str], *without: str | None) -> str:
        keys = [key for key in levels if key in varied and key not in without]
        return levels_text(self.published, self.own_levels(levels), keys)

    def value(self, shown: Quantity, point: Cell) -> str:
        ends, sample = None, point.sample
        if isinstance(sample, Trials) and self.kind == "measured":
            most = greatest_possible(shown.key, point.levels, point.limit)
            ends = interval_of_mean(shown.key, sample.values, most)
        own = shown.interval(*ends) if ends else None
        mean = shown.shown(sample.mean)
        if own is None:
            return f"{number(mean, 3)} {shown.unit}".strip()
        return with_interval(mean, own, shown.unit)
