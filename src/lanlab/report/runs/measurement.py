"""A single measurement in words: its subject, then all results of one trial, or a line for each of
several trials and their mean.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import chain

from lanlab.analysis.disturbances.slow_first import slow_first
from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.trials.order import LEAST_TRIALS
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import greatest_possible, interval_of_mean, limit_of
from lanlab.figures.number_text import counted, is_too_wide, number
from lanlab.report.document.document import Block, Document
from lanlab.report.document.table import Column, Table, table_of_texts
from lanlab.report.metrics.order_text import first_trial_text
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.presentations.base import TrialColumn
from lanlab.report.traffic.stream_text import limit_share, line
from lanlab.store import RunRecord, TrialRecord
from lanlab.units import format_rate, format_time
from lanlab.workloads import workload
from lanlab.workloads.drivers.registry import OWN
from lanlab.workloads.peers.peer import shown_metric


def measurement(
    run: RunRecord, trials: Sequence[TrialRecord], *, verbose: bool = False
) -> Document:
    """All trials of one condition. Several measuring programs are ranked, then shown one by one."""
    measured_by = by_driver(trials)
    body: list[Block] = []
    for name, own in measured_by.items():
        is_named = len(measured_by) > 1 or name != OWN
        version = own[0].setup.get("version", "")
        body += [line("tool", f"{name}{f' ({version})' if version else ''}")] if is_named else []
        body += _results(run, own, verbose=verbose)
        body += _of_tool(own) if is_named else []
    answer = [title_of(run), *_ranked(run, trials, measured_by.values())]
    return Document(answer, body, next_step=line("saved as", run.id))


def by_driver(trials: Sequence[TrialRecord]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        found.setdefault(str(trial.parameters.get("driver", OWN)), []).append(trial)
    return found


def mean_metrics(trials: Sequence[TrialRecord]) -> dict[str, float | int]:
    """The mean of each metric that all finished trials have. For a single trial, its value."""
    done = [trial.metrics for trial in trials if trial.status == "done"]
    if len(done) == 1:
        return dict(done[0])
    common = [key for key in done[0] if all(key in metrics for metrics in done)] if done else []
    return {key: math.fsum(metrics[key] for metrics in done) / len(done) for key in common}


def _ranked(
    run: RunRecord, trials: Sequence[TrialRecord], measured: Collection[Sequence[TrialRecord]]
) -> list[str]:
    done = [sum(trial.status == "done" for trial in own) for own in measured]
    if len(done) < 2 or min(done) < 2:
        return []
    from lanlab.report.answer.ranking_text import ranking_sentences

    return [*chain(*ranking_sentences(RunData(run, trials)))]


def _of_tool(trials: Sequence[TrialRecord]) -> list[str]:
    means = mean_metrics(trials)
    if not means:
        return [line("failed", f"{len(trials)} of {len(trials)} trials")]
    if len(trials) < 2 or not {"sender_cpu_s", "receiver_cpu_s"} <= means.keys():
        return []
    sending, receiving = (means[f"{end}_cpu_s"] for end in ("sender", "receiver"))
    return [line("processor", f"{sending:.2f} s sending, {receiving:.2f} s receiving")]


def _results(run: RunRecord, trials: Sequence[TrialRecord], *, verbose: bool) -> list[Block]:
    said = _each(run, trials) if len(trials) > 1 else []
    if verbose or len(trials) == 1:
        for trial in trials:
            if trial.status == "done":
                said += [f"trial {trial.number}"] if len(trials) > 1 else []
                said += PRESENTATIONS[trial.workload].lines(run, trial, with_modes=verbose)
    return said


def title_of(run: RunRecord) -> str:
    return str(run.study["title"])


def mean_text(
    metric: str,
    trials: Sequence[TrialRecord],
    failed: int = 0,
    limit: float | None = None,
    *,
    is_simulated: bool = False,
) -> str:
    """
    The mean of a metric over trials, with its interval if there are enough of them.

    Args:
        metric: A rate in bit/s or 1/s, or a time in ns.
        trials: Successful trials.
        limit: The greatest possible value, in the metric's unit.
        is_simulated: The interval covers only the seeds of the model, not the uncertainty of its
            machines' numbers.
    """
    values = [float(trial.metrics[metric]) for trial in trials if metric in trial.metrics]
    if not values:
        return ""
    mean = _shown(metric, sum(values) / len(values))
    lacking = f"{len(values)} of {len(values) + failed}, {failed} failed" if failed else ""
    interval = interval_of_mean(metric, values, limit)
    if interval is None:
        each = " and ".join(_shown(metric, value) for value in values)
        said = [f"of {each}"] if len(values) > 1 else []
        said += [lacking] if lacking else []
        return f"{mean} ({'; '.join(said)})" if said else mean
    low, high = (_shown(metric, end) for end in interval)
    disturbed = sum(trial.is_disturbed for trial in trials)
    count = lacking or counted(len(values), "trial")
    count += f", {disturbed} disturbed" if disturbed else ""
    if interval[0] == interval[1]:
        return f"{mean} (the same in all trials, {count})"
    if is_too_wide(sum(values) / len(values), interval):
        return f"{mean} ({count}, too few for an interval)"
    if is_simulated:
        return f"{mean} (95 % interval over seeds of the model {low} to {high}, {count})"
    return f"{mean} (95 % confidence interval of the mean {low} to {high}, {count})"


def _shown(metric: str, value: float) -> str:
    if metric.endswith("_per_s"):
        return f"{number(value, 4)} {metric.partition('_')[0]}/s"
    return format_rate(value) if metric.endswith("_bps") else format_time(value / 1e9)


def _each(run: RunRecord, trials: Sequence[TrialRecord]) -> list[Block]:
    done = [trial for trial in trials if trial.status == "done"]
    shown = PRESENTATIONS[trials[0].workload]
    ways = [shown.directions(trial) for trial in done]
    first = next(iter(workload(trials[0].workload).metrics))
    said: list[Block] = []
    for place in range(max(map(len, ways), default=0)):
        heading = ways[0][place][0]
        own = [way[place][1] for way in ways]
        said += [heading] if heading else []
        metric = shown_metric(own[0].parameters) or first
        limit = limit_of(metric, own[0].parameters, wire_of(run))
        most = greatest_possible(metric, own[0].parameters, limit)
        failed = len(trials) - len(done)
        mean = mean_text(metric, own, failed, most, is_simulated=run.is_simulated)
        values = [float(trial.metrics[metric]) for trial in own if metric in trial.metrics]
        if values:
            share = limit_share(run, own[0], metric, sum(values) / len(values))
            said.append(line("mean", f"{mean}{share}"))
        said.append(_trial_rows(own))
        if (slow := slow_first(metric, values)) is not None:
            said.append(line("first", first_trial_text(slow, len(values))))
        ends = interval_of_mean(metric, values, most)
        if ends is not None and ends[0] != ends[1] and len(values) < LEAST_TRIALS:
            said.append(line("order", "too few trials to test for autocorrelation"))
        said += shown.common_lines(own)
    return said


def _trial_rows(trials: Sequence[TrialRecord]) -> Table:
    own = PRESENTATIONS[trials[0].workload].columns(trials[0])
    columns = [TrialColumn("trial", lambda trial: str(trial.number)), *own]
    rows = ([column.text(trial) for column in columns] for trial in trials)
    return table_of_texts("", [Column("", short=column.heading) for column in columns], rows)
