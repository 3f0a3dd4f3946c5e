"""Prints the results of a run."""

from __future__ import annotations

import dataclasses
import os
import traceback
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lanlab import captures
from lanlab.cli.terminal.remarks import deliver, print_json, say
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.trial_data import pollution_of

if TYPE_CHECKING:
    from lanlab.analysis.trials.failures import Failure
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.trials.analyses import Analyses
    from lanlab.store.database import Store

_PLACE = ("experiment", "factors", "block", "purpose")


def run_as_json(
    run: RunRecord,
    trials: list[TrialRecord],
    analyses: Analyses | None = None,
    others: Sequence[RunData] | None = None,
) -> dict[str, object]:
    """
    A run and its trials as JSON. The store keeps the engines' full reports.

    Args:
        analyses: Collects the analyses that fail; they also appear under `failed_analyses`.
        others: As for `lanlab.report.runs.run_answer.run_answer`.
    """
    from lanlab.analysis.trials.failures import failures, missing_places
    from lanlab.analysis.trials.measured_where import measured_where
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.runs.run_answer import run_answer
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
        "searches": parts.each("saturation", lambda: _searches_as_json(data)),
        **parts.of("ranking", lambda: _rankings_as_json(data), {}),
        **parts.of("round trips under load", lambda: _loads_as_json(trials), {}),
        "trials": [
            {
                **_place_as_json(trial, trial.number in counted),
                **_trial_as_json(trial, failure_of.get(trial.number), parts),
            }
            for trial in trials
        ],
    }
    found |= run_answer(data, parts, others).to_json()
    if parts.failed:
        found["failed_analyses"] = [one.to_json() for one in parts.failed]
    return found


def _place_as_json(trial: TrialRecord, is_counted: bool) -> dict[str, object]:
    from lanlab.workloads.option_words import by_option

    return {
        "experiment": trial.experiment,
        "block": trial.block,
        "purpose": trial.purpose,
        "is_polluted": trial.is_disturbed,
        "counts": is_counted,
        "options": by_option(trial.workload, trial.factors),
        # Keys as in studies and the store, for programs written for version 0.1.
        "factors": trial.factors,
        # In a search, this differs between trials.
        "time_s": trial.parameters.get("time_s"),
    }


def _trial_as_json(
    trial: TrialRecord, failure: object, parts: Analyses | None = None
) -> dict[str, object]:
    ends = partial(_ends_as_json, trial)
    what = "what trials were measured with"
    return {
        "number": trial.number,
        "status": trial.status,
        "error": trial.error,
        "failure": failure,
        "pollution": pollution_of(trial.raw),
        **(ends() if parts is None else parts.of(what, ends, {})),
        **trial.metrics,
    }


def single_as_json(run: RunRecord, trials: list[TrialRecord]) -> dict[str, object]:
    """
    One object: the results by their keys in the store, and where they were measured. With several
    trials each number is the mean over successful trials, and `trials` has each trial. With several
    drivers, `drivers` has the numbers of each.
    """
    from lanlab.analysis.trials.failures import failures
    from lanlab.analysis.trials.measured_where import measured_where
    from lanlab.report.runs.measurement import by_driver, mean_metrics
    from lanlab.workloads.option_words import by_option

    where = measured_where(run)
    failed = {failure.trial.number: failure.to_json() for failure in failures(trials)}
    found = by_driver(trials)
    means = {name: mean_metrics(of_driver) for name, of_driver in found.items()}
    parameters = dict(trials[0].parameters)
    if len(found) > 1:
        del parameters["driver"]
    ended = [_modes_as_json(trial) for trial in trials if trial.status == "done"]
    # The I/O modes of all successful trials, if equal: an engine may choose differently in each.
    modes = ended[0] if ended and all(other == ended[0] for other in ended) else None
    return {
        "run": run.id,
        "testbed": where.testbed,
        "link": where.link,
        "workload": trials[0].workload,
        "options": by_option(trials[0].workload, parameters),
        # Keys as in studies and the store, for programs written for version 0.1.
        "parameters": parameters,
        "modes": modes,
        # Means are over the `n` successful trials.
        "n": sum(trial.status == "done" for trial in trials),
        "failed_trials": len(failed),
        **captures.to_json(),
        **({"tools": means, "drivers": means} if len(found) > 1 else next(iter(means.values()))),
        "trials": [
            {
                # The measuring program, by the option's name and by the key of version 0.1.
                **{key: trial.parameters["driver"] for key in ("tool", "driver") if len(found) > 1},
                **_trial_as_json(trial, failed.get(trial.number)),
            }
            for trial in trials
        ],
    }


def _rankings_as_json(data: RunData) -> dict[str, list[dict[str, object]]]:
    from lanlab.analysis.comparison.ranking import rankings

    found = [one.to_json() for own in data.once(rankings).values() for one in own]
    return {"rankings": found} if found else {}


def _ends_as_json(trial: TrialRecord) -> dict[str, object]:
    """What a trial was measured with: I/O modes (`None` if no engine of lanlab reported any), the
    settings that both ends of a file service negotiated, results of the user's commands, and each
    host's share of stations.
    """
    from lanlab.analysis.copies.agreed import agreed_of
    from lanlab.analysis.stations.hosts import host_shares
    from lanlab.report.presentations import PRESENTATIONS

    agreed, shares = agreed_of(trial), host_shares(trial)
    return {
        "modes": _modes_as_json(trial),
        **({} if agreed is None else {"agreed": agreed}),
        **({"commands": trial.raw["commands"]} if "commands" in trial.raw else {}),
        **({"hosts": [dataclasses.asdict(share) for share in shares]} if shares else {}),
        **PRESENTATIONS[trial.workload].to_json(trial),
    }


def _modes_as_json(trial: TrialRecord) -> dict[str, str | int | None] | None:
    from lanlab.analysis.trials.modes import modes_of

    modes = modes_of(trial)
    return None if modes is None else modes.to_json()


def _loads_as_json(trials: list[TrialRecord]) -> dict[str, list[dict[str, object]]]:
    from lanlab.analysis.traffic.load_increase import WORKLOAD, load_results

    experiments = dict.fromkeys(t.experiment for t in trials if t.workload == WORKLOAD)
    if not experiments:
        return {}
    found = [one for name in experiments for one in load_results(trials, name)]
    return {"loads": list(map(dataclasses.asdict, found))}


def _searches_as_json(data: RunData) -> list[dict[str, object]]:
    from lanlab.analysis.saturation.search import saturations

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
        for found in data.once(saturations)
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
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.runs.run_text import run_document
    from lanlab.report.runs.stored import other_kind_in
    from lanlab.report.trials.analyses import Analyses

    analyses = Analyses()
    with reading_records(run.id):
        others = other_kind_in(store, run) if store else None
        if as_json:
            print_json(run_as_json(run, trials, analyses, others))
        else:
            option = store.option if store else option
            deliver(run_document(RunData(run, trials), analyses, others, option))
        warn_of_failed(analyses)


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
    from lanlab.analysis.disturbances.detect import judgement_of
    from lanlab.analysis.disturbances.words import name_of, warning

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
