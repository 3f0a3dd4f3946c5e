"""Disturbances during the trials of a run, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lanlab.analysis.attempts import left_out
from lanlab.analysis.pollution import judgement_of
from lanlab.analysis.pollution_words import flags, host_remarks, not_judged
from lanlab.analysis.processor_outliers import processor_outliers
from lanlab.figures.number_text import number
from lanlab.report.metrics.metric_table import DISTURBED
from lanlab.store import TrialRecord


def _in_means(disturbed: int, repeated: int) -> str:
    kept = disturbed - repeated
    counted = f"{kept} are in means, which are marked {DISTURBED}"
    if not repeated:
        return f"they are in means, which are marked {DISTURBED}"
    again = f"{repeated} were repeated and are in no mean"
    return f"{again}, {counted}" if kept else "they were repeated and are in no mean"


def pollution_sentences(trials: Sequence[TrialRecord]) -> list[str]:
    """How many trials were disturbed and by what, which of them are in the means, remarks on the
    hosts, and what could not be checked.
    """
    said = []
    disturbed = [trial for trial in trials if trial.is_disturbed]
    if disturbed:
        by_what = Counter(
            flag for t in disturbed for flag in flags(judgement_of(t.raw)).split(", ")
        )
        what = ", ".join(f"{flag} {count}" for flag, count in by_what.most_common())
        said.append(
            f"{len(disturbed)} of {len(trials)} trials were disturbed ({what}): "
            f"{_in_means(len(disturbed), len(left_out(trials)))}."
        )
    said += [
        f"Trial no. {one.number} took {number(one.found / one.others, 2)} "
        f"\N{MULTIPLICATION SIGN} the {one.end}'s CPU time per byte of the other trials of its "
        f"condition ({number(one.found, 3)} s/GB, their median {number(one.others, 3)} s/GB): "
        "it may have been measured in another state of the machine."
        for one in processor_outliers(trials)
    ]
    said += host_remarks(trials)
    unjudged = not_judged(trials)
    return [*said, unjudged] if unjudged else said
