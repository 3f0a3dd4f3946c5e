"""The tables of a run's page, computed by the functions that make the report."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.findings import findings_of, judge_run
from lanlab.analysis.published import published_numbers
from lanlab.frozen import dataclass
from lanlab.report.answer import sentences
from lanlab.report.failure_table import failure_table
from lanlab.report.finding_table import FindingOnPage, findings_on_page, introduction
from lanlab.report.loss_table import loss_table
from lanlab.report.metric_table import metric_table
from lanlab.report.saturation_table import saturation_table
from lanlab.report.table import Table
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.studies import Study


@dataclass(frozen=True)
class ExperimentSoFar:
    """What an experiment has shown so far."""

    id: str
    title: str
    #: Means with their intervals, of the first metric.
    means: Table
    #: Without rows where no trial tells.
    losses: Table


@dataclass(frozen=True)
class ResultsSoFar:
    """What a run has shown so far."""

    #: Trials that are in it.
    trials: int
    answer: tuple[str, ...]
    experiments: tuple[ExperimentSoFar, ...]
    saturation: Table
    findings: tuple[FindingOnPage, ...]
    findings_introduction: tuple[str, ...]
    failures: Table


def results_so_far(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> ResultsSoFar:
    """
    What the trials of a run say so far.

    Raises:
        StoreError: The records are not as lanlab writes them.
    """
    with reading_records(run.id):
        published = published_numbers(run)
        measured = {trial.experiment for trial in trials}
        # A run without trials has nothing to judge.
        verdicts = judge_run(findings_of(run), run, trials) if trials else None
        experiments = tuple(
            ExperimentSoFar(
                one.id,
                one.title,
                metric_table(run, trials, study, published, one.id, one.metrics[0]),
                loss_table(run, trials, study, one.id),
            )
            for one in study.experiment
            if one.id in measured
        )
        return ResultsSoFar(
            trials=len(trials),
            answer=tuple(sentences(run, trials, published)),
            experiments=experiments,
            saturation=saturation_table(run, trials, study),
            findings=findings_on_page(verdicts, study) if verdicts else (),
            findings_introduction=introduction(verdicts) if verdicts else (),
            failures=failure_table(trials, study),
        )
