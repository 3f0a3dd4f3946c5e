"""Bodies of evidence made by hand: conditions with trials, or with printed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lanlab.analysis.findings import Verdicts, judge
from lanlab.analysis.findings.evidence import Cell, matches, named_words
from lanlab.analysis.findings.sample import PrintedNumber, Sample, Trials
from lanlab.studies import Finding, Level

#: What five trials scatter by, in shares of their mean: 1 % standard deviation, mean 0.
STEADY = (-0.0126491106, 0.0, 0.0126491106, -0.0063245553, 0.0063245553)
#: Ten times that.
NOISY = tuple(10 * one for one in STEADY)


@dataclass
class Numbers:
    """Evidence as a list of conditions."""

    found: list[Cell]
    title: str = "numbers of a test"
    can_lack: bool = False
    assumed: Mapping[str, Level] = field(default_factory=dict)
    #: Levels that are known of a factor, whether they have numbers or not.
    known: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)
    metric: str = "goodput_bps"

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


def trials(mean: float, scatter: Sequence[float] = STEADY, blocks: Sequence[int] = ()) -> Trials:
    """Five trials about a mean, scattered alike in every condition but in turned order."""
    turn = int(mean) % len(scatter)
    turned = (*scatter[turn:], *scatter[:turn])
    values = tuple(mean * (1 + one) for one in turned)
    return Trials(values, tuple(blocks), tuple(range(1, len(values) + 1)))


def printed(mean: float, half: float = 0.0) -> PrintedNumber:
    """A number that was printed without spread."""
    return PrintedNumber(mean, mean - half, mean + half)


def cell(sample: Sample, **levels: Level) -> Cell:
    """A condition of these levels."""
    return Cell(levels, tuple(levels), sample, group="made")


def along(factor: str, means: Mapping[Level, float], scatter: Sequence[float] = STEADY) -> Numbers:
    """Trials at each level of one factor."""
    return Numbers([cell(trials(mean, scatter), **{factor: lv}) for lv, mean in means.items()])


def finding(form: str, **statement: Any) -> Finding:
    """A finding of one statement about `goodput_bps`."""
    whole = {"form": form, "metric": "goodput_bps", **statement}
    return Finding.model_validate({"id": "f", "claim": "So it is.", "statement": whole})


def verdicts(form: str, evidence: Numbers, **statement: Any) -> Verdicts:
    """What the evidence makes of one statement."""
    return judge([finding(form, **statement)], evidence)


def verdict(form: str, evidence: Numbers, **statement: Any) -> str:
    """The same, in a word."""
    return verdicts(form, evidence, **statement).judgements[0].verdict
