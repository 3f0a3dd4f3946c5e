"""Evidence from a study's published values."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from lanlab.analysis.findings.evidence import Cell, matches, named_words
from lanlab.analysis.findings.printed import PrintedRatio, half_digit, number_of, ratio_of, times
from lanlab.analysis.findings.sample import (
    PrintedNumber,
    PrintedSpread,
    Sample,
    Trials,
    as_number,
    divided,
)
from lanlab.analysis.links.wires import wire_asked_for
from lanlab.analysis.published.values import is_own, printed_trials
from lanlab.analysis.trials.summary import limit_of
from lanlab.frozen import dataclass
from lanlab.studies.base import Level, is_level
from lanlab.studies.load import LoadedStudy
from lanlab.studies.plain_level import plain_level
from lanlab.studies.published import MissingValue, PublishedValue

_Levels = tuple[tuple[str, Level], ...]
_TRIAL = "trial"
_ENDS = {"minimum": "least", "maximum": "greatest"}
#: Maximum number of values tried for a lost trial, over its possible range.
_MOST_FILLS = 9


@dataclass(frozen=True)
class PublishedEvidence:
    loaded: LoadedStudy
    title: str = "the published values"
    can_lack: bool = True
    is_model: bool = False
    assumed: Mapping[str, Level] = field(default_factory=dict)
    #: Empty: each published number brings its own digits.
    digits: Mapping[float, float] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)

    def cells(self, metric: str) -> Sequence[Cell]:
        """Conditions with a published number, or one derived from a published ratio or share."""
        return _cells(self, metric, as_share=False)

    def shares(self, metric: str) -> Sequence[Cell]:
        """Shares of the link, either published or computed from a rate and the link's limit."""
        return _cells(self, metric, as_share=True)

    def levels(self, factor: str) -> tuple[Level, ...]:
        return self._factors.get(factor, ())

    def plain(self, factor: str, level: Level) -> Level:
        return plain_level(factor, level)

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        """A published ratio of two levels, if the other levels that it names agree."""
        differ = [f for f in a if f in b and not is_level(a[f], b[f])]
        if len(differ) != 1:
            return None
        for one in self.ratios(metric):
            for way in (one, one.inverted):
                if (
                    way.factor == differ[0]
                    and a[way.factor] in way.numerators
                    and b[way.factor] in way.denominators
                    and way.levels.items() <= a.items()
                    and way.levels.items() <= b.items()
                ):
                    return way.ratio
        return None

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        """Whether a number names all of these factors, and agrees with the named levels."""
        printed = (
            self._condition(value)
            for value in self.loaded.published.value
            if value.metric == metric
            and is_own(value)
            and value.statistic not in ("sd", "level", "fact")
        )
        derived = (cell.levels for cell in (*self.cells(metric), *self.shares(metric)))
        return any(
            all(factor in levels for factor in factors)
            and matches(levels, {f: wanted for f, wanted in named.items() if f in levels})
            for levels in (*printed, *derived)
        )

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        at = f" at {named_words(named)}" if named else ""
        return f"no {metric} is published{at}"

    def ratios(self, metric: str) -> list[PrintedRatio]:
        published = self.loaded.published
        found = [
            ratio_of(v, published) for v in published.value if v.metric == metric and is_own(v)
        ]
        return [
            replace(one, levels={k: self.plain(k, v) for k, v in one.levels.items()})
            for one in found
            if one is not None
        ]

    @property
    def _factors(self) -> dict[str, tuple[Level, ...]]:
        return {
            factor.name: tuple(self.plain(factor.name, one.level) for one in factor.levels)
            for factor in self.loaded.published.factor
        }

    def _condition(self, value: PublishedValue | MissingValue) -> dict[str, Level]:
        return {key: self.plain(key, level) for key, level in value.condition.items()}

    def at_conditions(self, metric: str) -> list[Cell]:
        groups: dict[_Levels, list[PublishedValue | MissingValue]] = {}
        for value in self.loaded.published.printed:
            if value.metric != metric or not is_own(value) or "numerator" in value.condition:
                continue
            if value.statistic in ("trial", "mean", "sd"):
                groups.setdefault(self._key(value), []).append(value)
        runs = printed_trials(self.loaded.published)
        found = []
        for key, values in groups.items():
            sample = printed_sample(values, runs)
            if sample is not None:
                found.append(self._cell(dict(key), sample))
        return found

    def ends(self, metric: str) -> list[Cell]:
        found = [
            v
            for v in self.loaded.published.value
            if v.metric == metric and v.statistic in _ENDS and is_own(v)
        ]
        return [
            replace(
                self._cell(self._condition(value), number_of(value)),
                stands="least" if value.statistic == "minimum" else "greatest",
            )
            for value in found
        ]

    def printed_shares(self, metric: str) -> list[Cell]:
        return [
            self._cell(self._condition(value), number_of(value))
            for value in self.loaded.published.value
            if value.metric == metric and value.statistic == "share_of_link" and is_own(value)
        ]

    def link_limit(self, metric: str, levels: Mapping[str, Level]) -> float | None:
        """The capacity of the study's link at a condition, in the metric's unit. IPv4 is assumed
        unless the condition names a version.
        """
        parameters = {"ip_version": 4, **levels}
        if not {"transport", "message_size_bytes"} <= parameters.keys():
            return None
        return limit_of(metric, parameters, wire_asked_for(self.loaded.study.testbed.link))

    def _key(self, value: PublishedValue | MissingValue) -> _Levels:
        condition = self._condition(value)
        condition.pop(_TRIAL, None)
        return tuple(sorted(condition.items(), key=lambda item: item[0]))

    def _cell(self, levels: dict[str, Level], sample: Sample) -> Cell:
        varied = tuple(name for name in self._factors if name in levels)
        return Cell(levels, varied, sample, group="published")


@functools.lru_cache(maxsize=64)
def _cells(evidence: PublishedEvidence, metric: str, *, as_share: bool) -> tuple[Cell, ...]:
    printed = [*evidence.at_conditions(metric), *evidence.ends(metric)]
    shares = evidence.printed_shares(metric)
    known, others = (shares, printed) if as_share else (printed, shares)
    for cell in others:
        limit = evidence.link_limit(metric, cell.levels)
        if limit and not any(one.levels == cell.levels for one in known):
            factor = 1 / limit if as_share else limit
            known.append(replace(cell, sample=times(cell.sample, factor)))
    return tuple(with_ratios(known, evidence.ratios(metric)))


def with_ratios(cells: Sequence[Cell], ratios: Iterable[PrintedRatio]) -> list[Cell]:
    """The conditions, and further ones derived from them by published ratios."""
    found = list(cells)
    both = [way for one in ratios if not one.ratio.is_bound for way in (one, one.inverted)]
    for ratio in both:
        for cell in cells:
            level = cell.levels.get(ratio.factor)
            if level not in ratio.numerators or not ratio.levels.items() <= cell.levels.items():
                continue
            for other in ratio.denominators:
                levels = {**cell.levels, ratio.factor: other}
                if not any(one.levels == levels and one.stands == cell.stands for one in found):
                    sample = divided(as_number(cell.sample), ratio.ratio)
                    found.append(replace(cell, levels=levels, sample=sample, is_derived=True))
    return found


def printed_sample(
    values: Sequence[PublishedValue | MissingValue], runs: int | None
) -> Sample | None:
    """The published trials, mean and standard deviation of one condition as a sample.

    Args:
        runs: Number of trials behind each mean; `None` if not published.
    """
    printed = [value for value in values if isinstance(value, PublishedValue)]
    trials = [value for value in printed if value.statistic == "trial"]
    if len(trials) >= 2:
        lost = [value for value in values if isinstance(value, MissingValue)]
        step = 2 * max(half_digit(value) for value in trials)
        per_unit = trials[0].si / trials[0].value
        return Trials(
            tuple(value.si for value in trials),
            positions=tuple(_position(value, at) for at, value in enumerate(trials, 1)),
            missing=tuple(
                (_fills(one, step / per_unit, per_unit), _position(one, len(trials) + 1))
                for one in lost
                if one.feasible
            ),
            resolution=step,
            sources=frozenset(value.id for value in trials),
        )
    means = [value for value in printed if value.statistic == "mean"] or trials
    if not means:
        return None
    spreads = [value for value in printed if value.statistic == "sd"]
    if spreads and runs is not None and runs >= 2 and means[0].bound is None:
        sources = frozenset({means[0].id})
        return PrintedSpread(means[0].si, spreads[0].si, runs, half_digit(means[0]), sources)
    return number_of(means[0])


def _position(value: PublishedValue | MissingValue, otherwise: int) -> int:
    found = value.condition.get(_TRIAL, otherwise)
    return found if isinstance(found, int) else otherwise


def _fills(lost: MissingValue, step: float, per_unit: float) -> tuple[float, ...]:
    assert lost.feasible is not None
    ends = [*lost.feasible, *(lost.feasible_if_truncated or ())]
    low, high = min(ends), max(ends)
    steps = round((high - low) / step) if step else 0
    count = min(max(steps, 1), _MOST_FILLS - 1)
    return tuple(per_unit * (low + (high - low) * at / count) for at in range(count + 1))
