"""A single measurement in words: its subject, then all results of one trial, or a line for each of
several trials and their mean.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.slow_first import slow_first
from lanlab.analysis.summary import interval_of_mean, limit_of
from lanlab.analysis.trial_order import LEAST_TRIALS
from lanlab.analysis.wires import wire_of
from lanlab.figures.number_text import is_too_wide, number
from lanlab.report.metrics.order_text import first_trial_text
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.presentations.base import TrialColumn
from lanlab.report.traffic.stream_text import limit_share, line
from lanlab.store import RunRecord, TrialRecord
from lanlab.units import format_rate, format_time
from lanlab.workloads import workload
from lanlab.workloads.peers import shown_metric

_GAP = "  "


def measurement_lines(
    run: RunRecord, trials: Sequence[TrialRecord], *, verbose: bool = False
) -> list[str]:
    """All trials of one condition."""
    done = [trial for trial in trials if trial.status == "done"]
    said = [title_of(run)]
    if len(trials) > 1:
        said += _each(run, trials)
    if verbose or len(trials) == 1:
        for trial in done:
            said += [f"trial {trial.number}"] if len(trials) > 1 else []
            said += PRESENTATIONS[trial.workload].lines(run, trial, with_modes=verbose)
    return [*said, line("saved as", run.id)]


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
        limit: The limit of the link in the metric's unit.
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
    count = lacking or f"{len(values)} trials"
    count += f", {disturbed} disturbed" if disturbed else ""
    if interval[0] == interval[1]:
        return f"{mean} (the same in all trials, {count})"
    count += f", single trials {_shown(metric, min(values))} to {_shown(metric, max(values))}"
    if is_too_wide(sum(values) / len(values), interval):
        return f"{mean} ({count}, too few for an interval)"
    if is_simulated:
        return f"{mean} (95 % interval over seeds of the model {low} to {high}, {count})"
    if len(values) < LEAST_TRIALS:
        count += ", too few to test for autocorrelation"
    return f"{mean} (95 % confidence interval of the mean {low} to {high}, {count})"


def _shown(metric: str, value: float) -> str:
    if metric.endswith("_per_s"):
        return f"{number(value, 4)} {metric.partition('_')[0]}/s"
    return format_rate(value) if metric.endswith("_bps") else format_time(value / 1e9)


def _each(run: RunRecord, trials: Sequence[TrialRecord]) -> list[str]:
    done = [trial for trial in trials if trial.status == "done"]
    shown = PRESENTATIONS[trials[0].workload]
    ways = [shown.directions(trial) for trial in done]
    first = next(iter(workload(trials[0].workload).metrics))
    said = []
    for place in range(max(map(len, ways), default=0)):
        heading = ways[0][place][0]
        own = [way[place][1] for way in ways]
        said += [heading] if heading else []
        metric = shown_metric(own[0].parameters) or first
        failed, limit = len(trials) - len(done), limit_of(metric, own[0].parameters, wire_of(run))
        mean = mean_text(metric, own, failed, limit, is_simulated=run.is_simulated)
        values = [float(trial.metrics[metric]) for trial in own if metric in trial.metrics]
        if values:
            share = limit_share(run, own[0], metric, sum(values) / len(values))
            said.append(line("mean", f"{mean}{share}"))
        said += shown.common_lines(own)
        said += trial_rows(own)
        if (slow := slow_first(metric, values)) is not None:
            said.append(line("first", first_trial_text(slow, len(values))))
    return said


def trial_rows(trials: Sequence[TrialRecord]) -> list[str]:
    own = PRESENTATIONS[trials[0].workload].columns(trials[0])
    columns = [TrialColumn("trial", lambda trial: str(trial.number)), *own]
    rows = [[column.text(trial) for column in columns] for trial in trials]
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    shown = [[columns[place].heading for place in kept], *([row[p] for p in kept] for row in rows)]
    widths = [max(len(row[place]) for row in shown) for place in range(len(kept))]
    return [
        _GAP.join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in shown
    ]
