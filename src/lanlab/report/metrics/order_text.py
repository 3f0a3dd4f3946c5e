"""Remarks on the order of trials, which affects their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.run_data import RunData
from lanlab.analysis.slow_first import SlowFirst, slow_first
from lanlab.analysis.summary import Summary
from lanlab.analysis.trial_order import LEAST_TRIALS, hanging_together
from lanlab.figures.number_text import number
from lanlab.figures.wording import condition_text
from lanlab.studies import Study


def order_sentences(data: RunData) -> list[str]:
    """The conditions with a slow first trial, a drift, or correlated trials."""
    summaries = [
        summary
        for scaled in data.experiments
        if scaled.search is None
        for summary in data.summaries(scaled.experiment.id, scaled.experiment.metrics[0])
    ]
    return [*_slow_firsts(summaries, data.study), *_neighbours(summaries, data)]


def first_trial_text(found: SlowFirst, of: int) -> str:
    return (
        f"{number(found.ratio, 2)} times slower than the median of the other {of - 1}, as with a "
        "cold cache or a disk that spins up. It is in the mean and its interval. Run it again at "
        "once, or bring both ends into the same state before each trial by --prepare"
    )


def _slow_firsts(summaries: Sequence[Summary], study: Study) -> list[str]:
    both = [(one, slow_first(one.metric, one.values)) for one in summaries]
    found = [(one, slow) for one, slow in both if slow is not None]
    if not found:
        return []
    summary, slow = max(found, key=lambda one: one[1].ratio)
    where = condition_text(study, summary.factors)
    most = f"The first trial{f' of {where}' if where else ''} was "
    others = f" So it was in {len(found)} conditions." if len(found) > 1 else ""
    return [f"{most}{first_trial_text(slow, summary.n)}.{others}"]


def _neighbours(summaries: Sequence[Summary], data: RunData) -> list[str]:
    found = hanging_together(summaries)
    if not found:
        return []
    count = sum(summary.n >= LEAST_TRIALS for summary in summaries)
    first = found[0]
    named = condition_text(data.study, first.summary.factors)
    named = named or data.titles[first.summary.experiment]
    conditions = "1 condition" if count == 1 else f"{count} conditions"
    most = "" if len(found) == 1 else ", most of all those"
    return [
        f"Trials drift or hang together in {len(found)} of {conditions} with {LEAST_TRIALS} trials "
        f"or more{most} of {named}: each is like the one before (correlation "
        f"{number(first.correlation, 2)}), so that the 95 % interval is made longer. Run it again, "
        "several times, and compare runs."
    ]
