"""Failed and disturbed trials: which, why, and what happened next."""

from __future__ import annotations

from collections import Counter

from lanlab.analysis.failures import Failure, failures, missing_places
from lanlab.analysis.pollution import different
from lanlab.analysis.pollution_words import flags, host_remarks, not_judged
from lanlab.analysis.processor_outliers import processor_outliers
from lanlab.analysis.run_data import RunData
from lanlab.errors import UsageError
from lanlab.figures.number_text import number
from lanlab.figures.wording import condition_text
from lanlab.plan import Plan
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.report.metrics.metric_table import DISTURBED
from lanlab.store import TrialRecord
from lanlab.studies import Study

#: Maximum number of conditions in a sentence; the table has all.
_MOST_NAMED = 6


def failure_table(data: RunData) -> Table:
    """A row for each failed trial, in order."""
    columns = (
        Column("number", "no.", "no."),
        Column("experiment", "experiment", "experiment", is_number=False),
        Column("condition", "condition", "condition", is_number=False),
        Column("block", "block"),
        Column("purpose", "purpose", is_number=False),
        Column("end", "end", is_number=False),
        Column("code", "code", is_number=False),
        Column("cause", "cause", "cause", is_number=False),
        Column("what to do", "what to do", is_number=False),
        Column("seen until then", "seen until then", is_number=False),
        Column("took (s)", "took (s)"),
        Column("fate", "", is_number=False),
        Column("retried as", ""),
        Column("", "then", "then", is_number=False),
    )
    rows = []
    for failure in failures(data.trials):
        trial = failure.trial
        rows.append(
            (
                Cell(trial.number, str(trial.number)),
                words(trial.experiment),
                words(condition_text(data.study, trial.factors)),
                Cell(trial.block, str(trial.block)),
                words(trial.purpose),
                words(failure.end or ""),
                words(failure.code),
                words(failure.message),
                words(failure.hint or ""),
                words(failure.seen),
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
    """How many trials failed, which means lack a trial, and which conditions were given up."""
    failed = failures(data.trials)
    if not failed:
        return []
    said = [f"{len(failed)} of {len(data.trials)} trials failed and are in no mean."]
    missing = missing_places(data.trials)
    if missing:
        names = Counter(_name(data.study, trial) for trial in missing)
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
        plan = Plan(data.study, data.run.scale, data.run.seed, history=data.trials)
    except UsageError:  # another version planned its trials
        return said
    given_up = [f"{c.experiment} {condition_text(data.study, c.factors)}" for c in plan.given_up()]
    given_up += [f"the search of {experiment}" for experiment in plan.searches_given_up()]
    if given_up:
        shown = ", ".join(name.strip() for name in given_up[:_MOST_NAMED])
        more = f" and {len(given_up) - _MOST_NAMED} more" if len(given_up) > _MOST_NAMED else ""
        said.append(f"Stopped after repeated failures: {shown}{more}.")
    return said


def _name(study: Study, trial: TrialRecord) -> str:
    return f"{trial.experiment} {condition_text(study, trial.factors)}".strip()


def _in_means(disturbed: int, repeated: int) -> str:
    kept = disturbed - repeated
    counted = f"{kept} are in means, which are marked {DISTURBED}"
    if not repeated:
        return f"they are in means, which are marked {DISTURBED}"
    again = f"{repeated} were repeated and are in no mean"
    return f"{again}, {counted}" if kept else "they were repeated and are in no mean"


def pollution_sentences(data: RunData) -> list[str]:
    """How many trials were disturbed and by what, which of them are in the means, remarks on the
    hosts, and what could not be checked.
    """
    said, trials = [], data.trials
    disturbed = [
        one for one, trial in zip(data.judgements, trials, strict=True) if trial.is_disturbed
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
