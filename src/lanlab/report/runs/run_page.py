"""The content of a run's page, for the template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.findings.verdicts import Verdicts, findings_of
from lanlab.analysis.simulation.run import run_accuracies
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart
from lanlab.figures.finishing import with_page_styles
from lanlab.figures.panels import panels
from lanlab.figures.registry import build_figure
from lanlab.frozen import dataclass
from lanlab.report.document.document import Document
from lanlab.report.document.table import NO_TABLE, Column, Table, table_of_texts, words
from lanlab.report.findings.finding_table import (
    comparison_table,
    evidence_table,
    finding_table,
    introduction,
    tested_by_runs,
)
from lanlab.report.page.figure_page import FigureOnPage, figure_on_page
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.published.published_chapter import PublishedChapter, published_chapter
from lanlab.report.published.values_table import values_table
from lanlab.report.runs.run_answer import run_answer
from lanlab.report.runs.run_facts import SINGLE, command_of, environment_of, facts_of, measured_text
from lanlab.report.runs.run_text import experiment_tables
from lanlab.report.saturation.saturation_text import saturation_table
from lanlab.report.simulation.accuracy_table import (
    accuracy_count_table,
    accuracy_table,
)
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table
from lanlab.report.trials.single_figures import figures_of, stored_figures, titled_apart
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import RunRecord
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.model import Figure, Study


@dataclass(frozen=True)
class ExperimentOnPage:
    id: str
    title: str
    remark: str | None
    figures: tuple[FigureOnPage, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class RunOnPage:
    data: RunData
    name: str
    heading: str
    measured: str
    facts: tuple[tuple[str, str], ...]
    #: Below its answer: failures, disturbances, missing trials.
    said: Document
    experiments: tuple[ExperimentOnPage, ...]
    #: Tables that belong to no experiment, by name, in the order of their files. Without rows they
    #: are neither shown nor written.
    named: Mapping[str, Table]
    #: Verdicts on the study's findings; empty if the study has none.
    verdicts: Verdicts
    accuracy_note: str | None
    #: Contradictions within the published values; no sections for a user's own study.
    published_chapter: PublishedChapter
    environment: tuple[tuple[str, str], ...]
    command: str
    is_built_in: bool
    #: Whether a command such as `lanlab stream` made the run, and not a study file.
    is_single: bool

    @property
    def run(self) -> RunRecord:
        return self.data.run

    @property
    def study(self) -> Study:
        return self.data.study

    @property
    def lead(self) -> FigureOnPage | None:
        return next((figure for one in self.experiments for figure in one.figures), None)

    @property
    def all_figures(self) -> tuple[FigureOnPage, ...]:
        own = [figure for experiment in self.experiments for figure in experiment.figures]
        return (*own, *self.published_chapter.figures)

    def csv_name(self, table: Table) -> str:
        is_own = table.name.startswith(self.name)
        return f"{table.name}.csv" if is_own else f"{self.name}-{table.name}.csv"

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*(t for e in self.experiments for t in e.tables), *self.own_tables)

    @property
    def results(self) -> Sequence[str]:
        """The answer without that to the study's question."""
        return self.said.answer[self.said.leads :]

    @property
    def sentences(self) -> Table:
        rows = [(one,) for one in (*self.said.answer, *self.said.in_full)]
        columns = (Column("sentence", is_number=False),)
        return replace(table_of_texts("Sentences", columns, rows), name="answer")

    @property
    def conditions(self) -> list[Table]:
        """The conditions of the answers to the question."""
        return [one for one in self.said.body if isinstance(one, Table)]

    @property
    def own_tables(self) -> tuple[Table, ...]:
        """Tables that belong to no experiment; the last but its own is how the run was made."""
        made = tuple((words(name), words(value)) for name, value in self.facts + self.environment)
        columns = (Column("fact", is_number=False), Column("value", is_number=False))
        conditions = Table("facts", "What was run", columns, made)
        first = (*self.conditions, *self.published_chapter.tables, self.sentences, conditions)
        others = (*first, *self.named.values())
        return tuple(table for table in others if table.rows)

    @property
    def findings_introduction(self) -> tuple[str, ...]:
        return introduction(self.verdicts)


def run_on_page(
    data: RunData,
    name: str,
    others: Sequence[RunData] | None = None,
    styles: dict[str, int] | None = None,
) -> RunOnPage:
    """
    Gather the content of the page of a run.

    Args:
        styles: As for `with_page_styles`, if the page has several runs.
    """
    parts, no_verdicts = Analyses(), Verdicts("this run", (), 0)
    styles = {} if styles is None else styles
    said = run_answer(data, parts, others)
    verdicts = parts.of("findings", lambda: _judged(data), no_verdicts)
    accuracies = parts.each("accuracy of the simulation", lambda: data.once(run_accuracies))

    def what_was_published() -> PublishedChapter:
        return published_chapter(data.study, data.published, name, styles, data.all_summaries())

    def table(of: str, compute: Callable[[], Table]) -> Table:
        return parts.of(of, compute, NO_TABLE)

    found = RunOnPage(
        data=data,
        name=name,
        heading=data.study.title,
        measured=measured_text(data.run, data.trials),
        facts=tuple(facts_of(data)),
        said=said,
        experiments=tuple(_experiments(data, name, parts, styles)),
        named={},
        verdicts=verdicts,
        accuracy_note=None if data.study.simulation is None else data.study.simulation.note,
        published_chapter=parts.of("published values", what_was_published, PublishedChapter()),
        environment=environment_of(data.run),
        command=command_of(data.run),
        is_built_in=data.run.study_id in known_studies(),
        is_single=data.run.scale == SINGLE,
    )
    values = partial(values_table, data.published, [data])
    named = {
        "saturation": table("saturation", lambda: saturation_table(data)),
        "findings": finding_table(verdicts, data.study),
        "comparisons": comparison_table(verdicts, data.study),
        "failures": table("failed trials", lambda: failure_table(data)),
        "trials": trial_table(data),
        "accuracy": accuracy_table(accuracies, data.study),
        "accuracy_counts": accuracy_count_table(accuracies, data.study, data.published),
        "evidence": table("bodies of evidence", lambda: _evidence(found)),
        "values": table("published values", values),
    }
    said = replace(said, more=(*filter(None, [said.caution]), *said.more, *parts.lines()))
    return replace(found, named=named, said=said)


def bodies_of(runs: Sequence[RunOnPage]) -> list[Verdicts]:
    """The bodies of evidence for the findings of these runs' study, published values first."""
    found = [page.verdicts for page in runs if page.verdicts.judgements]
    if found and runs[0].is_built_in:
        from lanlab.analysis.findings.judge import judge_published

        found.insert(0, judge_published(load_study(runs[0].run.study_id)))
    return found


def _evidence(page: RunOnPage) -> Table:
    bodies = bodies_of([page])
    return evidence_table(bodies, tested_by_runs(bodies)) if len(bodies) > 1 else NO_TABLE


def _judged(data: RunData) -> Verdicts:
    findings = findings_of(data.run)
    if not findings:
        return Verdicts("this run", (), 0)
    from lanlab.analysis.findings.judge import judge_run

    return judge_run(findings, data)


_TOGETHER = "Several experiments together"


def _experiments(
    data: RunData, name: str, parts: Analyses, styles: dict[str, int]
) -> list[ExperimentOnPage]:
    measured = {trial.experiment for trial in data.trials}
    every = parts.each("choice of figures", partial(figures_of, data.study))
    stored = partial(stored_figures, data.study, data.trials)
    every += parts.each("choice of figures", stored)

    def charts_of(figure: Figure, number_: int) -> list[tuple[Figure, str, Chart]]:
        charts = panels(build_figure(data, figure))
        return [
            (figure, f"{name}-figure-{number_}{f'-{place}' if len(charts) > 1 else ''}", chart)
            for place, chart in enumerate(charts, 1)
            # No frame around an empty section, or a single place.
            if not chart.is_empty and not chart.has_one_x
        ]

    built = [
        one
        for number_, figure in enumerate(titled_apart(data.study, every), 1)
        for one in parts.each(f"figure {figure.title}", partial(charts_of, figure, number_))
    ]
    styled = with_page_styles([chart for *_, chart in built], styles)

    def drawn(figure: Figure, file_name: str, chart: Chart) -> list[FigureOnPage]:
        return [figure_on_page(chart, figure.published or "", file_name)]

    figures_by_experiment: dict[str, list[FigureOnPage]] = {}
    for (figure, file_name, _), chart in zip(built, styled, strict=True):
        own_figures = parts.each(f"figure {figure.title}", partial(drawn, figure, file_name, chart))
        of = measured.intersection(figure.experiments)
        key = figure.experiments[0] if len(of) < 2 else _TOGETHER
        figures_by_experiment.setdefault(key, []).extend(own_figures)
    found = []
    for scaled in data.experiments:
        experiment = scaled.experiment
        if experiment.id not in measured:
            continue
        figures = figures_by_experiment.get(experiment.id, [])
        if scaled.search is not None and not figures:
            continue
        own = data.own(experiment.id)
        shown = PRESENTATIONS[experiment.workload]
        tables = partial(experiment_tables, data, scaled)
        found.append(
            ExperimentOnPage(
                f"{name}-{experiment.id}",
                experiment.title,
                parts.of("round trips", partial(shown.remark, data, own), None),
                tuple(figures),
                tuple(parts.each(f"tables of {experiment.id}", tables)),
            )
        )
    if several := figures_by_experiment.get(_TOGETHER):
        found.append(ExperimentOnPage(f"{name}-together", _TOGETHER, None, tuple(several), ()))
    return found
