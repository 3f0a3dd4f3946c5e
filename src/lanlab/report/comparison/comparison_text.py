"""The results of a comparison, in plain sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from lanlab.analysis.comparison.compare import LEVEL, Compared
from lanlab.figures.number_text import counted, number, plain, too_few_text, with_ends
from lanlab.figures.wording import Quantity, condition_text, quantity
from lanlab.report.comparison.comparison_remarks import mode_sentences
from lanlab.studies.model import Study
from lanlab.workloads.metrics import metric_direction

#: Above this factor, ratios and the ends of their intervals are written as factors: "3.4 times",
#: not "240 % more", and "1.1 (0.02 … 44) times", not "10 % (-98 … 4,300 %) more".
_AS_FACTOR = 2.0
_MOST_UNTOLD = 6
_LEAST_CONDITIONS = 3
_TIME_UNITS = ("ns",)
_SPEED_UNITS = ("bit/s", "messages/s", "1/s")
_POINTS = "percentage points"


def comparison_sentences(study: Study, found: Sequence[Compared]) -> list[str]:
    """The number of comparisons by outcome, the overall difference of each metric, and one sentence
    for each comparison.
    """
    several = len({one.experiment for one in found}) > 1
    said = [*_over_conditions(study, found), _counted(found)]
    untold = [one for one in found if one.verdict == "cannot_tell"]
    for one in found:
        if one.verdict == "cannot_tell" and len(untold) > _MOST_UNTOLD:
            continue
        opening = f"{study.titles.get(one.experiment, one.experiment)}: " if several else ""
        said.append(opening + sentence(study, one))
    if len(untold) > _MOST_UNTOLD:
        said.append(_untold(untold))
    return said + mode_sentences(found)


def correction_sentence(found: Sequence[Compared]) -> str:
    """The correction for multiple tests; empty if at most one comparison was tested."""
    tested = sum(one.test is not None for one in found)
    if tested < 2 or all(one.is_simulated for one in found):
        return ""
    return (
        f"Differences are corrected for all {tested} comparisons together (Holm's method, "
        f"{100 * LEVEL:g} %); each 95 % interval is that of its condition alone."
    )


def model_sentences(study: Study, found: Sequence[Compared]) -> list[str]:
    """How right simulated ratios are, by metric."""
    factors = {one.metric: one.model_factor for one in found if one.is_simulated}
    return [
        f"Simulated {quantity(study, metric).name}: {_model_error(factor)}; seeds do not show it."
        for metric, factor in factors.items()
    ]


def _model_error(factor: float) -> str:
    if math.isinf(factor):
        return "the model's error is not known"
    return f"a ratio is right within a factor of {number(factor, 3)}, 95 %, by the model's error"


def sentence(study: Study, one: Compared) -> str:
    shown = quantity(study, one.metric)
    where = condition_text(study, one.factors)
    at = f" at {where}" if where else ""
    sides = f"{one.other_name} and {one.base_name}"
    if one.effect is None:
        return f"No {shown.name} of {sides}{at} can be compared: {one.why}."
    if one.test is None and not one.is_within_model:
        if abs(one.effect - (1.0 if one.scale == "log" else 0.0)) < 1e-12:
            name = shown.name[0].upper() + shown.name[1:]
            return f"{name} of {sides}{at} was the same, but {_reason(one)}."
        return f"{_claim(shown, one, at, 'was')}, but {_reason(one)}."
    if one.verdict == "equivalent" and one.margin is not None:
        within = _margin_text(shown, one)
        seen = _claim(shown, one, "", "is")
        return f"No difference within {within} between {sides}{at}: {seen}."
    if one.verdict == "differs":
        return f"{_claim(shown, one, at, 'is')}{_but_disturbed(one)}."
    if one.verdict == "runs_differ":
        return f"{_claim(shown, one, at, 'was')} in these runs{_but_disturbed(one)}."
    return f"{_undecided(shown, one, sides, at)}."


def verdict_text(one: Compared) -> str:
    if one.verdict == "no_interval":
        return "no interval"
    if one.verdict == "equivalent":
        return "no difference within the margin"
    if one.verdict == "differs" and one.may_be_modes:
        return "differs, or two modes"
    if one.verdict == "differs":
        better = {True: ", better", False: ", worse", None: ""}[one.better]
        return f"differs{better}{', most trials disturbed' if one.is_unguarded else ''}"
    if one.verdict == "runs_differ":
        return "these runs differ, cause unknown"
    return f"undecided{_more(one)}"


def effect_text(study: Study, one: Compared) -> str:
    """The effect with its interval, for a table: a ratio, or a difference with its unit."""
    if one.effect is None:
        return ""
    shown = quantity(study, one.metric)
    if one.scale == "log":
        text, unit = number(one.effect, 4), ""
    else:
        text = _signed(shown.shown(one.effect))
        unit = f" {_POINTS if shown.unit == '%' else shown.unit}".rstrip()
    if one.interval is None:
        return f"{text}{unit}"
    low, high = (
        number(end, 4) if one.scale == "log" else _signed(shown.shown(end)) for end in one.interval
    )
    return f"{text} ({low} … {high}){unit}"


def p_text(p: float | None) -> str:
    """
    Format a p-value.

    Examples:
        >>> p_text(0.0312), p_text(0.0000001), p_text(None)
        ('0.031', '< 0.001', '')
    """
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else number(p, 2)


def _counted(found: Sequence[Compared]) -> str:
    counts = Counter(one.verdict for one in found)
    better = sum(one.better is True for one in found if one.verdict == "differs")
    worse = sum(one.better is False for one in found if one.verdict == "differs")
    neither = counts["differs"] - better - worse
    parts = [
        (better, "better"),
        (worse, "worse"),
        (neither, "different"),
        (counts["runs_differ"], "different in these runs, cause unknown"),
        (counts["equivalent"], "not different within the margin"),
        (counts["cannot_tell"], "undecided"),
        (counts["no_interval"], "without an interval"),
    ]
    said = ", ".join(f"{count} {words}" for count, words in parts if count)
    others = list(dict.fromkeys(one.other_name for one in found))
    bases = list(dict.fromkeys(one.base_name for one in found))
    total = counted(len(found), "comparison")
    return f"{total} of {', '.join(others)} with {', '.join(bases)}: {said}."


def _over_conditions(study: Study, found: Sequence[Compared]) -> list[str]:
    several = len({one.experiment for one in found}) > 1
    groups: dict[tuple[str, str, str, str], list[Compared]] = {}
    for one in found:
        if one.effect is not None and one.scale == "log":
            key = one.experiment, one.metric, one.other_name, one.base_name
            groups.setdefault(key, []).append(one)
    said = []
    for (experiment, metric, other, base), own in groups.items():
        shown_to = sum(one.verdict in ("differs", "runs_differ") for one in own)
        if len(own) < _LEAST_CONDITIONS or 2 * shown_to <= len(own):
            continue
        shown = quantity(study, metric)
        effects = sorted(one.effect for one in own if one.effect is not None)
        low, high = effects[0], effects[-1]
        opening = f"{study.titles.get(experiment, experiment)}: " if several else ""
        if low < 1 < high or not 1 / _AS_FACTOR < low <= high < _AS_FACTOR:
            size = f"{number(low, 3)} to {number(high, 3)} times {base}'s"
            text = f"{other}'s {shown.name} was {size}"
        else:
            gains = [number(gain, 3) for gain in sorted(100 * abs(e - 1) for e in (low, high))]
            ends = " to ".join(dict.fromkeys(gains))
            side, word, than = _direction(shown, own[0], high > 1)
            text = f"{side} was {ends} % {word} than {than}"
        is_of_runs = any(one.verdict == "runs_differ" for one in own)
        claim = " in these runs" if is_of_runs else ""
        said.append(f"{opening}{text}{claim} over {len(own)} conditions.")
    return said


def _untold(untold: Sequence[Compared]) -> str:
    needed = [one.further.further_trials for one in untold if one.further is not None]
    known = [count for count in needed if count is not None]
    text = f"{len(untold)} comparisons are undecided"
    if all(one.is_within_model for one in untold):
        return f"{text}: the model's error is greater or not known."
    text += f" with these {untold[0].unit}s"
    if few := [one for one in untold if one.is_too_few]:
        fewest = min(min(one.base.n, one.other.n) for one in few)
        text += f"; {too_few_text(fewest, few[0].least_for_order, few[0].unit)}"
    elif known:
        ends = f"{min(known)}" if min(known) == max(known) else f"{min(known)} to {max(known)}"
        text += f"; the table says how many more each needs, {ends} {untold[0].unit}s where known"
    return f"{text}."


def _claim(shown: Quantity, one: Compared, at: str, verb: str) -> str:
    """A sentence such as `RUN2 is 12 % (9 … 15 %) faster than RUN1 at 500 B`."""
    assert one.effect is not None
    name = f"{one.other_name}'s {shown.name}"
    if one.scale == "linear":
        unit = _POINTS if shown.unit == "%" else shown.unit
        size = number(abs(shown.shown(one.effect)), 3)
        if one.interval is not None:
            sign = -1 if one.effect < 0 else 1
            low, high = sorted(sign * shown.shown(end) for end in one.interval)
            size += f" ({number(low, 3)} … {number(high, 3)})"
        word = "higher" if one.effect >= 0 else "lower"
        return f"{name} {verb} {f'{size} {unit}'.strip()} {word} than {one.base_name}'s{at}"
    ends = ""
    within = (one.effect, *(one.interval or ()))
    if not all(1 / _AS_FACTOR < ratio < _AS_FACTOR for ratio in within):
        return f"{name} {verb} {with_ends(one.effect, one.interval)} times {one.base_name}'s{at}"
    gain = 100 * abs(one.effect - 1)
    if one.interval is not None:
        sign = -1 if one.effect < 1 else 1
        low, high = sorted(sign * 100 * (end - 1) for end in one.interval)
        ends = f" ({number(low, 3)} … {number(high, 3)} %)"
        gain = as_known(gain, low, high)
    size = f"{number(gain, 3)} %"
    side, word, than = _direction(shown, one, one.effect >= 1)
    return f"{side} {verb} {size}{ends} {word} than {than}{at}"


def _direction(shown: Quantity, one: Compared, is_more: bool) -> tuple[str, str, str]:
    if shown.si_unit in _SPEED_UNITS and metric_direction(one.metric) == "more":
        return one.other_name, "faster" if is_more else "slower", one.base_name
    more, less = ("longer", "shorter") if shown.si_unit in _TIME_UNITS else ("higher", "lower")
    return f"{one.other_name}'s {shown.name}", more if is_more else less, f"{one.base_name}'s"


def as_known(value: float, low: float, high: float) -> float:
    """
    The value with the digits that its interval supports. A value much smaller than its interval
    is rounded to a hundredth of the interval's half width; any other is unchanged.

    Examples:
        >>> as_known(0.00623, -1.04, 1.07), as_known(3.694, 3.31, 4.08)
        (0.01, 3.694)
    """
    half = (high - low) / 2
    return value if value >= half / 10 else round(value, 2 - math.floor(math.log10(half)))


def _undecided(shown: Quantity, one: Compared, sides: str, at: str) -> str:
    text = f"Undecided whether {sides} differ in {shown.name}{at}"
    text += f": here {_claim(shown, one, '', 'is')}"
    if one.is_within_model:
        known = "not known" if math.isinf(one.model_factor) else "greater"
        return f"{text}, and the model's error is {known}"
    if one.is_too_few:
        fewest = min(one.base.n, one.other.n)
        return f"{text}; {too_few_text(fewest, one.least_for_order, one.unit)}"
    assert one.test is not None
    if one.test.p_two_sided <= LEVEL and one.p_holm is not None:
        text += (
            f"; p is {p_text(one.test.p_two_sided)} alone, {p_text(one.p_holm)} corrected for all "
            f"comparisons"
        )
    more = _more(one)
    return text + more.replace(": ", "; to decide: ", 1) if more else text


def _more(one: Compared) -> str:
    """The number of further units needed, as in `: about 12 more trials, 3 minutes`."""
    further = one.further
    if one.is_within_model:
        return ": within the model's error"
    if one.is_too_few:
        return f": fewer than {one.least_for_order} {one.unit}s each"
    if further is None:
        return ""
    if further.further_trials is None or further.minutes is None:
        return f": more than {further.cap} {one.unit}s a side"
    minutes = further.minutes
    took = "less than a minute" if minutes < 1 else f"{minutes:.0f} min"
    turns = ", alternating" if one.unit == "run" else ""
    return f": about {counted(further.further_trials, f'more {one.unit}')}{turns}, {took}"


def _margin_text(shown: Quantity, one: Compared) -> str:
    assert one.margin is not None
    if one.scale == "log":
        return f"{plain(round(100 * (one.margin.high - 1), 9))} %"
    unit = _POINTS if shown.unit == "%" else shown.unit
    return f"{number(shown.shown(one.margin.high), 3)} {unit}".rstrip()


def _but_disturbed(one: Compared) -> str:
    if not one.is_unguarded:
        return ""
    sides = ((one.base_name, one.base), (one.other_name, one.other))
    names = [name for name, side in sides if side.is_mostly_disturbed]
    return f", but most trials of {' and '.join(names)} were disturbed"


def _reason(one: Compared) -> str:
    if one.why.startswith(f"one {one.unit} of"):
        return f"seen in {one.why}".replace(": no", ", so no")
    return f"there is no interval: {one.why}"


def _signed(value: float) -> str:
    return f"+{number(value, 3)}" if value > 0 else number(value, 3)
