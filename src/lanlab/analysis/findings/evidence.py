"""The evidence for a statement: conditions with the known values of a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from lanlab.analysis.findings.sample import PrintedNumber, Sample
from lanlab.frozen import dataclass
from lanlab.studies.base import Level, is_level

Stands = Literal["each", "least", "greatest"]


@dataclass(frozen=True)
class Cell:
    #: Levels by factor or parameter, in lanlab's units.
    levels: Mapping[str, Level]
    varied: tuple[str, ...]
    sample: Sample
    #: For a published end of a range: `least` or `greatest` over the factors that it does not name.
    stands: Stands = "each"
    group: str = ""
    is_derived: bool = False
    #: The limit of the link in the metric's unit; `None` if unknown.
    limit: float | None = None
    #: Factors of which the run's scale omits levels.
    thinned: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return f"{self.group}: {words(self.levels, self.varied)}"

    @property
    def is_peak(self) -> bool:
        """Whether it is the maximum over all loads, see `lanlab.analysis.traffic.peaks`."""
        return self.stands == "greatest"


class Evidence(Protocol):
    @property
    def title(self) -> str:
        """Its name, as in `run 2026…`."""

    @property
    def can_lack(self) -> bool:
        """Whether missing values may exist elsewhere, as published values may be incomplete."""

    @property
    def is_model(self) -> bool:
        """Whether it is simulated, so that only means are evidence."""

    @property
    def assumed(self) -> Mapping[str, Level]:
        """Levels assumed for the only system, which texts omit."""

    @property
    def digits(self) -> Mapping[float, float]:
        """Half of the last digit of each published number that states the claim. A bound equal to
        such a number is met by every value that rounds to it.
        """

    def cells(self, metric: str) -> Sequence[Cell]:
        """All conditions that have the metric."""

    def shares(self, metric: str) -> Sequence[Cell]:
        """The conditions, with their values as shares of the link's capacity, 0 to 1."""

    def levels(self, factor: str) -> tuple[Level, ...]:
        """The levels of the factor, in order; empty if unknown or arbitrary."""

    def plain(self, factor: str, level: Level) -> Level:
        """A level as statements write it, in lanlab's units."""

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        """A published `a / b`, if neither side has a published value."""

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        """Whether the metric has a value at the named levels of these factors."""

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        """Why the metric has no value at these levels."""


def matches(levels: Mapping[str, Level], named: Mapping[str, tuple[Level, ...]]) -> bool:
    """Whether a condition has one of the named levels of each named factor."""
    return all(
        factor in levels and any(is_level(levels[factor], one) for one in wanted)
        for factor, wanted in named.items()
    )


def words(levels: Mapping[str, Level], factors: Sequence[str]) -> str:
    """A condition in words: `os xp, message_size_bytes 500`."""
    return ", ".join(f"{factor} {levels[factor]}" for factor in factors if factor in levels)


def named_words(named: Mapping[str, tuple[Level, ...]]) -> str:
    """A selection in words: `os xp, message_size_bytes 2 | 500`."""
    said = (f"{name} {' | '.join(map(str, levels))}".strip() for name, levels in named.items())
    return ", ".join(said)
