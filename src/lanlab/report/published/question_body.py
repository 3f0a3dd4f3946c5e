"""The numbers of one body of evidence that answer a study's question, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lanlab.analysis.findings.evidence import Cell, Evidence, matches
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.sample import Sample, Trials
from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.number_text import number, with_interval
from lanlab.figures.published_values import levels_text
from lanlab.figures.wording import Quantity
from lanlab.frozen import dataclass
from lanlab.studies import (
    Level,
    Published,
    Study,
)
from lanlab.studies.model import Answer
from lanlab.studies.plain_level import plain_level

Levels = Mapping[str, Level]


@dataclass(frozen=True)
class Point:
    levels: Levels
    sample: Sample
    #: `each`, or which end of a range the published number is.
    stands: str
    varied: frozenset[str]


@dataclass(frozen=True)
class Body:
    kind: str
    evidence: Evidence
    study: Study
    published: Published
    error_log: float | None = None

    def points(self, ask: Answer, metric: str) -> list[Point]:
        wanted = {
            key: tuple(plain_level(key, one) for one in (own if isinstance(own, tuple) else (own,)))
            for key, own in ask.at.items()
        }
        cells = [c for c in self.evidence.cells(metric) if self._is_possible(c, wanted, metric)]
        names = [f.name for f in self.published.factor]
        names += [ask.along] if ask.along and ask.along not in names else []
        varied = frozenset(
            name
            for name in names
            if len({repr(c.levels[name]) for c in cells if name in c.levels}) > 1
        )
        return [
            Point({n: c.levels[n] for n in names if n in c.levels}, c.sample, c.stands, varied)
            for c in cells
        ]

    def _is_possible(
        self, cell: Cell, wanted: Mapping[str, tuple[Level, ...]], metric: str
    ) -> bool:
        if not matches(cell.levels, wanted):
            return False
        if not (cell.is_derived and isinstance(self.evidence, PublishedEvidence)):
            return True
        limit = self.evidence.link_limit(metric, cell.levels)
        return limit is None or cell.sample.mean <= limit

    def words(self, levels: Levels, varied: Collection[str], *without: str | None) -> str:
        keys = [key for key in levels if key in varied and key not in without]
        return levels_text(self.published, levels, keys)

    def value(self, shown: Quantity, sample: Sample) -> str:
        ends = None
        if isinstance(sample, Trials) and self.kind == "measured" and len(sample.values) > 2:
            ends = interval_of_mean(shown.key, sample.values)
        own = shown.interval(*ends) if ends else None
        mean = shown.shown(sample.mean)
        text = number(mean, 3) if own is None else with_interval(mean, own, is_simulated=False)
        return f"{text} {shown.unit}".strip()
