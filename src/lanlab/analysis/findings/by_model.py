"""Verdicts on simulated comparisons: means, right within the model's error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from lanlab.analysis.findings.claim import Comparison, Gap, Joined, Node, Truth

Ends = tuple[float, float]
#: The model's error of a metric, see `model_error_log`; `None` if unknown.
ErrorOf = Callable[[str], float | None]


def of_a_model(node: Node, error_of: ErrorOf) -> Node:
    """
    The statement judged by means and the model's error. Seeds of one model are not a sample of
    machines, so a test over them would claim too much.
    """
    if isinstance(node, Joined):
        return replace(node, parts=tuple(of_a_model(one, error_of) for one in node.parts))
    if isinstance(node, Gap):
        return node
    factor, ends = _within_error(node, error_of)
    return replace(
        node,
        basis="simulated",
        test="none: means over seeds",
        p_for=1.0,
        p_against=1.0,
        hedges_g=None,
        interval=lambda confidence: ends,
        trials_needed=lambda level: None,
        model_factor=factor,
    )


def _within_error(one: Comparison, error_of: ErrorOf) -> tuple[float, Ends]:
    """The factor within which a simulated number is right, and its interval. The errors of several
    conditions are treated as independent.
    """
    logs = [error_of(metric) for *_, metric in one.parts]
    known = [log for log in logs if log is not None]
    if not known or len(known) < len(logs):
        return math.inf, (-math.inf, math.inf)
    weighted = [
        (weight, mean, log) for (weight, mean, _), log in zip(one.parts, known, strict=True)
    ]
    if one.unit == "ratio" or len(weighted) == 1:
        log = math.hypot(*(weight * own for weight, _, own in weighted))
        low, high = one.value * math.exp(-log), one.value * math.exp(log)
    else:
        log = max(known)
        ends = [
            sorted(weight * mean * math.exp(end * own) for end in (-1, 1))
            for weight, mean, own in weighted
        ]
        sums = [weight * mean for weight, mean, _ in weighted]
        low = one.value - math.hypot(
            *(term - least for term, (least, _) in zip(sums, ends, strict=True))
        )
        high = one.value + math.hypot(
            *(most - term for term, (_, most) in zip(sums, ends, strict=True))
        )
    if one.greatest is not None:
        high = min(high, max(one.value, one.greatest))
    return math.exp(log), (low, high)


def truth_by_model(one: Comparison) -> Truth:
    """The verdict of the mean, if all values within the model's error agree with it."""
    if math.isinf(one.model_factor):
        return "undecided"
    low, high = one.interval(0.95)
    least = -math.inf if one.least is None else one.least
    most = math.inf if one.most is None else one.most
    is_within, is_beyond = least <= low and high <= most, high < least or low > most
    is_sure = is_within if one.point == "holds" else is_beyond
    return one.point if is_sure else "undecided"
