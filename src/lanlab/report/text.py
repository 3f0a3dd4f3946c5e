"""The tables of a run for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.loss_places import not_received
from lanlab.analysis.published import published_numbers
from lanlab.report.beside_table import beside_table
from lanlab.report.copy_table import tables_of_copies
from lanlab.report.failure_table import failure_table
from lanlab.report.host_table import host_table
from lanlab.report.load_table import load_table
from lanlab.report.loss_table import loss_table
from lanlab.report.metric_table import metric_table
from lanlab.report.saturation_table import saturation_table
from lanlab.report.table import Table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study, at_scale

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def tables(run: RunRecord, trials: Sequence[TrialRecord]) -> list[RichTable]:
    """The first metric of each experiment that has trials, with what was lost where the study
    draws that, and of copies what a byte and a file cost and how they went; then what was published
    beside what was measured; where the searches ended; the trials that failed."""
    study = Study.model_validate(run.study)
    published = published_numbers(run)
    measured = {trial.experiment for trial in trials}
    drawn = [figure for figure in study.figure if figure.figure == "losses_against_sent"]
    explained = {name for figure in drawn for name in figure.experiments}
    found = []
    for scaled in at_scale(study, run.scale):
        experiment = scaled.experiment
        if experiment.id in measured and scaled.search is None:
            metric = experiment.metrics[0]
            table = metric_table(run, trials, study, published, experiment.id, metric)
            found.append(rich_table(table, experiment.title))
            if experiment.workload == "copy":
                for table in tables_of_copies(run, trials, study, experiment.id):
                    title = f"{experiment.title}: {table.title.lower()}"
                    found.append(rich_table(table, title))
            if experiment.workload == "load":
                under = load_table(trials, study, experiment.id)
                if under.rows:
                    found.append(rich_table(under, f"{experiment.title}: {under.title.lower()}"))
            hosts = host_table(trials, experiment.id)
            if hosts.rows:
                found.append(rich_table(hosts, f"{experiment.title}: {hosts.title.lower()}"))
            own = [trial for trial in trials if trial.experiment == experiment.id]
            if experiment.id in explained and any(not_received(t.metrics) for t in own):
                losses = loss_table(run, trials, study, experiment.id)
                if losses.rows:
                    found.append(rich_table(losses, f"{experiment.title}: {losses.title.lower()}"))
    beside = beside_table(run, trials, study, published)
    if beside.rows:
        found.append(rich_table(beside, beside.title))
    if study.simulation is not None:
        # It brings in the findings, and with them the statistics.
        from lanlab.report.accuracy_table import accuracy_tables

        found += [rich_table(t, t.title) for t in accuracy_tables(run, trials, published)]
    searches = saturation_table(run, trials, study)
    if searches.rows:
        found.append(rich_table(searches, searches.title))
    failed = failure_table(trials, study)
    if failed.rows:
        found.append(rich_table(failed, failed.title))
    return found


def rich_table(table: Table, title: str) -> RichTable:
    """A table for the terminal; its texts are escaped."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    made = RichTable(title=escape(title), title_justify="left", box=None, pad_edge=False)
    kept = [
        (place, column)
        for place, column in enumerate(table.columns)
        if column.short and any(row[place].text for row in table.rows)
    ]
    for _, column in kept:
        made.add_column(escape(column.short), justify="right" if column.is_number else "left")
    for row in table.rows:
        made.add_row(*(escape(row[place].text) for place, _ in kept))
    return made
