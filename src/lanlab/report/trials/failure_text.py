"""The failures of a run, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lanlab.analysis.failures import failures, missing_places
from lanlab.errors import UsageError
from lanlab.figures.wording import condition_text
from lanlab.plan import Plan
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study

#: Limit of conditions in a sentence; the table has the rest.
_MOST_NAMED = 6


def failure_sentences(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> list[str]:
    """How many trials failed, which means lack a trial, and which conditions were given up."""
    failed = failures(trials)
    if not failed:
        return []
    said = [f"{len(failed)} of {len(trials)} trials failed and are in no mean."]
    missing = missing_places(trials)
    if missing:
        names = Counter(_name(study, trial) for trial in missing)
        named = [f"{name} ({count})" for name, count in names.most_common(_MOST_NAMED)]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        places = "place has" if len(missing) == 1 else "places have"
        said.append(
            f"{len(missing)} {places} no trial that counts, so their means have fewer: "
            f"{', '.join(named)}{more}."
        )
    else:
        said.append("Each was retried with success.")
    try:
        plan = Plan(study, run.scale, run.seed, history=trials)
    except UsageError:  # Another version planned its trials.
        return said
    given_up = [f"{c.experiment} {condition_text(study, c.factors)}" for c in plan.given_up()]
    given_up += [f"the search of {experiment}" for experiment in plan.searches_given_up()]
    if given_up:
        shown = ", ".join(name.strip() for name in given_up[:_MOST_NAMED])
        more = f" and {len(given_up) - _MOST_NAMED} more" if len(given_up) > _MOST_NAMED else ""
        said.append(f"Stopped after repeated failures: {shown}{more}.")
    return said


def _name(study: Study, trial: TrialRecord) -> str:
    return f"{trial.experiment} {condition_text(study, trial.factors)}".strip()
