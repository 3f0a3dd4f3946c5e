"""Verdicts as plain values, for programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lanlab.analysis.findings.verdicts import Judged, Judgement, Verdicts

_Words = Callable[[str], str]


def verdicts_as_data(verdicts: Verdicts, words: _Words = str) -> dict[str, object]:
    """
    All judgements, at full precision; an unbounded end of an interval is null.

    Args:
        words: Replaces keys in texts by display names.
    """
    return {
        "on": verdicts.on,
        "is_simulated": verdicts.is_simulated,
        "level": verdicts.level,
        "family": verdicts.family,
        "counts": {
            name: verdicts.count(name)
            for name in ("holds", "does not hold", "undecided", "not tested")
        },
        "findings": [judgement_as_data(one, words) for one in verdicts.judgements],
    }


def judgement_as_data(one: Judgement, words: _Words = str) -> dict[str, object]:
    further = one.further
    return {
        "id": one.finding.id,
        "claim": one.finding.claim,
        "origin": one.finding.origin,
        "verdict": one.verdict,
        "means": one.means,
        "means_only": one.is_means_only,
        "fitted": None
        if one.fitted is None
        else {
            "conditions": one.fitted[1],
            "fitted": one.fitted[0],
            "is_fitted_to": one.is_fitted_to,
        },
        "reasons": list(map(words, one.reasons)),
        "further": None
        if further is None
        else {
            "trials": further.trials,
            "trials_per_condition": further.trials_per_condition,
            "minutes": further.minutes,
        },
        "comparisons": [comparison_as_data(each, words) for each in one.comparisons],
        "on_this_system": None
        if one.here is None
        else {**judgement_as_data(one.here, words), "in_place_of": dict(one.assumed)},
    }


def comparison_as_data(one: Judged, words: _Words = str) -> dict[str, Any]:
    seen = one.comparison
    return {
        "what": words(seen.what),
        "metric": seen.metric,
        "measure": seen.measure,
        "verdict": one.truth,
        "value": _finite(seen.value),
        "low": _finite(one.low),
        "high": _finite(one.high),
        "confidence": one.confidence,
        "claimed_least": seen.least,
        "claimed_most": seen.most,
        "test": seen.test,
        "p": seen.p if seen.is_tested else None,
        "p_holm": one.p_holm,
        "hedges_g": seen.hedges_g,
        "trials": list(seen.n),
        "lost_trials": seen.lost_trials,
        "candidates": seen.candidates,
        "trials_needed": one.trials_needed,
        "model_error_factor": _finite(seen.model_factor) if seen.basis == "simulated" else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
