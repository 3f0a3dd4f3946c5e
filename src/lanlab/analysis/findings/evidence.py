"""What a statement is held against: conditions with what is known of a metric at each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from lanlab.analysis.findings.sample import PrintedNumber, Sample
from lanlab.frozen import dataclass
from lanlab.studies import Level
from lanlab.studies.base import is_level

Stands = Literal["each", "least", "greatest"]


@dataclass(frozen=True)
class Cell:
    #: By factor or parameter, in lanlab's units.
    levels: Mapping[str, Level]
    varied: tuple[str, ...]
    sample: Sample
    #: A printed end of a range stands for the least (greatest) over what it does not name.
    stands: Stands = "each"
    group: str = ""
    is_derived: bool = False

    @property
    def name(self) -> str:
        return f"{self.group}: {words(self.levels, self.varied)}"


class Evidence(Protocol):
    @property
    def title(self) -> str:
        """What it is, as in "run 2026…"."""

    @property
    def can_lack(self) -> bool:
        """Whether there were numbers that are not here: what is published may be incomplete."""

    @property
    def is_model(self) -> bool:
        """Whether it is of a model, of which only the means say anything."""

    @property
    def assumed(self) -> Mapping[str, Level]:
        """Levels that are assumed for the only system that there is; left out of texts."""

    @property
    def digits(self) -> Mapping[float, float]:
        """Half of the last digit of printed numbers that state the claim, by number: a bound is
        such a number, and is met by every value that is printed alike."""

    def cells(self, metric: str) -> Sequence[Cell]:
        """All conditions that have the metric."""

    def shares(self, metric: str) -> Sequence[Cell]:
        """The same as shares of what the link can carry, 0 to 1."""

    def levels(self, factor: str) -> tuple[Level, ...]:
        """The levels that the factor had, in their order; none: it is not known, or any."""

    def plain(self, factor: str, level: Level) -> Level:
        """A level as a statement writes it, in lanlab's units."""

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        """A number for `a / b` where neither side has one of its own."""

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        """Whether there is a number of the metric that names the factors, at levels named."""

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        """Why there is no number of the metric at these levels."""


def matches(levels: Mapping[str, Level], named: Mapping[str, tuple[Level, ...]]) -> bool:
    """Whether a condition has one of the levels named, of each factor that is named."""
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
