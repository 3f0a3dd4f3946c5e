"""The round trips of a condition over all its trials, from the stored histograms."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.traffic.histogram import Bucket, buckets, merged
from lanlab.analysis.trials.attempts import counting
from lanlab.roles import ROLES
from lanlab.store import Level, TrialRecord


def round_trips_by_condition(
    trials: Sequence[TrialRecord], experiments: Sequence[str]
) -> list[tuple[dict[str, Level], list[Bucket]]]:
    """
    The factor levels of each condition, and its round trips, ns. Trials without a histogram, as of
    other programs, are omitted.
    """
    found: dict[tuple[tuple[str, Level], ...], list[list[Bucket]]] = {}
    own = [t for t in trials if t.experiment in experiments and "requester" in ROLES[t.workload]]
    for trial in counting(own):
        summary = _histogram(trial)
        if summary:
            found.setdefault(tuple(trial.factors.items()), []).append(summary)
    return [(dict(key), merged(each)) for key, each in found.items()]


def _histogram(trial: TrialRecord) -> list[Bucket]:
    requester = trial.raw.get("requester")
    summary = requester.get("round_trip") if isinstance(requester, dict) else None
    text = summary.get("histogram") if isinstance(summary, dict) else None
    if not isinstance(text, str):
        return []
    try:
        return buckets(text)
    except ValueError:
        # A foreign store may contain anything here, and a report must not fail.
        return []
