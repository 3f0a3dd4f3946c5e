"""Export files: each metric at each condition, and the stored intervals of every trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanlab.analysis.summary import Summary, conditions_of
from lanlab.figures.wording import condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import RunRecord, Store, TrialRecord
from lanlab.studies import Study, at_scale
from lanlab.workloads import workload
from lanlab.workloads.metrics import Metric


@dataclass(frozen=True)
class MetricValues:
    metric: Metric
    summaries: tuple[Summary, ...]


def metric_values(
    run: RunRecord, trials: Sequence[TrialRecord], *, only_named: bool = False
) -> Iterator[MetricValues]:
    """The metrics of each experiment that at least one trial has; searches are excluded."""
    study = Study.model_validate(run.study)
    for scaled in at_scale(study, run.scale):
        experiment = scaled.experiment
        if scaled.search is not None:
            continue
        own = [trial for trial in trials if trial.experiment == experiment.id]
        measured = {key for trial in own for key in trial.metrics}
        conditions = conditions_of(run, trials, experiment.id)
        known = workload(experiment.workload).metrics
        for key in experiment.metrics if only_named else known:
            if key in measured:
                yield MetricValues(known[key], tuple(one.summary(key) for one in conditions))


def value_table(run: RunRecord, trials: Sequence[TrialRecord]) -> Table:
    """A row for each metric at each condition, in the units of records."""
    found = [(one.metric, s) for one in metric_values(run, trials) for s in one.summaries]
    factors = list(dict.fromkeys(key for _, summary in found for key in summary.factors))
    columns = (
        Column("experiment"),
        *(Column(f"{key} (factor)") for key in factors),
        *map(Column, ("metric", "unit", "n", "failed", "missing", "disturbed", "mean")),
        *map(Column, ("95 % low", "95 % high", "standard deviation")),
    )
    rows = tuple(
        (
            words(summary.experiment),
            *(Cell(summary.factors.get(key), "") for key in factors),
            words(metric.key),
            words(metric.unit),
            *(Cell(n, "") for n in (summary.n, summary.failed, summary.missing, summary.disturbed)),
            *(Cell(x, "") for x in (summary.mean, summary.ci_low, summary.ci_high, summary.sd)),
        )
        for metric, summary in found
    )
    return Table("values", "values", columns, rows)


def markdown_table(run: RunRecord, trials: Sequence[TrialRecord]) -> str:
    """A table for people: a row for each condition, and for each metric of its experiment the mean
    with its 95 % interval.
    """
    study = Study.model_validate(run.study)
    parts = []
    by_experiment: dict[str, list[MetricValues]] = {}
    for one in metric_values(run, trials, only_named=True):
        by_experiment.setdefault(one.summaries[0].experiment, []).append(one)
    for experiment, metrics in by_experiment.items():
        shown = [
            quantity(study, one.metric.key).readable(summary.mean for summary in one.summaries)
            for one in metrics
        ]
        heads = ["condition", "trials"]
        heads += [f"{s.name} ({s.unit})" if s.unit else s.name for s in shown]
        lines = [
            f"**{_escaped(study.titles[experiment])}** (run {run.id})",
            "",
            f"| {' | '.join(map(_escaped, heads))} |",
            f"|{':---|' + '---:|' * (len(heads) - 1)}",
        ]
        for rows in zip(*(one.summaries for one in metrics), strict=True):
            cells = [condition_text(study, rows[0].factors) or "all", rows[0].n_text]
            for s, summary in zip(shown, rows, strict=True):
                cells.append(s.mean_text(summary, study))
            lines.append(f"| {' | '.join(map(_escaped, cells))} |")
        parts.append("\n".join(lines))
    note = "Means over trials with 95 % confidence intervals, from three trials on."
    return "\n\n".join([*parts, note]) + "\n"


def _escaped(text: str) -> str:
    for character in "\\`*_|<>[]&~$":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


_SUFFIX = "-intervals"
_INTERVALS = ("start_ns", "width_ns", "bytes", "messages", "lost_messages")


def interval_table(trials: Sequence[TrialRecord], records: Store) -> Table:
    """
    A row for each interval that a receiver counted. Times start with the trial, and so include
    the warm-up.

    Raises:
        StoreError: A series is missing or damaged.
    """
    columns = tuple(map(Column, ("trial", "end", *_INTERVALS, "rate (bit/s)")))
    rows = tuple(row for trial in trials for row in _interval_rows(trial, records))
    return Table("intervals", "intervals", columns, rows)


def _interval_rows(trial: TrialRecord, records: Store) -> Iterator[tuple[Cell, ...]]:
    for name in records.series_names(trial.run_id, trial.number):
        if not name.endswith(_SUFFIX):
            continue
        series = records.series(trial.run_id, trial.number, [name])[name]
        end = name.removesuffix(_SUFFIX).replace("-", "_")
        known = series.columns
        lacking: list[float | None] = [None] * series.rows
        found = [known[name].tolist() if name in known else lacking for name in _INTERVALS]
        for start_ns, width_ns, octets, *counts in zip(*found, strict=True):
            numbers = (start_ns, width_ns, octets, *counts, 8e9 * octets / width_ns)
            yield (Cell(trial.number, ""), words(end), *(Cell(number, "") for number in numbers))
