"""The best level of a factor, in one sentence for each experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.comparison.compare import LEAST_FOR_ORDER
from lanlab.analysis.comparison.factor_effects import Effect, FactorEffects, Spread, factor_effects
from lanlab.analysis.comparison.ranking import Ranked, Ranking, rankings
from lanlab.analysis.simulation.model_error import ratio_factor
from lanlab.analysis.simulation.run import held_out_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import joined, listed, number, too_few_text
from lanlab.figures.published_values import level_title
from lanlab.figures.wording import condition_text, level_text, name_of, quantity, server_names
from lanlab.report.answer.difference_text import difference_text
from lanlab.report.answer.where import where_text
from lanlab.store import Level
from lanlab.studies.model import Study
from lanlab.studies.published import Published
from lanlab.units import format_rate
from lanlab.workloads.metrics import metric_direction

#: Up to this many conditions are named one by one. More are grouped by order, without ratios.
_MOST_CONDITIONS = 6
_MOST_NAMED = 3
_PLURALS = {"os": "systems", "driver": "tools"}
_MOST_ALIKE = 4
_ALL = {2: "both", 3: "all three", 4: "all four", 5: "all five", 6: "all six", 7: "all seven"}
_SPEED_UNITS = ("bit/s", "messages/s", "1/s", "ns", "s", "ns/message")


def ranking_sentences(data: RunData) -> tuple[list[str], list[str]]:
    """A sentence for each experiment whose levels are ranked, and if simulated, one on the error;
    and a sentence for each experiment that lacks something for a ranking.
    """
    found = data.once(rankings)
    said: list[str] = []
    lacking: list[str] = []
    for name, own in found.items():
        title = data.study.titles[name]
        opening = f"{title[0].upper()}{title[1:]}: " if len(found) > 1 else ""
        if why := _why_unranked(data, own):
            lacking.append(f"{opening}{why}")
        else:
            said.append(_sentence(data, own, opening))
    factors = {
        quantity(data.study, one.metric).name: one.model_factor
        for own in found.values()
        for one in own
        if one.is_tested and one.model_factor is not None
    }
    if factors:
        each = [f"{number(factor, 3)} for {name}" for name, factor in factors.items()]
        said.append(
            f"Simulated ratios within the model's error, a factor of {joined(each)}, show no order."
        )
    return said, lacking


def level_names(
    study: Study, factor: str, levels: Sequence[Level], published: Published | None = None
) -> dict[Level, str]:
    """Names of levels in a ranking: the study's names, or the shortest unique ones."""
    if published is not None and all(published.named_level(factor, one) for one in levels):
        return {level: level_title(published, factor, level) for level in levels}
    if factor == "server":
        return server_names(levels)
    if factor in ("service", "transport", "ip_version"):
        return {level: level_text(study, factor, level) for level in levels}
    return {level: str(level) for level in levels}


def _names(data: RunData, own: Sequence[Ranking]) -> dict[Level, str]:
    levels = dict.fromkeys(
        level
        for one in own
        for level in (*(r.level for group in one.groups for r in group), *one.lacking)
    )
    return level_names(data.study, own[0].factor, list(levels), data.published)


def _why_unranked(data: RunData, own: Sequence[Ranking]) -> str | None:
    shown, names = quantity(data.study, own[0].metric), _names(data, own)
    every = joined(list(names.values()))
    if not any(one.is_tested for one in own):
        # Levels with a result at some condition only lack trials.
        lacking = [names[one] for one in names if all(one in each.lacking for each in own)]
        if lacking:
            return f"No ranking: there is no result of {joined(lacking)}."
        if data.study.is_simulated or not any(one.groups[0][0].worse for one in own):
            why = "a ranking takes two trials of each"
            if not data.study.is_simulated:
                why = too_few_text(own[0].trials, LEAST_FOR_ORDER)
            return f"{every} are not ranked by {shown.name}: {why}."
    if data.study.is_simulated and any(o.model_factor is None and not o.at_limit for o in own):
        return f"{every} are not ranked by {shown.name}: the model's error is not known."
    return None


def _sentence(data: RunData, own: Sequence[Ranking], opening: str) -> str:
    shown, names = quantity(data.study, own[0].metric), _names(data, own)
    alike = _all_alike(data.study, own, shown.name)
    if alike is not None:
        return f"{opening}{alike}"
    is_speed = shown.si_unit in _SPEED_UNITS
    worse = "slower" if is_speed else "worse"
    order, best = f"{shown.name[0].upper()}{shown.name[1:]}", "fastest" if is_speed else "best"
    if opening:
        title = opening.removesuffix(": ")
        order = title if shown.name.lower() in title.lower() else f"{opening}{shown.name}"
    few = ""
    if not any(one.is_tested for one in own):
        order += f", {best} mean first"
        few = f" {too_few_text(min(one.trials for one in own), LEAST_FOR_ORDER)}."
    elif any(len(one.groups) > 1 for one in own):
        order += f", {best} first"
    parts = _parts(data.study, own, names, worse)
    said = "; ".join(f"{where}: {words}" if where else words for where, words in parts)
    # One colon is enough.
    return f"{order}{',' if parts[0][0] else ':'} {said}.{few}"


def _all_alike(study: Study, own: Sequence[Ranking], name: str) -> str | None:
    """The sentence that no condition shows a difference between levels; `None` if one does."""
    counts = {sum(len(group) for group in one.groups) for one in own}
    if len(counts) > 1 or any(len(one.groups) > 1 or one.lacking or one.at_limit for one in own):
        return None
    if any(ranked.behind for one in own for ranked in one.groups[0]) or not own[0].is_tested:
        return None
    count = counts.pop()
    if count <= _MOST_ALIKE:
        return None
    many = _PLURALS.get(own[0].factor, f"{own[0].factor}s")
    where = [condition_text(study, one.condition) for one in own]
    named = where if len(where) <= _MOST_NAMED and all(where) else []
    at = f" with {' or '.join(named)}" if named else ""
    return f"No difference in {name} was shown between any two of the {count} {many}{at}."


def _parts(
    study: Study, own: Sequence[Ranking], names: Mapping[Level, str], worse: str
) -> list[tuple[str, str]]:
    """The orders, each with the conditions in which it was found."""
    orders = [_order(one, names, worse) for one in own]
    # Without an order there are no ratios to tell.
    has_order = len(own) == 1 or any(one.groups[1:] or not one.is_tested for one in own)
    if len(own) <= _MOST_CONDITIONS and has_order:
        at = [condition_text(study, one.condition) for one in own]
        return [(f"with {a}" if a else "", b) for a, b in zip(at, orders, strict=True)]
    alike: dict[str, list[Ranking]] = {}
    for one in own:
        alike.setdefault(_order(one, names, worse, ratios=False), []).append(one)
    every = [one.condition for one in own]
    parts = []
    for order, same in sorted(alike.items(), key=lambda item: -len(item[1])):
        where = where_text(every, [one.condition for one in same], partial(level_text, study))
        parts.append((where, order))
    return parts


def _order(one: Ranking, names: Mapping[Level, str], worse: str, *, ratios: bool = True) -> str:
    said: list[str] = []
    best = one.groups[0][0]
    than = f" than {names[best.level]}" if len(one.groups[0]) > 1 else ""
    for place, group in enumerate(one.groups):
        is_named = place == 0 or not ratios
        if not ratios:
            # Their order says nothing.
            group = tuple(sorted(group, key=lambda ranked: [*names].index(ranked.level)))
        text = joined(
            [
                names[r.level] if is_named else ranked_text(r, names, one.metric, worse, than)
                for r in group
            ]
        )
        if {ranked.level for ranked in group} <= one.at_limit:
            limit = f" ({format_rate(one.limit_bps or 0.0)})" if ratios else ""
            network = f"as fast as the network{limit}"
            is_every = len(one.groups) == 1 and not one.lacking and len(group) in _ALL
            text = f"{_ALL[len(group)]} are {network}" if is_every else f"{text}, {network}"
        elif len(group) > 1:
            text += f" ({_within(group, names, worse)})"
        said.append(text)
    text = ", then ".join(said)
    if not (one.is_tested or one.at_limit):
        others = [ranked for group in one.groups for ranked in group][1:]
        means = [replace(r, low=None, high=None, worse=r.worse if ratios else None) for r in others]
        by_mean = [ranked_text(ranked, names, one.metric, worse, "") for ranked in means]
        text = ", ".join(filter(None, (names[best.level], listed(by_mean, _MOST_NAMED))))
    if one.lacking:
        text += f" (no result of {joined([names[level] for level in one.lacking])})"
    return text


def _within(group: Sequence[Ranked], names: Mapping[Level, str], worse: str) -> str:
    shown = [
        f"{names[one.level]} {worse} than {joined([names[level] for level in one.behind])}"
        for one in group
        if one.behind
    ]
    return f"shown: {'; '.join(shown)}; no other difference" if shown else "no difference shown"


def ranked_text(
    ranked: Ranked, names: Mapping[Level, str], metric: str, worse: str, than: str
) -> str:
    """A level with how much worse it is. A rate that is worse by a factor of 1.25 is 20 % slower, a
    time 25 %.
    """
    name = names[ranked.level]
    # The best over all comparisons may be worse than a level that others are shown to beat.
    if ranked.worse is None or ranked.worse < 1:
        return name
    ratio = ranked.worse
    ends = None if ranked.low is None or ranked.high is None else (ranked.low, ranked.high)
    if worse == "slower" and metric_direction(metric) == "more":
        ratio, ends = 1 / ratio, ends and (1 / ends[1], 1 / ends[0])
    word = f"{worse}{than}"
    return f"{name} {difference_text(ratio, ends, word, word)}"


_MOST_CASES = 4


def factor_effects_sentences(data: RunData) -> list[str]:
    """First the most important factor, then for each factor its levels relative to its first, and
    how right the simulated ratios are. Empty if no factors are crossed.
    """
    found = factor_effects(data)
    if found is None:
        return []
    shown = quantity(data.study, found.metric).name
    spreads = [
        f"{number(one.ratio, 3)} by {name_of(one.factor)} ({_ends(one)})" for one in found.overall
    ]
    factor = ratio_factor(data.once(held_out_of), found.metric)
    error = f"a ratio is right within a factor of {number(factor, 3)}, 95 %"
    if math.isinf(factor):
        error = f"the model's error of {shown} is not known"
    return [
        f"Simulated, all else equal, {shown} differs by a factor of {joined(spreads)}.",
        _deciding(data.study, found),
        *(_factor(data.study, found, one) for one in found.overall),
        f"These are simulated means: {error}.",
    ]


def _ends(one: Spread | Effect) -> str:
    least, greatest = number(one.least, 3), number(one.greatest, 3)
    return "in every condition" if least == greatest else f"{least} to {greatest} by condition"


def _deciding(study: Study, found: FactorEffects) -> str:
    top = found.overall[0].factor
    known = [case for case in found.cases if case.spreads]
    others = [case for case in known if case.spreads[0].factor != top]
    text = f"The {name_of(top)} changes the mean most"
    if not others:
        return f"{text}."
    text += f" in {len(known) - len(others)} of {len(known)} cases"
    named = []
    for case in others[:_MOST_CASES]:
        first = case.spreads[0]
        times = f"{name_of(first.factor)}, a factor of {number(first.ratio, 3)}"
        named.append(f"{condition_text(study, case.at)} ({times})")
    if len(others) > len(named):
        named.append(f"{len(others) - len(named)} more")
    return f"{text}; another factor does with {joined(named)}."


def _factor(study: Study, found: FactorEffects, spread: Spread) -> str:
    own = [one for one in found.effects if one.factor == spread.factor]
    base, metric = level_text(study, spread.factor, own[0].base), quantity(study, found.metric).name
    levels = [
        f"{level_text(study, one.factor, one.level)} {number(one.ratio)} "
        f"\N{MULTIPLICATION SIGN} ({_ends(one)})"
        for one in own
    ]
    return (
        f"{metric[0].upper()}{metric[1:]} relative to {base}: {joined(levels)}; the "
        f"effect is greatest with {condition_text(study, spread.greatest_at)}."
    )
