"""What the order of trials says of their intervals, in words."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.summary import summarise
from lanlab.analysis.trial_order import LEAST_TRIALS, hanging_together
from lanlab.figures.number_text import number
from lanlab.figures.wording import condition_text
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study, at_scale


def order_sentences(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> list[str]:
    """Which conditions have trials that drift or hang together; nothing where none is seen."""
    summaries = [
        summary
        for scaled in at_scale(study, run.scale)
        if scaled.search is None
        for summary in summarise(run, trials, scaled.experiment.id, scaled.experiment.metrics[0])
    ]
    found = hanging_together(summaries)
    if not found:
        return []
    count = sum(summary.n >= LEAST_TRIALS for summary in summaries)
    first = found[0]
    titles = {one.id: one.title for one in study.experiment}
    named = condition_text(study, first.summary.factors) or titles[first.summary.experiment]
    conditions = "1 condition" if count == 1 else f"{count} conditions"
    most = "" if len(found) == 1 else ", most of all those"
    return [
        f"Trials drift or hang together in {len(found)} of {conditions} with {LEAST_TRIALS} trials "
        f"or more{most} of {named}: each is like the one before (correlation "
        f"{number(first.correlation, 2)}), so that the 95 % interval is made longer. Run it again, "
        "several times, and compare runs."
    ]
