"""Evidence from the counting trials of a stored run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from lanlab.analysis.findings.evidence import Cell, matches, named_words
from lanlab.analysis.findings.printed import times
from lanlab.analysis.findings.sample import PrintedNumber, Trials
from lanlab.analysis.findings.systems import THIS_SYSTEM
from lanlab.analysis.links.wires import wire_at
from lanlab.analysis.traffic.peaks import PEAKED, peaks
from lanlab.analysis.trials.attempts import condition_key, counting
from lanlab.analysis.trials.summary import limit_of
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition, expand
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.counterparts import (
    factors_told_apart,
    in_published_words,
    levels_of_ours_apart,
    levels_told_apart,
    names_of,
    published_level,
    stands_at,
)
from lanlab.studies.model import Study
from lanlab.studies.plain_level import plain_level
from lanlab.studies.scaling import at_scale


@dataclass(frozen=True)
class RunEvidence:
    """The conditions of a run with their trials; conditions of searches are excluded."""

    run: RunRecord
    conditions: tuple[tuple[Condition, tuple[TrialRecord, ...]], ...]
    study: Study
    #: Levels assumed for this system, of factors that a study varied and a run cannot vary.
    assumed: Mapping[str, Level] = field(default_factory=dict)
    can_lack: bool = False
    digits: Mapping[float, float] = field(default_factory=dict)

    @classmethod
    def of(cls, run: RunRecord, trials: Sequence[TrialRecord]) -> RunEvidence:
        study = Study.model_validate(run.study)
        own: dict[tuple[str, str], list[TrialRecord]] = {}
        for trial in counting(trials):
            if trial.purpose == "trial":
                key = trial.experiment, condition_key(trial.factors)
                own.setdefault(key, []).append(trial)
        conditions = expand(study, run.scale) if study.experiment else ()
        return cls(
            run,
            tuple(
                (c, tuple(own.get((c.experiment, condition_key(c.factors)), ())))
                for c in conditions
            ),
            study,
        )

    @property
    def title(self) -> str:
        return f"run {self.run.id}"

    @property
    def is_model(self) -> bool:
        return self.study.is_simulated

    @cached_property
    def factors(self) -> set[str]:
        return {
            key
            for condition, _ in self.conditions
            for levels in in_published_words(self.study, condition.experiment, condition.parameters)
            for key in levels
        }

    def on_this_system(self) -> RunEvidence:
        """The evidence for a run on a current system, which is none of the publication's
        systems: it represents each level of the factors that the run lacks.
        """
        unknown = factors_told_apart(self.study) - self.factors
        return replace(self, assumed=dict.fromkeys(unknown, THIS_SYSTEM))

    def cells(self, metric: str) -> Sequence[Cell]:
        """Conditions with at least one trial that has the metric. Modelled machines run an
        arbitrary grid of loads, so their peaks between the loads are added.
        """
        if metric not in self._cells_known:
            found = [cell for cell, _ in self._cells(metric)]
            has_peaks = self.study.is_simulated and metric == PEAKED
            self._cells_known[metric] = [*found, *(peaks(found) if has_peaks else ())]
        return self._cells_known[metric]

    def with_conditions(self, metric: str) -> list[tuple[Cell, Condition]]:
        """The conditions of the run, each with its cell of `cells`."""
        return list(self._cells(metric))

    def shares(self, metric: str) -> Sequence[Cell]:
        if metric not in self._shares_known:
            self._shares_known[metric] = [
                replace(cell, sample=times(cell.sample, 1 / cell.limit), limit=None)
                for cell in self.cells(metric)
                if cell.limit
            ]
        return self._shares_known[metric]

    @cached_property
    def _cells_known(self) -> dict[str, list[Cell]]:
        return {}

    @cached_property
    def _shares_known(self) -> dict[str, list[Cell]]:
        return {}

    @cached_property
    def _assumed(self) -> list[dict[str, Level]]:
        open_factors = [name for name, level in self.assumed.items() if level == THIS_SYSTEM]
        levels = {name: levels_told_apart(self.study, name) for name in open_factors}
        chosen = {name: known for name, known in levels.items() if known}
        return [
            {**self.assumed, **dict(zip(chosen, found, strict=True))}
            for found in itertools.product(*chosen.values())
        ]

    def levels(self, factor: str) -> tuple[Level, ...]:
        return tuple(dict.fromkeys(one[factor] for one in self._assumed if factor in one))

    def plain(self, factor: str, level: Level) -> Level:
        """A level as the workload writes it, and the publication's name for it."""
        return plain_level(factor, published_level(self.study, factor, level))

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        return None

    def speaks(
        self, metric: str, named: Mapping[str, tuple[Level, ...]], factors: Sequence[str]
    ) -> bool:
        own = {f: levels for f, levels in named.items() if f in factors or f in self._named_here}
        return any(matches(cell.levels, own) for cell in self.cells(metric))

    def why_not(self, metric: str, named: Mapping[str, tuple[Level, ...]]) -> str:
        """The first requested factor or level that this run lacks."""
        known = {**dict.fromkeys(self.factors), **self.assumed}
        unknown = [factor for factor in named if factor not in known]
        if unknown:
            wanted = {factor: named[factor] for factor in unknown}
            has = "does not have" if any(wanted.values()) else "has no data by"
            return f"this run {has} {named_words(wanted)}"
        cells = self.cells(metric)
        if not cells:
            return f"this run has no {metric}"
        for factor, levels in named.items():
            there = dict.fromkeys(c.levels[factor] for c in cells if factor in c.levels)
            if levels and not any(level in there for level in levels):
                only = f", only at {named_words({factor: tuple(there)})}" if there else ""
                return f"this run has no {metric} at {named_words({factor: levels})}{only}"
        return f"no trial of this run has {metric} at {named_words(named)}"

    @property
    def _named_here(self) -> set[str]:
        return self.factors | set(self.assumed)

    def _cells(self, metric: str) -> Iterable[tuple[Cell, Condition]]:
        for condition, trials in self.conditions:
            measured = [trial for trial in trials if metric in trial.metrics]
            if not measured:
                continue
            blocks = tuple(trial.block for trial in measured)
            # One trial of a condition in each block: repeats count once.
            sample = Trials(
                tuple(float(trial.metrics[metric]) for trial in measured),
                blocks if len(set(blocks)) == len(blocks) else (),
                tuple(trial.number for trial in measured),
            )
            varied = names_of(self.study, tuple(condition.factors))
            # Two of our levels may represent one published level, if they differ in another factor.
            apart = levels_of_ours_apart(self.study, condition.parameters)
            group = " ".join([condition.experiment, *apart])
            parameters = dict(condition.parameters)
            limit = limit_of(metric, parameters, wire_at(self.run, parameters, self.study))
            thinned = self._thinned[condition.experiment]
            known = Cell({}, varied, sample, group=group, limit=limit, thinned=thinned)
            for own in in_published_words(self.study, condition.experiment, condition.parameters):
                for assumed in self._assumed:
                    levels = {**own, **assumed}
                    if stands_at(self.study, condition.parameters, levels):
                        yield replace(known, levels=levels), condition

    @cached_property
    def _thinned(self) -> dict[str, frozenset[str]]:
        """By experiment, the factors of which the run's scale omits levels."""
        return {
            one.experiment.id: frozenset(
                name
                for name, levels in one.experiment.factors.items()
                if set(levels) - set(one.factors.get(name, ()))
            )
            for one in at_scale(self.study, self.run.scale)
        }
