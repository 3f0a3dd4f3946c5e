"""The tables of a run for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lanlab.analysis.loss_places import not_received
from lanlab.analysis.run_data import RunData
from lanlab.report.document.fitted import Fitted
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.values_table import Run, values_table
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.stations.stations_text import host_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.studies import ExperimentAtScale


def tables(
    data: RunData,
    analyses: Analyses,
    others: Sequence[Run] = (),
) -> list[Fitted]:
    """
    The first metric of each experiment that has trials, with losses if the study draws them and
    costs per byte and file for copies; then published and measured values, the results of searches,
    and failed trials.

    Args:
        others: Other runs of the same study, whose rates are shown next to those of this run.
    """
    measured = {trial.experiment for trial in data.trials}
    found: list[tuple[Table, str]] = []
    for scaled in data.experiments:
        experiment = scaled.experiment
        if experiment.id in measured and scaled.search is None:
            of_experiment = partial(_of_experiment, data, scaled)
            found += analyses.each(f"tables of {experiment.id}", of_experiment)

    def published_values() -> list[Table]:
        return [values_table(data.published, [(data.run, data.trials), *others])]

    def accuracy() -> list[Table]:
        # Imported only when needed, because it loads the findings and the statistics.
        from lanlab.report.simulation.accuracy_table import accuracy_tables

        return accuracy_tables(data)

    ours = [*analyses.each("published values", published_values)]
    if data.study.simulation is not None:
        ours += analyses.each("accuracy of the simulation", accuracy)
    ours += analyses.each("saturation", lambda: [saturation_table(data)])
    ours += analyses.each("failed trials", lambda: [failure_table(data)])
    found += [(table, table.title) for table in ours if table.rows]
    return [Fitted(table, title) for table, title in found]


def _of_experiment(data: RunData, scaled: ExperimentAtScale) -> list[tuple[Table, str]]:
    experiment = scaled.experiment
    metric = experiment.metrics[0]
    shown = PRESENTATIONS[experiment.workload]
    table = metric_table(data, experiment.id, metric)
    table = shown.with_more_columns(data, table, experiment.id, metric)
    first = shown.first_tables(data, experiment.id)
    more = shown.further_tables(data, experiment.id)
    more.append(host_table(data.trials, experiment.id))
    drawn = [figure for figure in data.study.figure if figure.figure == "losses_against_sent"]
    own = data.own(experiment.id)
    is_explained = any(experiment.id in figure.experiments for figure in drawn)
    if is_explained and any(not_received(trial.metrics) for trial in own):
        more.append(loss_table(data, experiment.id))
    said = [one for one in more if one.rows and not one.has_only_notes]
    titled = [(one, f"{experiment.title}: {one.title.lower()}") for one in said]
    if first:
        return [*((one, experiment.title) for one in first), (table, table.title), *titled]
    return [(table, experiment.title), *titled]
