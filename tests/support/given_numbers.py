"""Evidence: conditions that were made or read elsewhere, as by a simulation of the evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanlab.analysis.findings.evidence import Cell, matches, named_words
from lanlab.analysis.findings.sample import PrintedNumber
from lanlab.studies import Level


@dataclass
class Given:
    """Conditions of one metric, listed."""

    found: list[Cell]
    title: str = "numbers that were given"
    can_lack: bool = False
    is_model: bool = False
    assumed: Mapping[str, Level] = field(default_factory=dict)
    #: Levels that are known of a factor, whether they have numbers or not.
    known: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)
    metric: str = "goodput_bps"
    digits: Mapping[float, float] = field(default_factory=dict)

    def cells(self, metric: str) -> Sequence[Cell]:
        """Those that were given."""
        return self.found if metric == self.metric else []

    def shares(self, metric: str) -> Sequence[Cell]:
        """The same numbers, taken for shares."""
        return self.cells(metric)

    def levels(self, factor: str) -> tuple[Level, ...]:
        """As given."""
        return self.known.get(factor, ())

    def plain(self, factor: str, level: Level) -> Level:
        """As it is written."""
        return level

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        """None is printed."""
        return None

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        """Whether a condition at these levels was given."""
        own = {f: levels for f, levels in named.items() if f in factors}
        return any(matches(cell.levels, own) for cell in self.cells(metric))

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        """That it was not given."""
        return f"no {metric} at {named_words(named)}"
