"""Export files: each metric at each condition, and the stored intervals of every trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import TrialRecord
from lanlab.store.database import Store
from lanlab.workloads import workload
from lanlab.workloads.metrics import Metric


def metric_values(data: RunData) -> Iterator[tuple[Metric, Sequence[Summary]]]:
    """The metrics of each experiment that at least one trial has; searches are excluded."""
    for scaled in data.experiments:
        experiment = scaled.experiment
        if scaled.search is not None:
            continue
        measured = {key for trial in data.own(experiment.id) for key in trial.metrics}
        known = workload(experiment.workload).metrics
        for key in known:
            if key in measured:
                yield known[key], data.summaries(experiment.id, key)


def value_table(data: RunData) -> Table:
    """A row for each metric at each condition, in the units of records."""
    found = [(metric, one) for metric, own in metric_values(data) for one in own]
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
