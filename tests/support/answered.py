"""The answer of a run as one list of sentences."""

from collections.abc import Sequence

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.answer.answers import answer_of
from lanlab.report.trials.analyses import Analyses
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.published import Published


def sentences(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    published: Published | None = None,
    analyses: Analyses | None = None,
) -> list[str]:
    """Results, then remarks; without `analyses`, the last ones name the analyses that failed."""
    parts = Analyses() if analyses is None else analyses
    results, remarks = answer_of(RunData(run, trials, published=published), parts)
    return [*results, *remarks, *([] if analyses is not None else parts.lines())]
