"""What a run answers, in plain sentences, each computed from its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.attempts import counting
from lanlab.analysis.peaks import LOAD, PEAKED, peak_of
from lanlab.analysis.published import points_for, published_numbers
from lanlab.analysis.saturation import saturations
from lanlab.analysis.summary import Summary, interval_of_mean, summarise
from lanlab.figures.received_against_sent import RATES
from lanlab.figures.wording import condition_text, number, percent, plain, quantity, with_interval
from lanlab.report.above_limit import above_limit_remark
from lanlab.report.analyses import Analyses
from lanlab.report.contrast import Contrast, contrast
from lanlab.report.ending_text import ending_sentences
from lanlab.report.failure_text import failure_sentences
from lanlab.report.load_table import load_sentences
from lanlab.report.one_way import one_way_remark
from lanlab.report.order_text import order_sentences
from lanlab.report.pollution import pollution_sentences
from lanlab.report.ranking_text import joined, ranking_sentences
from lanlab.report.round_trips import round_trip_remark
from lanlab.report.saturation_text import messages_text, saturation_sentence
from lanlab.report.stations_answer import IN_CARRIER, carrier_of_stations, station_sentences
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import ExperimentAtScale, Published, Study, at_scale
from lanlab.studies.scaling import is_numeric

NO_RESULT = "No trial has ended yet, so there is no result."
#: An interval whose ends differ by more than this factor says nothing.
_TOO_WIDE = 2.0
#: Sweeps of one experiment that have a sentence each.
_MOST_SWEEPS = 6
#: Metrics that a sweep of sending speeds is about: what it reaches is said, else how they range.
_SPEEDS = ("goodput_bps", "received_messages_per_s")


def sentences(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    published: Published | None = None,
    analyses: Analyses | None = None,
) -> list[str]:
    """
    What was found, in the study's own units, one sentence for each finding.

    Args:
        run: The run.
        trials: All its trials, in order.
        published: The numbers that the study printed; by default those of the study that comes
            with lanlab under the run's study id.
        analyses: Keeps those that fail. Without, the last sentences say which failed.
    """
    parts = Analyses() if analyses is None else analyses
    said = result_sentences(run, trials, published, parts)
    said += remark_sentences(run, trials, parts)
    if not said and not parts.failed:
        said.append(NO_RESULT)
    return said if analyses is not None else [*said, *parts.lines()]


def result_sentences(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    published: Published | None,
    parts: Analyses,
) -> list[str]:
    """What was measured; arguments as `sentences`."""
    study = Study.model_validate(run.study)
    printed = published_numbers(run) if published is None else published
    # Which is best is what was asked, wherever something is varied that can be.
    said = parts.each("ranking", lambda: ranking_sentences(study, run, trials))
    said += parts.each("saturation", lambda: _searches(study, run, trials))
    for scaled in at_scale(study, run.scale):
        own = [trial for trial in trials if trial.experiment == scaled.experiment.id]
        if own and scaled.search is None:
            found = partial(_experiment, study, run, scaled, own, printed)
            said += parts.each(f"results of {scaled.experiment.id}", found)
    return said


def remark_sentences(run: RunRecord, trials: Sequence[TrialRecord], parts: Analyses) -> list[str]:
    """What is to be known of the trials; arguments as `sentences`."""
    study = Study.model_validate(run.study)
    said = parts.each("how conditions ended", lambda: ending_sentences(run, trials, study))
    said += parts.each("order of trials", lambda: order_sentences(run, trials, study))
