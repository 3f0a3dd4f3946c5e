"""What reading published numbers again says, in plain sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from lanlab.analysis.published import is_own
from lanlab.analysis.rereading_doubts import Doubt
from lanlab.analysis.rereading_order import OrderDrift
from lanlab.analysis.rereading_pairs import PrintedPair
from lanlab.analysis.rereading_rates import CheckedRate
from lanlab.figures.number_text import number, percent, plain
from lanlab.figures.published_values import clock_step_ns, level_title, levels_text
from lanlab.figures.wording import Quantity, quantity
from lanlab.report.comparison_text import p_text
from lanlab.studies import Level, Published, PublishedValue, Study
from lanlab.units import format_time

#: Chance below which a difference or a drift is said to be shown.
_LEVEL = 0.05
#: Step of a clock, as a share of a time, above which it is reported.
_MUCH = 0.02
#: Statistics whose numbers have an order that a study may speak of.
_ORDERED = frozenset({"mean", "ratio", "maximum", "share_of_link"})
#: Most pairs of a factor that are reported each, those that differ included.
_FEW = 4


def drift_sentences(
    study: Study,
    published: Published,
    drifts: Sequence[OrderDrift],
    pairs: Sequence[PrintedPair],
) -> list[str]:
    """Each group of the first depth, then those of the second that drift."""
    said = []
    for one in drifts:
        if one.depth == 1 and one.drift is not None:
            said.append(_drift(study, published, one) + _against_pairs(study, one, pairs))
        elif one.depth == 2 and _is_shown(one.p_holm):
            said.append(_drift(study, published, one) + ".")
    return said


def pair_sentences(study: Study, published: Published, pairs: Sequence[PrintedPair]) -> list[str]:
    """How many pairs of each factor differ, and which do not; or that nothing can be tested."""
    if not pairs:
        printed = [v for v in published.value if is_own(v)]
        if any(v.statistic in _ORDERED for v in printed):
            return [
                "Neither trials nor standard deviations are printed: no order of these numbers can "
                "be tested."
            ]
        return []
    said = []
    groups: dict[tuple[str, str], list[PrintedPair]] = {}
    for one in pairs:
        groups.setdefault((one.metric, one.factor), []).append(one)
    for (metric, factor), own in groups.items():
        tested = [one for one in own if one.test is not None]
        missed = [one for one in tested if not _is_shown(one.p_holm)]
        title = next((f.title for f in published.factor if f.name == factor), factor)
        name = _metric_title(study, published, metric)
        said.append(f"{title[0].upper()}{title[1:]}, {name}: {_counted(len(tested), len(missed))}.")
        said += [_one_pair(study, published, one) for one in missed]
        if len(tested) <= _FEW:
            said += [_one_pair(study, published, one) for one in tested if one not in missed]
    return said


def clock_sentences(study: Study, published: Published) -> list[str]:
    """What the clock that timed the transfers cannot tell."""
    step = clock_step_ns(published)
    if step is None:
        return []
    times = [
        value
        for value in published.value
        if (value.metric, value.statistic) == ("elapsed_ns", "mean")
        and value.bound is None
        and is_own(value)
    ]
    said = []
    coarse = [f"{percent(step / v.si)} of {v.published} s" for v in times if step > _MUCH * v.si]
    if coarse:
        said.append(
            f"One step of the clock ({format_time(step / 1e9)}) is {' and '.join(coarse)}: such "
            "times, and the rates computed from them, are no more precise."
        )
    for a, b in itertools.combinations(times, 2):
        differing = [k for k in a.condition if a.condition[k] != b.condition.get(k)]
        alike = a.condition.keys() == b.condition.keys() and len(differing) == 1
        # Each of both may be a step off.
        if alike and abs(a.si - b.si) <= 2 * step:
            at = levels_text(published, a.condition, [k for k in a.condition if k != differing[0]])
            sides = (
                level_title(published, differing[0], v.condition[differing[0]]) for v in (a, b)
            )
            said.append(
                f"{at}: {' and '.join(sides)} took {a.published} and {b.published} s, which is "
                f"{number(abs(a.si - b.si) / step, 2)} steps of the clock apart: too near."
            )
    return said


def rate_sentences(published: Published, rates: Sequence[CheckedRate]) -> list[str]:
    """How many rates follow from amount and time, and which do not."""
    if not rates:
        return []
    wrong = [one for one in rates if not one.follows]
    said = [
        f"Of {_count(len(rates), 'printed rate')} {len(rates) - len(wrong)} follow from amount and "
        f"time, as far as these were printed; {len(wrong) or 'none'} {_do(len(wrong))} not."
    ]
    for one in wrong:
        per = one.rate.si / one.rate.value
        low, high = number(one.low_bps / per, 4), number(one.high_bps / per, 4)
        ends = low if low == high else f"{low} to {high}"
        at = levels_text(published, one.rate.condition, one.rate.condition)
        source = "its trials" if one.from_trials else f"{one.time.published} {one.time.unit}"
        said.append(
            f"{at}: printed {one.rate.published} {one.rate.unit}; "
            f"{plain(one.amount_bytes / 1e6)} MB in the time of {source} make {ends}."
        )
    binary = [one for one in rates if one.follows_with_1000 is not None]
    if binary:
        others = sum(one.follows_with_1000 is True for one in binary)
        right = sum(one.follows for one in binary)
        said.append(
            f"A kilobyte there is 1024 bytes: {right} of {len(binary)} rates follow so, and "
            f"{others} with 1000."
        )
    return said


def unit_sentences(found: Iterable[Doubt]) -> list[str]:
    """Errors of units and units that are not defined, each with its place."""
    return [doubt_sentence(one) for one in found if one.discrepancy.kind == "unit"]


def doubt_sentence(doubt: Doubt) -> str:
    """One discrepancy with its place, and whether the printed numbers show it."""
    one = doubt.discrepancy
    correct = f" Correct: {one.correct}." if one.correct else ""
    shown = {
        True: " The printed numbers show it.",
        False: " The printed numbers do not show it.",
        None: "",
    }[doubt.shown]
    return f"{one.where}: {one.stated} But: {one.evidence}{correct}{shown}"


def _drift(study: Study, published: Published, one: OrderDrift) -> str:
    """Without a full stop."""
    assert one.drift is not None
    shown = _shown(study, published, one.metric)
    drift = one.drift
    slope, low, high = (shown.shown(v) for v in (drift.slope, drift.low, drift.high))
    where = levels_text(published, one.common, one.common)
    p = f"p {p_text(drift.p)}, corrected {p_text(one.p_holm)}"
    of = f"{drift.n} trials of {_count(drift.conditions, 'condition')}"
    tau = f"Kendall's tau {number(drift.tau, 2)}, p {p_text(drift.tau_p)}"
    if _is_shown(one.p_holm):
        verb = "rises" if drift.slope > 0 else "falls"
        ends = " … ".join(number(end, 3) for end in sorted(map(abs, (low, high))))
        ends = ends if low * high > 0 else f"{number(low, 3)} … {number(high, 3)}"
        return (
            f"{where}: {shown.name} {verb} by {number(abs(slope), 3)} ({ends}) {shown.unit} from "
            f"one trial to the next ({of}; {p}; {tau})"
        )
    return (
        f"{where}: no drift of {shown.name} with the order of the trials is shown "
        f"({_signed(slope)} {shown.unit} a trial, {number(low, 3)} … {number(high, 3)}; {of}; {p})"
    )


def _against_pairs(study: Study, one: OrderDrift, pairs: Sequence[PrintedPair]) -> str:
    """How many differences of means a shown drift exceeds; ends the sentence."""
    change = one.change
    if change is None or not _is_shown(one.p_holm):
        return "."
    inside = [
        pair
        for pair in pairs
        if pair.metric == one.metric and one.common.items() <= dict(pair.at).items()
    ]
    shown = quantity(study, one.metric)
    text = f". From the first trial to the last that is {number(shown.shown(abs(change)), 3)} "
    text += shown.unit
    for factor in dict.fromkeys(pair.factor for pair in inside):
        own = [pair for pair in inside if pair.factor == factor]
        smaller = [p for p in own if abs(p.mean_a - p.mean_b) < abs(change)]
        if smaller:
            text += (
                f", more than {len(smaller)} of the {len(own)} differences there between means of "
                f"{factor}: an order of testing alone could make such"
            )
    return text + "."


def _counted(tested: int, missed: int) -> str:
    """How many pairs differ, as in `of 12 pairs 8 differ (Holm's correction over 12); 4 are not
    shown to`."""
    if tested == 1:
        return "one pair" + (" is not shown to differ" if missed else " differs")
    text = f"of {tested} pairs {tested - missed or 'none'} differ (Holm's correction over {tested})"
    if not missed:
        return text.replace(f"of {tested} pairs {tested}", f"all {tested} pairs")
    return f"{text}; {missed} {_are(missed)} not shown to"


def _one_pair(study: Study, published: Published, one: PrintedPair) -> str:
    assert one.test is not None
    shown = _shown(study, published, one.metric)
    at = levels_text(published, one.at, one.at)
    sides = [
        f"{level_title(published, one.factor, level)} {number(shown.shown(mean), 4)} {shown.unit}"
        for level, mean in ((one.a, one.mean_a), (one.b, one.mean_b))
    ]
    effect, low, high = (
        number(shown.shown(v), 3) for v in (one.test.effect, one.test.low, one.test.high)
    )
    lost = ""
    if one.p_range is not None:
        ends = " to ".join(p_text(p) for p in one.p_range)
        lost = f"; for every possible value of the lost trials p {ends}"
    verdict = "Shown" if _is_shown(one.p_holm) else "Not shown"
    return (
        f"{verdict}: {at}: {' and '.join(sides)} (difference of {one.source} {effect} "
        f"{shown.unit}, {low} … {high}; p {p_text(one.test.p_two_sided)}, corrected "
        f"{p_text(one.p_holm)}{lost})."
    )


def _shown(study: Study, published: Published, metric: str) -> Quantity:
    shown = quantity(study, metric)
    name = _metric_title(study, published, metric)
    return Quantity(metric, name, shown.unit, shown.si_per_unit, shown.si_unit)


def _metric_title(study: Study, published: Published, metric: str) -> str:
    title = next((one.title for one in published.metric if one.name == metric), None)
    return title or quantity(study, metric).name


def _is_shown(p: float | None) -> bool:
    return p is not None and p <= _LEVEL


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _signed(value: float) -> str:
    return f"+{number(value, 3)}" if value > 0 else number(value, 3)


def at_text(published: Published, condition: Mapping[str, Level]) -> str:
    """A condition as the study calls it."""
    return levels_text(published, condition, condition)


def printed_text(value: PublishedValue) -> str:
    """A number with its unit as printed."""
    return f"{value.published} {value.unit}".strip()
