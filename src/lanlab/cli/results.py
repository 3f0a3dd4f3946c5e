"""Prints the results of a run."""

from __future__ import annotations

import dataclasses
import os
import traceback
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from lanlab.cli.terminal import answer, print_json, say
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.trial_data import pollution_of
from lanlab.units import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanlab.analysis.failures import Failure
    from lanlab.analysis.run_data import RunData
    from lanlab.report.trials.analyses import Analyses
    from lanlab.store import Store

_MOST_LINES = 5
_PLACE = ("experiment", "factors", "block", "purpose")


def ends_as_json(trial: TrialRecord) -> dict[str, object]:
    """What a trial was measured with: I/O modes (`None` if no engine of lanlab reported any), the
    settings that both ends of a file service negotiated, and results of the user's commands.
    """
    from lanlab.analysis.agreed import agreed_of
    from lanlab.analysis.modes import modes_of

    modes = modes_of(trial)
    agreed = agreed_of(trial)
    return {
        "modes": None if modes is None else modes.to_json(),
        **({} if agreed is None else {"agreed": agreed}),
        **({"commands": trial.raw["commands"]} if "commands" in trial.raw else {}),
    }


def run_as_json(
    run: RunRecord,
    trials: list[TrialRecord],
    analyses: Analyses | None = None,
    others: Sequence[tuple[RunRecord, list[TrialRecord]]] | None = None,
) -> dict[str, object]:
    """
    A run and its trials as JSON. The store keeps the engines' full reports.

    Args:
        analyses: Collects the analyses that fail; they also appear under `failed_analyses`.
        others: As for `lanlab.report.published.question.question_lines`.
    """
    from lanlab.analysis.failures import failures, missing_places
    from lanlab.analysis.measured_where import measured_where
    from lanlab.analysis.run_data import RunData
    from lanlab.report.published.question import question_lines
    from lanlab.report.trials.analyses import Analyses

    where = measured_where(run)
    parts = Analyses() if analyses is None else analyses
    data = RunData(run, trials)
    counted = {trial.number for trial in data.counting}
    failed: list[Failure] = parts.of("failed trials", lambda: failures(trials), [])
    failure_of = {failure.trial.number: failure.to_json() for failure in failed}
    found: dict[str, object] = {
        "run": run.id,
        "study": run.study_id,
        "scale": run.scale,
        "seed": run.seed,
        "testbed": where.testbed,
        "link": where.link,
        "status": run.status,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "failed_trials": sum(trial.status == "failed" for trial in trials),
        # Positions at which every attempt failed: each is a trial that a mean lacks.
        "missing": parts.each(
            "missing trials",
            lambda: [
                {key: getattr(trial, key) for key in _PLACE} for trial in missing_places(trials)
            ],
        ),
        # Why each ended: after a fixed number of trials, or with its goal met or missed.
        "conditions": parts.each(
            "how conditions ended", lambda: [one.to_json() for one in data.endings]
        ),
        "searches": parts.each("saturation", lambda: _searches_as_json(run, trials)),
        **parts.of("ranking", lambda: _rankings_as_json(data), {}),
        **parts.of("round trips under load", lambda: _loads_as_json(trials), {}),
        "trials": [
            {
                **_trial_as_json(trial, failure_of.get(trial.number), trial.number in counted),
                **parts.of("what trials were measured with", partial(_ends_as_json, trial), {}),
                **trial.metrics,
            }
            for trial in trials
        ],
    }
    if question := parts.each(
        "answers to the question", lambda: question_lines((run, trials), others)
    ):
        found["question"] = question
    if parts.failed:
        found["failed_analyses"] = [one.to_json() for one in parts.failed]
    return found


def _trial_as_json(trial: TrialRecord, failure: object, is_counted: bool) -> dict[str, object]:
    from lanlab.workloads.option_words import by_option

    return {
        "number": trial.number,
        "experiment": trial.experiment,
        "block": trial.block,
        "purpose": trial.purpose,
        "status": trial.status,
        "is_polluted": trial.is_disturbed,
        "counts": is_counted,
        "pollution": pollution_of(trial.raw),
        "options": by_option(trial.workload, trial.factors),
        # Keys as in studies and the store, for programs written for version 0.1.
        "factors": trial.factors,
        # In a search, this differs between trials.
        "time_s": trial.parameters.get("time_s"),
        "error": trial.error,
        "failure": failure,
    }


def _rankings_as_json(data: RunData) -> dict[str, list[dict[str, object]]]:
    from lanlab.report.answer.ranking_text import run_rankings

    ranked = run_rankings(data)
    found = [one.to_json() for own in ranked.values() for one in own]
    return {"rankings": found} if found else {}


def _ends_as_json(trial: TrialRecord) -> dict[str, object]:
    from lanlab.analysis.station_hosts import host_shares
    from lanlab.report.presentations import PRESENTATIONS

    shares = host_shares(trial)
    return {
        **ends_as_json(trial),
        **({"hosts": [dataclasses.asdict(share) for share in shares]} if shares else {}),
        **PRESENTATIONS[trial.workload].to_json(trial),
    }


def _loads_as_json(trials: list[TrialRecord]) -> dict[str, list[dict[str, object]]]:
    from lanlab.analysis.load_increase import WORKLOAD, load_results

    experiments = dict.fromkeys(t.experiment for t in trials if t.workload == WORKLOAD)
    if not experiments:
        return {}
    found = [one for name in experiments for one in load_results(trials, name)]
    return {"loads": list(map(dataclasses.asdict, found))}


def _searches_as_json(run: RunRecord, trials: list[TrialRecord]) -> list[dict[str, object]]:
    from lanlab.analysis.saturation import saturations

    return [
        {
            "experiment": found.experiment,
            "factor": found.factor,
            "metric": found.metric,
            "limit": found.limit,
            "sender_limit": found.sender_limit,
            "capacity": found.capacity and dataclasses.asdict(found.capacity),
            "random_loss": found.random_loss and dataclasses.asdict(found.random_loss),
            "is_gradual": found.is_gradual,
            "drift": found.drift and found.drift._asdict(),
            "goals": [
                {
                    **dataclasses.asdict(goal.result),
                    "verdict": goal.verdict,
                    "load": goal.load and dataclasses.asdict(goal.load),
                    "sweep": goal.sweep and dataclasses.asdict(goal.sweep),
                }
                for goal in found.goals
            ],
        }
        for found in saturations(run, trials)
    ]


def print_run(
    run: RunRecord,
    trials: list[TrialRecord],
    as_json: bool,
    store: Store | None = None,
    option: str = "",
) -> None:
    """
    Print the answer of a run: sentences, then tables; or one JSON object.

    Args:
        store: Searched for a run of the same study on the other kind of testbed.
        option: `lanlab.store.store_option` of the run's store.
    """
    with reading_records(run.id):
        _print_run(run, trials, as_json, store, store.option if store else option)


def _print_run(
    run: RunRecord, trials: list[TrialRecord], as_json: bool, store: Store | None, option: str
) -> None:
    from lanlab.report.runs.stored import other_kind_in
    from lanlab.report.trials.analyses import Analyses

    analyses = Analyses()
    others = other_kind_in(store, run) if store else None
    if as_json:
        print_json(run_as_json(run, trials, analyses, others))
        warn_of_failed(analyses)
        return
    from lanlab.analysis.failures import missing_places
    from lanlab.analysis.run_data import RunData
    from lanlab.report.answer.answers import answer_of
    from lanlab.report.document.fitted import Fitted
    from lanlab.report.published.question import question_lines
    from lanlab.report.runs.run_text import tables
    from lanlab.report.trials.trial_table import trial_table

    console = answer()
    question = partial(question_lines, (run, trials), others)
    asked = analyses.each("answers to the question", question)
    data = RunData(run, trials)
    results, remarks = answer_of(data, analyses)
    shown = tables(data, analyses, others or ())
    # Print only a few sentences first, so that a table fits on the screen, and the rest after it.
    # Disturbed means say so at the answer.
    disturbed = any(trial.is_disturbed for trial in data.counting)
    first = max(len(asked), _first([*asked, *results]))
    said = [*asked, *results]
    said[first:first] = remarks[:disturbed]
    said += remarks[disturbed:]
    first += disturbed
    missing = analyses.of("missing trials", lambda: len(missing_places(trials)), 0)
    if analyses.failed:
        every = trial_table(data)
        shown.append(Fitted(every, every.title))
    for sentence in said[:first]:
        console.print(sentence)
    for table in shown:
        console.print()
        console.print(table)
    if shown and first:
        console.print()
    for sentence in said[first:]:
        console.print(sentence)
    failed = sum(trial.status == "failed" for trial in trials)
    lacking = f", {missing} missing" if missing else ""
    console.print(
        f"{run.status}: {len(trials)} trials, {failed} failed{lacking}; "
        f"`lanlab report {run.id}{option}` writes a report with figures"
    )
    warn_of_failed(analyses)


def _first(said: Sequence[str]) -> int:
    width = answer().width
    lines = 0
    for place, sentence in enumerate(said):
        lines += len(list(lines_of(sentence, width)))
        if lines > _MOST_LINES and place:
            return place
    return len(said)


def warn_of_failed(analyses: Analyses) -> None:
    """Print to standard error which analyses of a run failed, and why."""
    for line in analyses.lines():
        say(f"warning: {line}")
    if analyses.failed:
        if os.environ.get("LANLAB_TRACEBACK"):
            for one in analyses.failed:
                say("".join(traceback.format_exception(one.error)).rstrip())
        else:
            say("hint: please report this; LANLAB_TRACEBACK=1 prints the traceback")


def warn_of_disturbances(
    trials: Sequence[TrialRecord], *, verbose: bool, summary: bool = True
) -> None:
    """
    Print the disturbances of trials to standard error. A single trial is always shown in full.

    Args:
        verbose: Whether to print for each trial what was found, why it may mislead, and what helps.
        summary: Whether to print in one line how many were disturbed and by what.
    """
    from lanlab.analysis.pollution import judgement_of
    from lanlab.analysis.pollution_words import name_of, warning

    disturbed: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    count = 0
    for trial in trials:
        judgement = judgement_of(trial.raw)
        found = judgement.findings if judgement is not None else ()
        if verbose or len(trials) == 1:
            which = f"trial {trial.number}: " if len(trials) > 1 else ""
            for finding in found:
                say(f"warning: {which}{warning(finding)}")
        count += any(finding.repeat_helps for finding in found)
        # Both hosts may report the same code.
        for code, helps in {finding.code: finding.repeat_helps for finding in found}.items():
            (disturbed if helps else remarks)[name_of(code)] += 1
    _warn_of_unknown(trials)
    if not summary or len(trials) <= 1:
        return
    said = []
    if count:
        said.append(f"{count} of {len(trials)} trials were disturbed ({_counts(disturbed)})")
    if remarks:
        said.append(f"notes on the hosts of {len(trials)} trials ({_counts(remarks)})")
    if said:
        more = "" if verbose else "; use -v for details"
        say(f"warning: {'; '.join(said)}{more}")


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def _warn_of_unknown(trials: Sequence[TrialRecord]) -> None:
    reasons = Counter(
        str(reason)
        for trial in trials
        if (reason := trial.result("server").get("cpu_unknown")) is not None
    )
    for reason, count in reasons.items():
        say(
            f"warning: other processes may have disturbed {count} of {len(trials)} trials: the "
            f"server's CPU time is not known: {reason}"
        )
