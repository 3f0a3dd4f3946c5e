"""Failed and disturbed trials: which, why, and what happened next."""

from __future__ import annotations

from collections import Counter

from lanlab.analysis.disturbances.detect import different
from lanlab.analysis.disturbances.processor_outliers import processor_outliers
from lanlab.analysis.disturbances.words import flags, host_remarks, not_judged
from lanlab.analysis.trials.failures import Failure, failures, missing_places
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UsageError
from lanlab.figures.number_text import counted, listed, number
from lanlab.figures.wording import condition_text, trial_text
from lanlab.plan.conditions import Condition
from lanlab.plan.plan import Plan
from lanlab.report.document.table import Cell, Column, Table, cell, words
from lanlab.report.metrics.metric_table import DISTURBED
from lanlab.report.trials.trial_table import experiment_cells
from lanlab.store import TrialRecord
from lanlab.studies.model import Study

#: Maximum number of conditions in a sentence; the table has all.
_MOST_NAMED = 6


def failure_table(data: RunData) -> Table:
    columns = (
        Column("number", "no.", "no."),
        *(Column(name, name, name, is_number=False) for name in ("experiment", "condition")),
        Column("block", "block"),
        *(Column(name, name, is_number=False) for name in ("purpose", "end", "code")),
        Column("cause", "cause", "cause", is_number=False),
        *(Column(name, name, is_number=False) for name in ("what to do", "seen until then")),
        Column("took (s)", "took (s)"),
        *map(Column, ("fate", "retried as")),
        Column("", "then", "then", is_number=False),
    )
    experiments = experiment_cells(data.study)
    rows = []
    for failure in failures(data.trials):
        trial = failure.trial
        rows.append(
            (
                cell(trial.number),
                experiments.get(trial.experiment) or words(trial.experiment),
                words(condition_text(data.study, trial.factors)),
                cell(trial.block),
                *map(words, (trial.purpose, failure.end or "", failure.code, failure.message)),
                *map(words, (failure.hint or "", failure.seen)),
                Cell(trial.elapsed_s, f"{trial.elapsed_s:.2f}"),
                words(failure.fate),
                Cell(failure.retried_as, ""),
                Cell(None, _then(failure)),
            )
        )
    return Table("failures", "Failed trials", columns, tuple(rows))


def _then(failure: Failure) -> str:
    if failure.fate == "retried":
        return f"retried as no. {failure.retried_as}"
    if failure.fate == "polluted_counts":
        return "a disturbed trial counts instead"
    if (failure.trial.error or {}).get("retry_helps") is False:
        return "not retried, as a retry cannot help; missing"
    return "missing"


def failure_sentences(data: RunData) -> list[str]:
    failed = failures(data.trials)
    if not failed:
        return []
    said = [f"{len(failed)} of {len(data.trials)} trials failed and are in no mean."]
    missing = missing_places(data.trials)
    if missing:
        names = Counter(_named(data.study, trial) for trial in missing)
        named = listed([f"{name} ({n})" for name, n in names.most_common()], _MOST_NAMED)
        are = "is" if len(missing) == 1 else "are"
        lacking = f"{counted(len(missing), 'trial')} {are} missing"
        said.append(f"{lacking}, so these conditions have fewer: {named}.")
    elif any(one.fate == "polluted_counts" for one in failed):
        said.append("No trial is missing: each was retried, or a disturbed trial counts instead.")
    else:
        said.append("Each was retried with success.")
    try:
        plan = Plan(data.study, data.run.scale, data.run.seed, history=data.trials)
    except UsageError:  # another version planned its trials
        return said
    given_up = [_named(data.study, one) for one in plan.given_up()]
    given_up += [f"the search of {data.study.titles[name]}" for name in plan.searches_given_up()]
    if given_up:
        said.append(f"Stopped after repeated failures: {listed(given_up, _MOST_NAMED)}.")
    return said


def _named(study: Study, one: TrialRecord | Condition) -> str:
    return trial_text(study, one.experiment, one.factors) or "the only condition"


def _in_means(disturbed: int, repeated: int) -> str:
    kept = f"are in means, which are marked {DISTURBED}"
    again = "were repeated and are in no mean"
    if not repeated or repeated == disturbed:
        return f"they {again if repeated else kept}"
    return f"{repeated} {again}, {disturbed - repeated} {kept}"


def pollution_sentences(data: RunData) -> list[str]:
    """How many trials were disturbed and by what, which of them are in the means, remarks on the
    hosts, and what could not be checked.
    """
    said, trials = [], data.trials
    disturbed = [
        one
        for one, trial in zip(data.judgements, trials, strict=True)
        if trial.is_disturbed and trial.status == "done"
    ]
    if disturbed:
        by_what: Counter[str] = Counter()
        for one, count in different(disturbed):
            by_what.update(dict.fromkeys(flags(one).split(", "), count))
        what = ", ".join(f"{flag} {count}" for flag, count in by_what.most_common())
        left_out = sum(trial.status == "done" for trial in trials) - len(data.counting)
        said.append(
            f"{len(disturbed)} of {len(trials)} trials were disturbed ({what}): "
            f"{_in_means(len(disturbed), left_out)}."
        )
    said += [
        f"Trial no. {one.number} took {number(one.found / one.others, 2)} "
        f"\N{MULTIPLICATION SIGN} the {one.end}'s CPU time per byte of the other trials of its "
        f"condition ({number(one.found, 3)} s/GB, their median {number(one.others, 3)} s/GB): "
        "it may have been measured in another state of the machine."
        for one in processor_outliers(data.counting)
    ]
    judged = [one for one in data.judgements if one is not None]
    said += host_remarks(judged)
    unjudged = not_judged(judged)
    return [*said, unjudged] if unjudged else said
