"""
The effects of crossed factors, in sentences: the most important factor, and exceptions to that.
"""

from __future__ import annotations

from lanlab.analysis.factor_effects import Case, Effect, FactorEffects, Spread, factor_effects
from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import number, with_interval
from lanlab.figures.wording import condition_text, level_text, name_of, quantity
from lanlab.report.answer.ranking_text import joined
from lanlab.studies import Study

_MOST_CASES = 4


def factor_effects_sentences(data: RunData) -> list[str]:
    """First the most important factor, then for each factor its levels relative to its first. Empty
    if no factors are crossed.
    """
    found = factor_effects(data.run, data.trials, data.study)
    if found is None:
        return []
    shown = quantity(data.study, found.metric).name
    return [
        f"With all else equal, {shown} changes {joined([_spread(one) for one in found.overall])}.",
        _deciding(data.study, found),
        *(_factor(data.study, found, one) for one in found.overall),
    ]


def _spread(one: Spread) -> str:
    ends = f"{number(one.least, 3)} to {number(one.greatest, 3)}"
    return f"{number(one.ratio, 3)} times by the {name_of(one.factor)} ({ends})"


def _deciding(study: Study, found: FactorEffects) -> str:
    top = found.overall[0].factor
    known = [case for case in found.cases if case.spreads]
    others = [case for case in known if case.spreads[0].factor != top]
    text = f"The {name_of(top)} decides in {len(known) - len(others)} of {len(known)} cases"
    if others:
        named = [_case(study, case) for case in others[:_MOST_CASES]]
        more = len(others) - len(named)
        text += f"; another factor does at {joined([*named, *([f'{more} more'] if more else [])])}"
    return f"{text}."


def _case(study: Study, case: Case) -> str:
    first = case.spreads[0]
    times = f"{name_of(first.factor)}, {number(first.ratio, 3)} times"
    return f"{condition_text(study, case.at)} ({times})"


def _factor(study: Study, found: FactorEffects, spread: Spread) -> str:
    own = [one for one in found.effects if one.factor == spread.factor]
    base, metric = level_text(study, spread.factor, own[0].base), quantity(study, found.metric).name
    return (
        f"Of the {metric} of {base} there is {joined([_level(study, one) for one in own])}; the "
        f"effect is greatest with {condition_text(study, spread.greatest_at)}."
    )


def _level(study: Study, one: Effect) -> str:
    ends = f"{number(one.least, 3)} to {number(one.greatest, 3)}"
    times = with_interval(one.ratio, one.interval)
    return f"{times} times with {level_text(study, one.factor, one.level)} ({ends})"
