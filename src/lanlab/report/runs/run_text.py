"""The tables of a run for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lanlab.analysis.loss_places import not_received
from lanlab.analysis.published import published_numbers
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.values_table import Run, values_table
from lanlab.report.saturation.saturation_table import saturation_table
from lanlab.report.stations.host_table import host_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import ExperimentAtScale, Published, Study, at_scale

if TYPE_CHECKING:
    from lanlab.report.document.fitted import Fitted


def tables(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    analyses: Analyses,
    others: Sequence[Run] = (),
) -> list[Fitted]:
    """
    The first metric of each experiment that has trials, with losses if the study draws them and
    costs per byte and file for copies; then published and measured values, the results of searches,
    and failed trials.

    Args:
        analyses: Collects the analyses that fail.
        others: Other runs of the same study, whose rates are shown next to those of this run.
    """
    study = Study.model_validate(run.study)
    published = published_numbers(run)
    measured = {trial.experiment for trial in trials}
    found: list[tuple[Table, str]] = []
    for scaled in at_scale(study, run.scale):
        experiment = scaled.experiment
        if experiment.id in measured and scaled.search is None:
            of_experiment = partial(_of_experiment, run, trials, study, published, scaled)
            found += analyses.each(f"tables of {experiment.id}", of_experiment)

    def published_values() -> list[Table]:
        return [values_table(published, [(run, trials), *others])]

    def accuracy() -> list[Table]:
        # Imported only when needed, because it loads the findings and the statistics.
        from lanlab.report.simulation.accuracy_table import accuracy_tables

        return accuracy_tables(run, trials, published)

    ours = [*analyses.each("published values", published_values)]
    if study.simulation is not None:
        ours += analyses.each("accuracy of the simulation", accuracy)
    ours += analyses.each("saturation", lambda: [saturation_table(run, trials, study)])
    ours += analyses.each("failed trials", lambda: [failure_table(trials, study)])
    found += [(table, table.title) for table in ours if table.rows]
    from lanlab.report.document.fitted import Fitted

    return [Fitted(table, title) for table, title in found]


def table_of_trials(run: RunRecord, trials: Sequence[TrialRecord]) -> Fitted:
    """A table of every trial, for runs without summary tables."""
    from lanlab.report.document.fitted import Fitted

    table = trial_table(run, trials, Study.model_validate(run.study))
    return Fitted(table, table.title)


def _of_experiment(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    study: Study,
    published: Published,
    scaled: ExperimentAtScale,
) -> list[tuple[Table, str]]:
    experiment = scaled.experiment
    metric = experiment.metrics[0]
    shown = PRESENTATIONS[experiment.workload]
    table = metric_table(run, trials, study, published, experiment.id, metric)
    table = shown.with_more_columns(table, run, trials, experiment.id, metric)
    first = shown.first_tables(trials, study, experiment.id)
    more = shown.further_tables(run, trials, study, experiment.id)
    more.append(host_table(trials, experiment.id))
    drawn = [figure for figure in study.figure if figure.figure == "losses_against_sent"]
    own = [trial for trial in trials if trial.experiment == experiment.id]
    is_explained = any(experiment.id in figure.experiments for figure in drawn)
    if is_explained and any(not_received(trial.metrics) for trial in own):
        more.append(loss_table(run, trials, study, published, experiment.id))
    said = [one for one in more if one.rows and not one.has_only_notes]
    titled = [(one, f"{experiment.title}: {one.title.lower()}") for one in said]
    if first:
        return [*((one, experiment.title) for one in first), (table, table.title), *titled]
    return [(table, experiment.title), *titled]
