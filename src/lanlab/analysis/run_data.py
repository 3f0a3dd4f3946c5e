"""A run with its trials, its study, and the published values of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from lanlab.analysis.published import published_numbers
from lanlab.analysis.summary import Summary, summarise
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import ExperimentAtScale, Published, Study, at_scale


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

    @cached_property
    def study(self) -> Study:
        return self._study or Study.model_validate(self.run.study)

    @cached_property
    def published(self) -> Published:
        return self._published or published_numbers(self.run)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each experiment, by its id."""
        return {experiment.id: experiment.title for experiment in self.study.experiment}

    @cached_property
    def experiments(self) -> Sequence[ExperimentAtScale]:
        return at_scale(self.study, self.run.scale)

    def own(self, experiment: str) -> list[TrialRecord]:
        """The trials of an experiment."""
        return [trial for trial in self.trials if trial.experiment == experiment]

    def summaries(self, experiment: str, metric: str) -> list[Summary]:
        return summarise(self.run, self.trials, experiment, metric)
