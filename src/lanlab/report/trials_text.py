"""A single measurement in words: what it is of; of one trial all that it found, of several a line
each; and their mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lanlab.analysis.summary import LEAST_FOR_INTERVAL, interval_of_mean
from lanlab.frozen import dataclass
from lanlab.report.copy_text import common_copy_lines, copy_lines
from lanlab.report.echo_text import echo_lines
from lanlab.report.stream_columns import share_text
from lanlab.report.stream_text import directions, line, stream_lines
from lanlab.report.tcp_text import retransmitted_text, round_trip_text, window_text
from lanlab.store import RunRecord, TrialRecord
from lanlab.units import format_rate, format_time
from lanlab.workloads.peers import shown_metric

#: Blanks between two columns.
_GAP = "  "


@dataclass(frozen=True)
class _Column:
    """What a line of a trial says at one place; empty where it is not known."""

    heading: str
    text: Callable[[TrialRecord], str]


def measurement_lines(
    run: RunRecord, trials: Sequence[TrialRecord], *, verbose: bool = False
) -> list[str]:
    """
    All trials of one condition.

    Args:
        run: What they are of.
        trials: Those that failed have a line, and are in no mean.
        verbose: Whether all that each trial found is said, with how it was measured and why.
    """
    done = [trial for trial in trials if trial.status == "done"]
    said = [title_of(run)]
    if verbose or len(trials) == 1:
        for trial in done:
            said += [f"trial {trial.number}"] if len(trials) > 1 else []
            said += _all_of(run, trial, with_modes=verbose)
    if len(trials) > 1:
        said += _each(trials, is_simulated=run.is_simulated)
    return [*said, line("saved as", run.id)]


def title_of(run: RunRecord) -> str:
    """What a run of a single measurement is of."""
    return str(run.study["title"])


def mean_text(
    metric: str, trials: Sequence[TrialRecord], failed: int = 0, *, is_simulated: bool = False
) -> str:
    """
    The mean of a metric over trials, with its interval where there are enough of them.

    Args:
        metric: A rate in bit/s or a time in ns.
        trials: Those that ended well.
        failed: Trials that did not.
        is_simulated: The interval is over seeds of a model: what the numbers of its machines leave
            open is not in it.
    """
    values = [float(trial.metrics[metric]) for trial in trials if metric in trial.metrics]
    if not values:
        return ""
    mean = _shown(metric, sum(values) / len(values))
    lacking = f"{len(values)} of {len(values) + failed}, {failed} failed" if failed else ""
    interval = interval_of_mean(metric, values)
    if interval is None or len(values) < LEAST_FOR_INTERVAL:
        each = " and ".join(_shown(metric, value) for value in values)
        said = [f"of {each}"] if len(values) > 1 else []
        said += [lacking] if lacking else []
        return f"{mean} ({'; '.join(said)})" if said else mean
    low, high = (_shown(metric, end) for end in interval)
    count = lacking or f"{len(values)} trials"
    if interval[0] == interval[1]:
        return f"{mean} (the same in all trials, {count})"
    if is_simulated:
        return f"{mean} (95 % interval over seeds of the model {low} to {high}, {count})"
    return f"{mean} (95 % confidence interval of the mean {low} to {high}, {count})"


def _shown(metric: str, value: float) -> str:
    return format_rate(value) if metric.endswith("_bps") else format_time(value / 1e9)


def _all_of(run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
    if trial.workload == "stream":
        return stream_lines(run, trial, with_modes=with_modes)
    if trial.workload == "echo":
        return echo_lines(trial, with_modes=with_modes)
    return copy_lines(trial)


def _each(trials: Sequence[TrialRecord], *, is_simulated: bool) -> list[str]:
    """A line for each trial and one for their mean, in each direction."""
    done = [trial for trial in trials if trial.status == "done"]
    ways = [directions(trial) for trial in done]
    said = []
    for place in range(max(map(len, ways), default=0)):
        heading = ways[0][place][0]
        own = [way[place][1] for way in ways]
        said += [heading] if heading else []
        said += common_copy_lines(own) if own[0].workload == "copy" else []
        said += trial_rows(own)
        figure = shown_metric(own[0].parameters) or _MEANS[own[0].workload]
        mean = mean_text(figure, own, len(trials) - len(done), is_simulated=is_simulated)
        said += [line("mean", mean)] if mean else []
    return said


def trial_rows(trials: Sequence[TrialRecord]) -> list[str]:
    """A table of trials that ended well: headings, and a line each."""
    columns = [_Column("trial", lambda trial: str(trial.number)), *_columns(trials[0])]
    rows = [[column.text(trial) for column in columns] for trial in trials]
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    shown = [[columns[place].heading for place in kept], *([row[p] for p in kept] for row in rows)]
    widths = [max(len(row[place]) for row in shown) for place in range(len(kept))]
    return [
        _GAP.join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in shown
    ]


def _columns(trial: TrialRecord) -> Sequence[_Column]:
    if trial.workload != "stream":
        return _COLUMNS[trial.workload]
    return _COLUMNS[str(trial.parameters["transport"])]


def _rate(key: str) -> Callable[[TrialRecord], str]:
    return lambda trial: format_rate(trial.metrics[key]) if key in trial.metrics else ""


def _time(key: str) -> Callable[[TrialRecord], str]:
    scale = 1e9 if key.endswith("_ns") else 1.0

    def text(trial: TrialRecord) -> str:
        return format_time(trial.metrics[key] / scale) if key in trial.metrics else ""

    return text


def _loss(trial: TrialRecord) -> str:
    loss = trial.metrics.get("loss_ratio")
    return "" if loss is None else share_text(loss)


def _not_sent(trial: TrialRecord) -> str:
    offered = trial.metrics.get("offered_messages")
    return share_text(1 - trial.metrics["sent_messages"] / offered) if offered else ""


def _unanswered(trial: TrialRecord) -> str:
    asked = trial.metrics.get("requests")
    return share_text(1 - trial.metrics["replies"] / asked) if asked else ""


def _files_per_s(trial: TrialRecord) -> str:
    files = trial.metrics.get("files_per_s")
    return "" if files is None else f"{files:.4g}"


def _retries(trial: TrialRecord) -> str:
    return str(trial.metrics.get("retries") or "")


_GOODPUT = _Column("goodput", _rate("goodput_bps"))
#: By workload; of streams by transport protocol.
_COLUMNS: Mapping[str, Sequence[_Column]] = {
    "udp": (
        _GOODPUT,
        _Column("peer's goodput", _rate("peer_goodput_bps")),
        _Column("loss", _loss),
        _Column("jitter", _time("delay_variation_mean_ns")),
        _Column("not sent", _not_sent),
    ),
    "tcp": (
        _GOODPUT,
        _Column("acknowledged", _rate("acknowledged_bps")),
        _Column("retransmitted", retransmitted_text),
        _Column("round trip", round_trip_text),
        _Column("window", window_text),
    ),
    "echo": (
        _Column("mean", _time("rtt_mean_ns")),
        _Column("median", _time("rtt_p50_ns")),
        _Column("p99", _time("rtt_p99_ns")),
        _Column("longest", _time("rtt_max_ns")),
        _Column("no reply", _unanswered),
    ),
    "copy": (
        _Column("time", _time("elapsed_s")),
        _GOODPUT,
        _Column("files/s", _files_per_s),
        _Column("median file", _time("file_time_p50_s")),
        _Column("retries", _retries),
    ),
}
#: What the mean is of, by workload.
_MEANS = {"stream": "goodput_bps", "echo": "rtt_mean_ns", "copy": "goodput_bps"}
