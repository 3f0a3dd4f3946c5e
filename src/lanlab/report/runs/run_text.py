"""The tables of a run, for the terminal and for its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.traffic.loss_places import not_received
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.values_table import values_table
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.stations.stations_text import host_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.studies.scaling import ExperimentAtScale


def tables(data: RunData, analyses: Analyses, others: Sequence[RunData] = ()) -> list[Table]:
    """For the terminal: the tables of each experiment that has trials; then published and measured
    values, the results of searches, and failed trials.
    """
    measured = {trial.experiment for trial in data.trials}
    found: list[Table] = []
    for scaled in data.experiments:
        title = scaled.experiment.title
        if scaled.experiment.id in measured and scaled.search is None:
            made = partial(experiment_tables, data, scaled)
            own = analyses.each(f"tables of {scaled.experiment.id}", made)
            own = [table for table in own if not table.is_for_page]
            found += [replace(one, title=title) for one in own[:1]]
            named = ((one, f"{title}: {one.title.lower()}") for one in own[1:] if one.rows)
            found += [replace(one, title=name) for one, name in named]

    both = [data, *others]
    ours = analyses.each("published values", lambda: [values_table(data.published, both)])
    if data.study.simulation is not None:
        # Imported only when needed, because it loads the findings and the statistics.
        from lanlab.report.simulation.accuracy_table import accuracy_tables

        ours += analyses.each("accuracy of the simulation", lambda: accuracy_tables(data))
    ours += analyses.each("saturation", lambda: [saturation_table(data)])
    ours += analyses.each("failed trials", lambda: [failure_table(data)])
    return found + [table for table in ours if table.rows]


def experiment_tables(data: RunData, scaled: ExperimentAtScale) -> list[Table]:
    """What the workload shows first, the first metric and what explains it, and other metrics."""
    experiment, own = scaled.experiment, data.own(scaled.experiment.id)
    shown = PRESENTATIONS[experiment.workload]
    made = shown.first_tables(data, experiment.id)
    if scaled.search is None:
        # This metric is always shown, even if nothing was measured.
        metric = experiment.metrics[0]
        table = metric_table(data, experiment.id, metric)
        made.append(shown.with_more_columns(data, table, experiment.id, metric))
    made += shown.further_tables(data, experiment.id)
    # The results of a search have their own table.
    for metric in experiment.metrics[1:] if scaled.search is None else ():
        if any(metric in trial.metrics for trial in own):
            table = metric_table(data, experiment.id, metric)
            made.append(replace(table, is_for_page=True))
    figures = [one for one in data.study.figure if one.figure == "losses_against_sent"]
    is_drawn = any(experiment.id in figure.experiments for figure in figures)
    has_losses = is_drawn and any(not_received(trial.metrics) for trial in own)
    losses = replace(loss_table(data, experiment.id), is_for_page=not has_losses)
    return made + [one for one in (host_table(data.trials, experiment.id), losses) if one.rows]
