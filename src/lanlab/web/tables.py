"""The tables of a run's page, computed by the report's functions."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.findings.judge import judge_run
from lanlab.analysis.findings.verdicts import findings_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.frozen import dataclass
from lanlab.report.document.table import NO_TABLE, Table
from lanlab.report.findings.finding_table import finding_table, introduction
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.runs.run_answer import run_answer
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.studies.model import Experiment, Study

_Findings = tuple[Table, tuple[str, ...]]


@dataclass(frozen=True)
class ExperimentSoFar:
    id: str
    title: str
    means: Table
    losses: Table


@dataclass(frozen=True)
class ResultsSoFar:
    trials: int
    answer: tuple[str, ...]
    experiments: tuple[ExperimentSoFar, ...]
    saturation: Table
    findings: Table
    findings_introduction: tuple[str, ...]
    failures: Table


def results_so_far(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> ResultsSoFar:
    """
    The results of a run's trials so far.

    Raises:
        StoreError: The records are not in lanlab's format.
    """
    parts = Analyses()
    with reading_records(run.id):
        data = RunData(run, trials, study)
        measured = {trial.experiment for trial in trials}
        # Must precede the sentences, which name the experiments that failed.
        experiments = tuple(
            ExperimentSoFar(one.id, one.title, *_tables(parts, data, one))
            for one in study.experiment
            if one.id in measured
        )
        saturation = parts.of("saturation", lambda: saturation_table(data), NO_TABLE)
        no_findings: _Findings = (NO_TABLE, ())
        findings = parts.of("findings", lambda: _findings(run, trials, study), no_findings)
        failures = parts.of("failed trials", lambda: failure_table(data), NO_TABLE)
        answer = run_answer(data, parts, None).sentences
    return ResultsSoFar(
        trials=len(trials),
        answer=(*answer, *parts.lines()),
        experiments=experiments,
        saturation=saturation,
        findings=findings[0],
        findings_introduction=findings[1],
        failures=failures,
    )


def _tables(parts: Analyses, data: RunData, one: Experiment) -> tuple[Table, Table]:
    def means() -> Table:
        return metric_table(data, one.id, one.metrics[0])

    return (
        parts.of(f"means of {one.id}", means, NO_TABLE),
        parts.of(f"losses of {one.id}", lambda: loss_table(data, one.id), NO_TABLE),
    )


def _findings(run: RunRecord, trials: Sequence[TrialRecord], study: Study) -> _Findings:
    # A run without trials has no results to judge.
    verdicts = judge_run(findings_of(run), RunData(run, trials)) if trials else None
    if not verdicts:
        return NO_TABLE, ()
    return finding_table(verdicts, study), introduction(verdicts)
