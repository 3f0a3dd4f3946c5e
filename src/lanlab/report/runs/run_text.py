"""A run for the terminal and in Markdown, and the tables of it that its page has, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.traffic.loss_places import not_received
from lanlab.analysis.trials.failures import missing_places
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted
from lanlab.report.document.document import Document
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.values_table import values_table
from lanlab.report.runs.run_answer import run_answer
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.simulation.accuracy_table import accuracy_tables
from lanlab.report.stations.stations_text import host_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.report.trials.trial_table import trial_table
from lanlab.studies.scaling import ExperimentAtScale

#: Longer tables of the answer's conditions are on the page alone.
_MOST_ROWS = 12


def run_document(
    data: RunData,
    analyses: Analyses,
    others: Sequence[RunData] | None,
    option: str = "",
    *,
    has_all: bool = False,
) -> Document:
    """
    A run as a terminal and Markdown show it.

    Args:
        others: As for `run_answer`.
        option: `lanlab.store.store_option` of the run's store.
        has_all: Whether to show further metrics, too.
    """
    run, trials = data.run, data.trials
    said = run_answer(data, analyses, others)
    shown = tables(data, analyses, others or (), has_all=has_all)
    missing = analyses.of("missing trials", lambda: len(missing_places(trials)), 0)
    if analyses.failed:
        shown.append(trial_table(data))
    failed = sum(trial.status == "failed" for trial in trials)
    lacking = f", {missing} missing" if missing else ""
    last = (
        f"{run.status}: {counted(len(trials), 'trial')}, {failed} failed{lacking}; "
        f"`lanlab report {run.id}{option}` writes a report with figures"
    )
    conditions = [
        one for one in said.body if isinstance(one, Table) and len(one.rows) <= _MOST_ROWS
    ]
    return replace(said, body=[*shown, *conditions], next_step=last)


def markdown(data: RunData) -> str:
    """The answer and its tables."""
    analyses = Analyses()
    found = run_document(data, analyses, None, has_all=True)
    means = "means with 95 % confidence intervals, from three trials on"
    if data.run.is_simulated:
        means = "means over seeds of a model"
    note = f"Run {data.run.id}, {counted(len(data.trials), 'trial')}: {means}."
    more = [*found.more, *analyses.lines(), note]
    return replace(found, more=more).to_markdown()


def tables(
    data: RunData, analyses: Analyses, others: Sequence[RunData] = (), *, has_all: bool = False
) -> list[Table]:
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
            own = [table for table in own if has_all or not table.is_for_page]
            found += [replace(one, title=title) for one in own[:1]]
            named = ((one, f"{title}: {one.title.lower()}") for one in own[1:] if one.rows)
            found += [replace(one, title=name) for one, name in named]

    both = [data, *others]
    ours = analyses.each("published values", lambda: [values_table(data.published, both)])
    if data.study.simulation is not None:
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
