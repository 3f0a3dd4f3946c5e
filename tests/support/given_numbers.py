"""Evidence: conditions that were made or read elsewhere, as by a simulation of the evaluator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanlab.analysis.findings.evidence import Cell, matches, named_words
from lanlab.analysis.findings.sample import PrintedNumber
from lanlab.studies.base import Level


@dataclass
class Given:
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
        return self.found if metric == self.metric else []

    def shares(self, metric: str) -> Sequence[Cell]:
        return self.cells(metric)

    def levels(self, factor: str) -> tuple[Level, ...]:
        return self.known.get(factor, ())

    def plain(self, factor: str, level: Level) -> Level:
        return level

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        return None

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        own = {f: levels for f, levels in named.items() if f in factors}
        return any(matches(cell.levels, own) for cell in self.cells(metric))

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        return f"no {metric} at {named_words(named)}"
