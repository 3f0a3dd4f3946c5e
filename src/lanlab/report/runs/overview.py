"""The overview of several runs of one study, at the start of their part of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.trials.measured_where import measured_where
from lanlab.figures.finishing import overlaid
from lanlab.frozen import dataclass
from lanlab.report.answer.question import (
    QuestionAnswer,
    answer_tables,
    in_brief,
    question_answers,
)
from lanlab.report.document.document import Document
from lanlab.report.document.table import NO_TABLE, Table
from lanlab.report.findings.finding_table import (
    evidence_table,
    findings_in,
    kind_of,
    tested_by_runs,
)
from lanlab.report.page.figure_page import FigureOnPage, figure_on_page
from lanlab.report.published.values_table import values_table
from lanlab.report.runs.run_page import RunOnPage, bodies_of
from lanlab.store import RunRecord
from lanlab.store.labels import label_of
from lanlab.studies.load import load_study
from lanlab.studies.what_if import SUFFIX

#: Maximum sentences of the authors, and of each run, before the first figure.
_MOST_SENTENCES = 2
_AUTHORS = "The authors found"
_QUESTION = "The answer"
_SEPARATE = (
    "Each run has a figure of its own below: their axes differ, or one over the other would be "
    "unreadable."
)
#: Names for a single run of each kind, and for its series in a figure.
_NAMES = {"measured": "here, today", "simulated": "on machines of their time, simulated"}
_SHORT = {_NAMES["measured"]: "measured here", _NAMES["simulated"]: "simulated"}


@dataclass(frozen=True)
class Overview:
    name: str
    title: str
    question: str | None
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    #: How certain the answers to the question are, and their conditions.
    in_full: tuple[str, ...]
    conditions: tuple[Table, ...]
    figure: FigureOnPage | None
    #: Why the runs have no figure together; empty if they have one.
    no_figure: str
    #: Published, measured and simulated rates; no rows if no run has a published condition.
    values: Table
    evidence: Table
    untested: tuple[str, ...]

    @property
    def document(self) -> Document:
        """Without the figure, for a terminal."""
        asked = [one for by, said in self.answers if by == _QUESTION for one in said]
        count = len(self.untested)
        untested = [f"{count} more statements could not be tested."] if count else []
        return Document(
            answer=[f"{self.title}: {self.question}", *asked],
            leads=1 + len(asked),
            body=[self.evidence],
            in_full=self.in_full,
            more=untested,
        )


def with_overviews(
    pages: Sequence[RunOnPage],
) -> tuple[list[RunOnPage], Mapping[str, Overview]]:
    """The pages, grouped by study, and an overview for each study with several runs, by the name of
    its first run.
    """
    by_study: dict[str, list[RunOnPage]] = {}
    for page in pages:
        # Group a prediction with the unchanged study.
        by_study.setdefault(page.run.study_id.removesuffix(SUFFIX), []).append(page)
    found: list[RunOnPage] = []
    overviews = {}
    for runs in by_study.values():
        if len(runs) > 1:
            runs = [
                replace(
                    page,
                    heading=_heading(page, name),
                    named={**page.named, "evidence": NO_TABLE, "values": NO_TABLE},
                    said=replace(page.said, answer=page.results, leads=0, in_full=()),
                )
                for page, name in zip(runs, _names(runs), strict=True)
            ]
            overview = _overview(runs)
            overviews[runs[0].name] = overview
            # Show these once on the page and in a file, with the first run.
            both = {"evidence": overview.evidence, "values": overview.values}
            runs[0] = replace(runs[0], named={**runs[0].named, **both})
        found += runs
    return found, overviews


def _heading(page: RunOnPage, name: str) -> str:
    title = page.study.title
    return name if name.startswith(title) else f"{title}: {name}"


def _names(runs: Sequence[RunOnPage]) -> list[str]:
    kinds = [kind_of(page.verdicts) for page in runs]
    # A changed study has no findings, and therefore no kind.
    if all(page.is_built_in for page in runs) and len(set(kinds)) == len(kinds):
        return [_NAMES[kind] for kind in kinds]
    return names_apart([page.run for page in runs])


def names_apart(runs: Sequence[RunRecord]) -> list[str]:
    """Labels that distinguish runs of one study: their names, else how they were run, else when
    they began, else their ids.
    """
    given = [label_of(run).name for run in runs]
    if all(given) and len(set(given)) == len(given):
        return [f"run {name}" for name in given]
    where = [measured_where(run) for run in runs]
    facts = [
        [str(run.study.get("title", "")) for run in runs],
        [f"scale {run.scale}" for run in runs],
        [f"testbed {one.testbed}" for one in where],
        [f"link {one.link}" for one in where],
        ["changed" if run.study_id.endswith(SUFFIX) else "as in the study" for run in runs],
    ]
    differing = [one for one in facts if len(set(one)) > 1]
    if len(set(zip(*differing, strict=True))) < len(runs):
        begun = [f"begun {run.started_at[:19].replace('T', ' ')}" for run in runs]
        # Simulated runs may begin in the same second.
        are_apart = len(set(begun)) == len(runs)
        differing.append(begun if are_apart else [f"run {run.id}" for run in runs])
    return [", ".join(one) for one in zip(*differing, strict=True)]


def _overview(runs: Sequence[RunOnPage]) -> Overview:
    first, names = runs[0], _names(runs)
    bodies = bodies_of(runs)
    tested = tested_by_runs(bodies)
    read = [page.data for page in runs if not page.run.study_id.endswith(SUFFIX)]
    values, answers, in_full = NO_TABLE, list[tuple[str, tuple[str, ...]]](), list[str]()
    asked: list[QuestionAnswer] = []
    if first.is_built_in:
        loaded = load_study(first.run.study_id)
        values = values_table(loaded.published, read)
        called = {f"run {page.run.id}": name for page, name in zip(runs, names, strict=True)}
        asked = question_answers(loaded, read, called)
        brief, in_full = in_brief(asked)
        answers = [(_QUESTION, tuple(brief))]
    # The results of a run that answers the question are in its own part.
    answers += [
        (f"{name[0].upper()}{name[1:]}", tuple(page.results[:_MOST_SENTENCES]))
        for page, name in zip(runs, names, strict=True)
        if f"run {page.run.id}" not in {one.on for one in asked}
    ]
    answers += [(_AUTHORS, tuple(one.claim for one in tested[:_MOST_SENTENCES]))]
    figure, no_figure = _figure(runs, names)
    return Overview(
        name=f"{first.name}-overview",
        title=first.study.title,
        question=first.study.question,
        answers=tuple(answer for answer in answers if answer[1]),
        in_full=tuple(in_full),
        conditions=tuple(answer_tables(asked)),
        figure=figure,
        no_figure=no_figure,
        values=values,
        evidence=evidence_table(bodies, tested),
        untested=tuple(one.claim for one in findings_in(bodies) if one not in tested),
    )


def _figure(runs: Sequence[RunOnPage], names: Sequence[str]) -> tuple[FigureOnPage | None, str]:
    """One figure of all runs; or why there is none, so that each run has its own."""
    leads = [
        (_SHORT.get(name, name), page.lead.chart)
        for page, name in zip(runs, names, strict=True)
        if page.lead
    ]
    chart = overlaid(leads) if len(leads) == len(runs) else None
    if chart is None or runs[0].lead is None:
        return None, _SEPARATE if leads else ""
    return figure_on_page(chart, runs[0].lead.published_as, f"{runs[0].name}-figure-of-all"), ""
