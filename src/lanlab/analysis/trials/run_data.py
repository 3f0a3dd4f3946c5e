"""A run with its trials, its study, and the published values of the study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from lanlab.analysis.disturbances.detect import Judgement, judgement_of
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.endings import Ending, ending
from lanlab.analysis.trials.modes import Modes, load_before, modes_of
from lanlab.analysis.trials.summary import ConditionTrials, Summary, conditions_of
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study
from lanlab.studies.scaling import ExperimentAtScale, at_scale

if TYPE_CHECKING:
    from lanlab.analysis.findings.run_evidence import RunEvidence
    from lanlab.studies.published import Published

_Found = TypeVar("_Found")


class RunData:
    """What every analysis of a run reads."""

    def __init__(
        self,
        run: RunRecord,
        trials: Sequence[TrialRecord],
        study: Study | None = None,
        published: Published | None = None,
    ) -> None:
        """
        Args:
            trials: All trials of the run, in order.
            study, published: Default: those of the run.
        """
        self.run, self.trials = run, trials
        self._study, self._published = study, published
        self.found: dict[object, object] = {}
        self._conditions: dict[str, list[ConditionTrials]] = {}
        self._summaries: dict[tuple[str, str], Sequence[Summary]] = {}

    @cached_property
    def study(self) -> Study:
        return self._study or Study.model_validate(self.run.study)

    @cached_property
    def published(self) -> Published:
        # Most measurements have none.
        from lanlab.analysis.published.values import published_numbers

        return self._published or published_numbers(self.run)

    @cached_property
    def evidence(self) -> RunEvidence:
        """The evidence for statements about the run, in the terms of its study."""
        from lanlab.analysis.findings.run_evidence import RunEvidence

        return RunEvidence.of(self.run, self.trials)

    def once(self, analysis: Callable[[RunData], _Found]) -> _Found:
        """The result of an analysis of the run, which is computed when it is first asked for."""
        if analysis not in self.found:
            self.found[analysis] = analysis(self)
        return cast("_Found", self.found[analysis])

    @cached_property
    def experiments(self) -> Sequence[ExperimentAtScale]:
        return at_scale(self.study, self.run.scale)

    def own(self, experiment: str) -> list[TrialRecord]:
        return [trial for trial in self.trials if trial.experiment == experiment]

    @cached_property
    def counting(self) -> Sequence[TrialRecord]:
        return counting(self.trials)

    @cached_property
    def endings(self) -> Sequence[Ending]:
        """
        How the conditions ended, in the order of the study. Conditions of searches, which have
        their own rules for the end, are omitted.
        """
        is_over = self.run.status == "done"
        found = []
        for scaled in self.experiments:
            if scaled.search is None:
                name = scaled.experiment.id
                summaries = self.summaries(name, scaled.experiment.metrics[0])
                for condition, summary in zip(self.conditions(name), summaries, strict=True):
                    found.append(ending(summary, condition.trials, scaled.trials, is_over))
        return found

    @cached_property
    def modes_and_loads(self) -> Sequence[tuple[Modes | None, float | None]]:
        """The I/O modes of each trial, and the greatest load average of a host before it."""
        return [(modes_of(trial), load_before(trial)) for trial in self.trials]

    @cached_property
    def judgements(self) -> Sequence[Judgement | None]:
        """What disturbed each trial."""
        return [judgement_of(trial.raw) for trial in self.trials]

    def counted(self, experiment: str) -> list[TrialRecord]:
        return [trial for trial in self.counting if trial.experiment == experiment]

    def conditions(self, experiment: str) -> Sequence[ConditionTrials]:
        if experiment not in self._conditions:
            self._conditions[experiment] = conditions_of(self.run, self.trials, experiment)
        return self._conditions[experiment]

    def all_summaries(self) -> list[Summary]:
        return [
            summary
            for scaled in self.experiments
            if scaled.search is None
            for metric in scaled.experiment.metrics
            for summary in self.summaries(scaled.experiment.id, metric)
        ]

    def summaries(self, experiment: str, metric: str) -> Sequence[Summary]:
        key = experiment, metric
        if key not in self._summaries:
            self._summaries[key] = [one.summary(metric) for one in self.conditions(experiment)]
        return self._summaries[key]
