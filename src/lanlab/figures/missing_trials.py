"""Lists the means in a figure that lack trials."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.failures import missing_places
from lanlab.figures.wording import condition_text
from lanlab.store import TrialRecord
from lanlab.studies import Study

_MOST_NAMED = 4
#: Purposes of trials whose means figures draw. Failed steps of a search are always repeated.
_DRAWN = ("trial", "curve")


def missing_text(trials: Sequence[TrialRecord], study: Study, experiments: Sequence[str]) -> str:
    """
    A sentence on conditions that lack trials, as in `Failed trials are missing: 100 B (n = 3 of
    5).`; empty if no condition lacks any.

    Args:
        trials: All trials of the run, in order.
        experiments: Their ids.
    """
    own = [t for t in trials if t.experiment in experiments and t.purpose in _DRAWN]
    counts: dict[str, list[int]] = {}
    for place, found in enumerate((counting(own), missing_places(own))):
        for trial in found:
            words = condition_text(study, trial.factors) or trial.experiment
            counts.setdefault(words, [0, 0])[place] += 1
    lacking = {words: count for words, count in counts.items() if count[1]}
    if not lacking:
        return ""
    named = [
        f"{words} (n = {there} of {there + missing})"
        for words, (there, missing) in list(lacking.items())[:_MOST_NAMED]
    ]
    more = f" and {len(lacking) - _MOST_NAMED} more" if len(lacking) > _MOST_NAMED else ""
    return f"Failed trials are missing: {', '.join(named)}{more}."
