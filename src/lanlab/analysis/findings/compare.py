"""Comparisons between conditions: values, differences, ratios, and sums of more than two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from lanlab.analysis.findings.claim import Comparison, Gap, Measure, Node, all_of, compared
from lanlab.analysis.findings.contrast import Term, contrast, contrasts, scale_for
from lanlab.analysis.findings.evidence import words
from lanlab.analysis.findings.sample import Sample, Trials
from lanlab.analysis.findings.sides import Place, Side
from lanlab.analysis.statistics.condition_mean import cut
from lanlab.analysis.statistics.samples import Scale, scale_of
from lanlab.studies.base import Level

#: Maximum combinations of conditions that may be the extreme ones.
_MOST_TIED = 65


def below(a: Place, b: Place, by_ratio: float = 1.0, strict: bool = True) -> Node:
    """Claim: `a` is below `b`, by a factor."""
    own_a, own_b, _ = apart([a, b])
    if by_ratio == 1 and own_b < own_a:
        # Order the sides, so that equal questions are tested once.
        return ratio(b, a, 1.0, None, strict=strict)
    return ratio(a, b, None, 1 / by_ratio, strict=strict)


def ratio(
    a: Place, b: Place, least: float | None, most: float | None, *, strict: bool = False
) -> Node:
    """Claim: `a / b` lies within bounds."""
    metric = a.scope.metric
    sides = _sides(a, b)
    is_lacking = isinstance(sides, Gap) or any(side.cell.is_derived for side in sides)
    if is_lacking and b.scope.metric == metric:
        # A ratio of two published values has both rounding errors; a published ratio has one.
        printed = a.scope.evidence.ratio(metric, a.scope.single(), b.scope.single())
        if printed is not None:
            terms = [(1.0, printed)]
            return of_ratios([a, b], [1, -1], terms, "ratio", least, most, strict=strict)
    if isinstance(sides, Gap):
        return sides
    wanted: Scale = "log" if "log" in (scale_of(metric), scale_of(b.scope.metric)) else "linear"
    both = [(1.0, sides[0].cell.sample), (-1.0, sides[1].cell.sample)]
    if scale_for(both, wanted) == "log":
        return weighted([a, b], [1.0, -1.0], "log", "ratio", least, most, strict=strict)
    if (least, most) in ((None, 1.0), (1.0, None)):
        least, most = (None if end is None else 0.0 for end in (least, most))
        return weighted([a, b], [1.0, -1.0], "linear", "difference", least, most, strict=strict)
    # On the linear scale, a ratio within bounds is a pair of one-sided differences.
    parts = []
    if least is not None:
        weights = [1.0, -least]
        parts.append(weighted([a, b], weights, "linear", "difference", 0.0, None, strict=strict))
    if most is not None:
        weights = [1.0, -most]
        parts.append(weighted([a, b], weights, "linear", "difference", None, 0.0, strict=strict))
    return all_of(parts)


def of_ratios(
    places: Sequence[Place],
    weights: Sequence[float],
    terms: Sequence[Term],
    measure: Measure,
    least: float | None,
    most: float | None,
    *,
    strict: bool,
) -> Node:
    """Claim: published ratios in place of conditions, with weights, are within bounds."""
    said = side_words(places)
    return compared(
        what=in_one_line(said, weights, "log"),
        metric=places[0].scope.metric,
        measure=measure,
        scale="log",
        estimates=[contrast(terms, "log")],
        least=least,
        most=most,
        strict=strict,
        sides=said,
    )


def difference(a: Place, b: Place, least: float | None, most: float | None) -> Node:
    """Claim: `a - b` lies within bounds, in the metric's SI unit."""
    return weighted([a, b], [1.0, -1.0], "linear", "difference", least, most)


def value(
    place: Place, least: float | None, most: float | None, measure: Measure = "value"
) -> Node:
    """Claim: the metric lies within bounds, in its SI unit or as a share."""
    metric = place.scope.metric
    bounded = all(end is None or end > 0 for end in (least, most))
    found = weighted(
        [place], [1.0], scale_of(metric) if bounded else "linear", measure, least, most
    )
    if not (isinstance(found, Comparison) and isinstance(place.found, Side)):
        return found
    known = [number for cell in place.found.all for number in _values(cell.sample)]
    # Measured shares can exceed the link's limit, so a share has no upper bound.
    least_seen, most_seen = min(known), math.inf if measure == "share" else max(known)
    interval = found.interval

    def possible(confidence: float) -> tuple[float, float]:
        return cut(metric, interval(confidence), least=least_seen, greatest=most_seen)

    greatest = 1.0 if measure == "share" else place.found.cell.limit
    return replace(found, interval=possible, greatest=greatest)


def _values(sample: Sample) -> tuple[float, ...]:
    return sample.values if isinstance(sample, Trials) else (sample.mean,)


def weighted(
    places: Sequence[Place],
    weights: Sequence[float],
    scale: Scale,
    measure: Measure,
    least: float | None,
    most: float | None,
    *,
    strict: bool = False,
    what: str | None = None,
) -> Node:
    """Claim: a weighted sum of conditions is within bounds. A gap if a condition has no value."""
    sides = _sides(*places)
    if isinstance(sides, Gap):
        return sides
    samples = [side.cell.sample for side in sides]
    pairs = list(zip(weights, samples, strict=True))
    wanted, scale = scale, scale_for(pairs, scale)
    if scale != wanted and measure != "value":
        # Bounds of a ratio do not apply to a difference.
        return Gap("a value is not above zero, so there is no ratio", True)
    estimates = list(contrasts(pairs, scale))
    combinations = math.prod(len(side.all) for side in sides)
    if combinations > _MOST_TIED:
        reason = "too many conditions could be the extreme one"
        return Gap(f"{reason}; name levels, or run more trials", True)
    for cells in list(itertools.product(*(side.all for side in sides)))[1:]:
        terms: list[tuple[float, Sample]] = list(
            zip(weights, (cell.sample for cell in cells), strict=True)
        )
        if scale_for(terms, scale) != scale:
            reason = "a condition that could be the extreme one has a value that is not above zero"
            return Gap(f"{reason}; name the levels", True)
        estimates += contrasts(terms, scale)
    said = [] if what else side_words(places, weights)
    return compared(
        what=what or in_one_line(said, weights, scale),
        metric=places[0].scope.metric,
        measure=measure,
        scale=scale,
        estimates=estimates,
        least=least,
        most=most,
        strict=strict,
        conditions=tuple(side.cell.name for side in sides),
        lost_trials=sum(side.lost_trials for side in sides),
        candidates=combinations,
        digits=places[0].scope.evidence.digits,
        sides=said,
        parts=[
            (weight, sample.mean, place.scope.metric)
            for place, (weight, sample) in zip(places, pairs, strict=True)
        ],
    )


def scale_at(places: Sequence[Place], metric: str) -> Scale:
    """The metric's scale if the values of all these conditions allow it."""
    cells = [place.found.cell for place in places if isinstance(place.found, Side)]
    return scale_for([(1.0, cell.sample) for cell in cells], scale_of(metric))


def place_words(place: Place) -> str:
    return ", ".join(filter(None, (_factors(place), place.taken)))


def apart(places: Sequence[Place]) -> list[str]:
    """What distinguishes each condition, in words; the last entry is what all have in common."""
    factors = [place.factors for place in places]
    keys = dict.fromkeys(key for own in factors for key in own)
    common: dict[str, Level] = {
        key: factors[0][key]
        for key in keys
        if all(key in own and own[key] == factors[0].get(key) for own in factors)
    }
    differ = [
        words(own, [key for key in keys if key in own and key not in common]) for own in factors
    ]
    return [*differ, words(common, list(common))]


def at_common(places: Sequence[Place]) -> str:
    """What all conditions have in common, as in ` at os xp`; empty for nothing."""
    common = apart(places)[-1] if len(places) > 1 else place_words(places[0])
    return f" at {common}" if common else ""


def side_words(places: Sequence[Place], weights: Sequence[float] = ()) -> list[str]:
    """What sets each place apart, in words; the last entry is what all have in common."""
    *own, common = apart(places) if len(places) > 1 else ("", _factors(places[0]))
    several = len({place.scope.metric for place in places}) > 1
    said = []
    for number, (place, text) in enumerate(zip(places, own, strict=True)):
        taken, _, at = place.taken.partition(", at ")
        if several or (len(places) > 1 and not (text or taken)):
            text = ", ".join(filter(None, (place.scope.metric, text)))
        if taken:
            of = "published" if place.scope.evidence.can_lack else "tried"
            text = f"{taken} of {text}" if text else taken
            text += f" (at {at} among those {of})" if at else ""
        weight = abs(weights[number]) if len(places) == 2 and weights else 1.0
        said.append(text if weight == 1 else f"{weight:g} \N{MULTIPLICATION SIGN} {text}")
    return [*said, common]


def in_one_line(sides: Sequence[str], weights: Sequence[float], scale: Scale) -> str:
    """The result of `side_words` as the name of a comparison."""
    *own, common = sides
    if len(own) == 1:
        return ", ".join(filter(None, (common, *own)))
    # On the log scale a sum is a product of ratios.
    plus, minus = ("x", "/") if scale == "log" else ("+", "-")
    signs = [plus if weight > 0 else minus for weight in weights]
    said = " ".join(f"{sign} ({one})" for sign, one in zip(signs, own, strict=True))
    return f"{said.removeprefix(f'{plus} ')}{f' at {common}' if common else ''}"


def _factors(place: Place) -> str:
    return words(place.factors, list(place.factors))


def _sides(*places: Place) -> list[Side] | Gap:
    missing = [place.found for place in places if isinstance(place.found, Gap)]
    if not missing:
        return [place.found for place in places if isinstance(place.found, Side)]
    there = len(missing) < len(places) or any(gap.is_partial for gap in missing)
    reasons = dict.fromkeys(gap.reason for gap in missing)
    return Gap("; ".join(reasons), there)
