"""The content of a run's page, for the template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.findings.verdicts import Verdicts, findings_of
from lanlab.analysis.modes import common_words
from lanlab.analysis.run_data import RunData
from lanlab.analysis.simulated_run import run_accuracies
from lanlab.figures.chart import Chart
from lanlab.figures.distributions import panels
from lanlab.figures.finishing import with_page_styles
from lanlab.figures.registry import build_figure
from lanlab.frozen import dataclass
from lanlab.report.answer.answers import answer_of
from lanlab.report.document.table import NO_TABLE, Column, Table, words
from lanlab.report.findings.finding_table import (
    FindingOnPage,
    comparison_table,
    evidence_table,
    finding_table,
    findings_on_page,
    introduction,
    tested_by_runs,
)
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.page.figure_page import FigureOnPage, figure_on_page
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.published_chapter import PublishedChapter, published_chapter
from lanlab.report.published.question import question_lines
from lanlab.report.published.values_table import statement_table, values_table
from lanlab.report.runs.run_facts import SINGLE, command_of, environment_of, facts_of, measured_text
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.simulation.accuracy_table import (
    accuracy_count_table,
    accuracy_sentences,
    accuracy_table,
)
from lanlab.report.stations.stations_text import host_table
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.report.trials.single_figures import (
    figures_of,
    figures_of_losses,
    figures_of_round_trips,
    figures_over_time,
)
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import (
    ExperimentAtScale,
    Study,
    known_studies,
    load_study,
)
from lanlab.studies.model import Figure


@dataclass(frozen=True)
class ExperimentOnPage:
    id: str
    title: str
    remark: str | None
    #: The versions that made the trials; empty if not recorded.
    modes: str
    figures: tuple[FigureOnPage, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class RunOnPage:
    run: RunRecord
    study: Study
    name: str
    heading: str
    measured: str
    facts: tuple[tuple[str, str], ...]
    question: tuple[str, ...]
    answer: tuple[str, ...]
    #: Caveats about the trials: failures, disturbances, missing trials.
    remarks: tuple[str, ...]
    experiments: tuple[ExperimentOnPage, ...]
    saturation: Table
    statements: Table
    #: Verdicts on the study's findings; empty if the study has none.
    verdicts: Verdicts
    findings: Table
    findings_introduction: tuple[str, ...]
    findings_shown: tuple[FindingOnPage, ...]
    comparisons: Table
    failures: Table
    trials: Table
    #: For a simulated run: published and simulated values, and how many are how close.
    accuracy: Table
    accuracy_counts: Table
    accuracy_notes: tuple[str, ...]
    #: Verdicts from published values and runs; no rows with only one body of evidence.
    evidence: Table
    values: Table
    #: Contradictions within the published values; no sections for a user's own study.
    published_chapter: PublishedChapter
    environment: tuple[tuple[str, str], ...]
    command: str
    is_built_in: bool
    #: Whether a command such as `lanlab stream` made the run, and not a study file.
    is_single: bool

    @property
    def lead(self) -> FigureOnPage | None:
        return next((figure for one in self.experiments for figure in one.figures), None)

    @property
    def all_figures(self) -> tuple[FigureOnPage, ...]:
        """Figures of the run, then of the published values."""
        own = [figure for experiment in self.experiments for figure in experiment.figures]
        return (*own, *self.published_chapter.figures)

    def csv_name(self, table: Table) -> str:
        """The file name of a table."""
        is_own = table.name.startswith(self.name)
        return f"{table.name}.csv" if is_own else f"{self.name}-{table.name}.csv"

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables except those of figures, for CSV."""
        return (*(t for e in self.experiments for t in e.tables), *self.own_tables)

    @property
    def sentences(self) -> Table:
        """The answer as a table, to be written to a file."""
        rows = tuple((words(one),) for one in self.question + self.answer)
        return Table("answer", "Sentences", (Column("sentence", is_number=False),), rows)

    @property
    def conditions(self) -> Table:
        """How the run was made, to be written to a file."""
        rows = tuple((words(name), words(value)) for name, value in self.facts + self.environment)
        columns = (Column("fact", is_number=False), Column("value", is_number=False))
        return Table("facts", "What was run", columns, rows)

    @property
    def own_tables(self) -> tuple[Table, ...]:
        """Tables that belong to no experiment."""
        others = (
            *self.published_chapter.tables,
            self.sentences,
            self.conditions,
            self.saturation,
            self.statements,
            self.findings,
            self.comparisons,
            self.failures,
            self.trials,
            self.accuracy,
            self.accuracy_counts,
            self.evidence,
            self.values,
        )
        return tuple(table for table in others if table.rows)


def run_on_page(
    data: RunData,
    name: str,
    others: Sequence[tuple[RunRecord, list[TrialRecord]]] | None = None,
) -> RunOnPage:
    """
    Gather the content of the page of a run.

    Args:
        name: Unique on the page.
        others: As for `question_lines`.
    """
    parts, no_verdicts = Analyses(), Verdicts("this run", (), 0)
    question = parts.each(
        "answers to the question", lambda: question_lines((data.run, data.trials), others)
    )
    results, remarks = answer_of(data, parts)
    verdicts = parts.of("findings", lambda: _judged(data), no_verdicts)
    accuracies = parts.each(
        "accuracy of the simulation", lambda: run_accuracies(data.run, data.trials, data.published)
    )

    def what_was_published() -> PublishedChapter:
        return published_chapter(data.study, data.published, name, data.all_summaries())

    def table(of: str, compute: Callable[[], Table]) -> Table:
        return parts.of(of, compute, NO_TABLE)

    found = RunOnPage(
        run=data.run,
        study=data.study,
        name=name,
        heading=data.study.title,
        measured=measured_text(data.run, data.trials),
        facts=tuple(facts_of(data)),
        question=tuple(question),
        answer=tuple(results),
        remarks=(),
        experiments=tuple(_experiments(data, name, parts)),
        saturation=table("saturation", lambda: saturation_table(data)),
        statements=table("published statements", lambda: statement_table(data)),
        verdicts=verdicts,
        findings=finding_table(verdicts, data.study),
        findings_introduction=introduction(verdicts),
        findings_shown=findings_on_page(verdicts, data.study),
        comparisons=comparison_table(verdicts),
        failures=table("failed trials", lambda: failure_table(data)),
        trials=trial_table(data),
        accuracy=accuracy_table(accuracies, data.study),
        accuracy_counts=accuracy_count_table(accuracies, data.study, data.published),
        accuracy_notes=tuple(accuracy_sentences(accuracies, data.study)),
        evidence=NO_TABLE,
        values=table(
            "published values", lambda: values_table(data.published, [(data.run, data.trials)])
        ),
        published_chapter=parts.of("published values", what_was_published, PublishedChapter()),
        environment=environment_of(data.run),
        command=command_of(data.run),
        is_built_in=data.run.study_id in known_studies(),
        is_single=data.run.scale == SINGLE,
    )
    evidence = table("bodies of evidence", lambda: _evidence(found))
    return replace(found, evidence=evidence, remarks=(*remarks, *parts.lines()))


def bodies_of(runs: Sequence[RunOnPage]) -> list[Verdicts]:
    """The bodies of evidence for the findings of these runs' study, published values first."""
    found = [page.verdicts for page in runs if page.verdicts.judgements]
    if found and runs[0].is_built_in:
        from lanlab.analysis.findings import judge_published

        found.insert(0, judge_published(load_study(runs[0].run.study_id)))
    return found


def _evidence(page: RunOnPage) -> Table:
    bodies = bodies_of([page])
    return evidence_table(bodies, tested_by_runs(bodies)) if len(bodies) > 1 else NO_TABLE


def _judged(data: RunData) -> Verdicts:
    findings = findings_of(data.run)
    if not findings:
        return Verdicts("this run", (), 0)
    from lanlab.analysis.findings import judge_run

    return judge_run(findings, data.run, data.trials)


def _experiments(data: RunData, name: str, parts: Analyses) -> list[ExperimentOnPage]:
    measured = {trial.experiment for trial in data.trials}
    every: list[Figure] = []
    for of in (
        lambda: figures_of(data.study),
        lambda: figures_of_round_trips(data.study, data.trials),
        lambda: figures_of_losses(data.study, data.trials),
        lambda: figures_over_time(data.study, data.trials),
    ):
        every += parts.each("choice of figures", of)

    def charts_of(figure: Figure, number_: int) -> list[tuple[Figure, str, Chart]]:
        charts = panels(build_figure(data, figure))
        return [
            (figure, f"{name}-figure-{number_}{f'-{place}' if len(charts) > 1 else ''}", chart)
            for place, chart in enumerate(charts, 1)
            # No frame around an empty section.
            if not chart.is_empty
        ]

    built = [
        one
        for number_, figure in enumerate(every, 1)
        for one in parts.each(f"figure {figure.title}", partial(charts_of, figure, number_))
    ]
    styled = with_page_styles([chart for *_, chart in built])

    def drawn(figure: Figure, file_name: str, chart: Chart) -> list[FigureOnPage]:
        return [figure_on_page(chart, figure.published or "", file_name)]

    found = []
    for scaled in data.experiments:
        experiment = scaled.experiment
        if experiment.id not in measured:
            continue
        figures = [
            one
            for (figure, file_name, _), chart in zip(built, styled, strict=True)
            # Show a figure of several experiments with the first of them.
            if figure.experiments[0] == experiment.id
            for one in parts.each(
                f"figure {figure.title}", partial(drawn, figure, file_name, chart)
            )
        ]
        if scaled.search is not None and not figures:
            continue
        own = data.own(experiment.id)
        shown = PRESENTATIONS[experiment.workload]
        tables = partial(_tables, data, scaled)
        found.append(
            ExperimentOnPage(
                f"{name}-{experiment.id}",
                experiment.title,
                parts.of("round trips", partial(shown.remark, data, own), None),
                parts.of("what trials were measured with", partial(_modes, data, own), ""),
                tuple(figures),
                tuple(parts.each(f"tables of {experiment.id}", tables)),
            )
        )
    return found


def _modes(data: RunData, trials: Sequence[TrialRecord]) -> str:
    done = {trial.number for trial in trials if trial.status == "done"}
    known = zip(data.trials, data.modes_and_loads, strict=True)
    return common_words(modes for trial, (modes, _) in known if trial.number in done)


def _tables(data: RunData, scaled: ExperimentAtScale) -> list[Table]:
    experiment = scaled.experiment
    own = data.own(experiment.id)
    # The first metric is always shown, even if nothing was measured.
    tables = [
        metric_table(data, experiment.id, metric)
        for place, metric in enumerate(experiment.metrics)
        # The results of a search have their own table.
        if scaled.search is None and (place == 0 or any(metric in trial.metrics for trial in own))
    ]
    shown = PRESENTATIONS[experiment.workload]
    # These come after the first metric and before the others.
    tables[1:1] = shown.further_tables(data, experiment.id)
    tables[:0] = shown.first_tables(data, experiment.id)
    more = (
        host_table(data.trials, experiment.id),
        loss_table(data, experiment.id),
    )
    return [*tables, *(table for table in more if table.rows)]
