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
from lanlab.report.stream_columns import with_arrival
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study, at_scale

if TYPE_CHECKING:
    from lanlab.report.fitted import Fitted


def tables(run: RunRecord, trials: Sequence[TrialRecord]) -> list[Fitted]:
    """The first metric of each experiment that has trials, with what was lost where the study
    draws that, and of copies what a byte and a file cost and how they went; then what was published
    beside what was measured; where the searches ended; the trials that failed."""
    study = Study.model_validate(run.study)
    published = published_numbers(run)
    measured = {trial.experiment for trial in trials}
    drawn = [figure for figure in study.figure if figure.figure == "losses_against_sent"]
    explained = {name for figure in drawn for name in figure.experiments}
    from lanlab.report.fitted import fitted

    found: list[Fitted] = []
    for scaled in at_scale(study, run.scale):
        experiment = scaled.experiment
        if experiment.id in measured and scaled.search is None:
            metric = experiment.metrics[0]
            table = metric_table(run, trials, study, published, experiment.id, metric)
            if experiment.workload == "stream" and metric == "goodput_bps":
                table = with_arrival(table, run, trials, experiment.id)
            found.append(fitted(table, experiment.title))
            if experiment.workload == "copy":
                for table in tables_of_copies(run, trials, study, experiment.id):
                    title = f"{experiment.title}: {table.title.lower()}"
                    found.append(fitted(table, title))
            if experiment.workload == "load":
                under = load_table(trials, study, experiment.id)
                if under.rows:
                    found.append(fitted(under, f"{experiment.title}: {under.title.lower()}"))
            hosts = host_table(trials, experiment.id)
            if hosts.rows:
                found.append(fitted(hosts, f"{experiment.title}: {hosts.title.lower()}"))
            own = [trial for trial in trials if trial.experiment == experiment.id]
            if experiment.id in explained and any(not_received(t.metrics) for t in own):
                losses = loss_table(run, trials, study, experiment.id)
                if losses.rows:
                    found.append(fitted(losses, f"{experiment.title}: {losses.title.lower()}"))
    beside = beside_table(run, trials, study, published)
    if beside.rows:
        found.append(fitted(beside, beside.title))
    if study.simulation is not None:
        # It brings in the findings, and with them the statistics.
        from lanlab.report.accuracy_table import accuracy_tables

        found += [fitted(t, t.title) for t in accuracy_tables(run, trials, published)]
    searches = saturation_table(run, trials, study)
    if searches.rows:
        found.append(fitted(searches, searches.title))
    failed = failure_table(trials, study)
    if failed.rows:
        found.append(fitted(failed, failed.title))
    return found
