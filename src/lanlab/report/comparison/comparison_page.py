"""A comparison as one offline page: sentences, ratios with intervals, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lanlab.analysis.comparison import Compared
from lanlab.analysis.comparison_published import PublishedRatio
from lanlab.figures.forests import published_forest, ratio_forest
from lanlab.frozen import dataclass
from lanlab.report.comparison.comparison_table import comparison_tables, published_table
from lanlab.report.document.table import Table
from lanlab.report.page.figure_page import FigureOnPage, figure_on_page
from lanlab.report.page.rendering import rendered
from lanlab.studies import Study


@dataclass(frozen=True)
class PartOnPage:
    figure: FigureOnPage
    table: Table


def comparison_page(
    heading: str,
    study: Study,
    found: Sequence[Compared],
    answer: Sequence[str],
    runs: Table,
    others: Sequence[Table] = (),
    home: str = "",
) -> str:
    """Comparisons as a page."""
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        groups.setdefault((one.experiment, one.metric), []).append(one)
    tables = comparison_tables(study, found)
    parts = [
        PartOnPage(figure_on_page(ratio_forest(study, group), "", _name(place)), table)
        for place, (group, table) in enumerate(zip(groups.values(), tables, strict=True))
    ]
    return _page(heading, study, parts, answer, runs, others, home)


def published_page(
    heading: str,
    study: Study,
    found: Sequence[PublishedRatio],
    answer: Sequence[str],
    runs: Table,
) -> str:
    """
    Measured and published values compared on a page; arguments as in `comparison_page`.
    """
    parts = []
    for place, metric in enumerate(dict.fromkeys(one.ours.metric for one in found)):
        own = [one for one in found if one.ours.metric == metric]
        figure = figure_on_page(published_forest(study, own), "", _name(place))
        parts.append(PartOnPage(figure, published_table(study, own)))
    return _page(heading, study, parts, answer, runs, ())


def _page(
    heading: str,
    study: Study,
    parts: Sequence[PartOnPage],
    answer: Sequence[str],
    runs: Table,
    others: Sequence[Table],
    home: str = "",
) -> str:
    return rendered(
        "comparison",
        heading=heading,
        study=study,
        parts=parts,
        answer=answer,
        runs=runs,
        others=[table for table in others if table.rows],
        home=home,
    )


def _name(place: int) -> str:
    return re.sub(r"[^a-z0-9-]", "", f"comparison-{place + 1}")
