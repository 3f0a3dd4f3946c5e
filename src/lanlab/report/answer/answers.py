"""The answer of a run in plain sentences, each computed from its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.attempts import counting
from lanlab.analysis.factor_effects import crossed_experiments
from lanlab.analysis.peaks import LOAD, PEAKED, peak_of
from lanlab.analysis.run_data import RunData
from lanlab.analysis.saturation import saturations
from lanlab.analysis.summary import Summary, interval_of_mean
from lanlab.figures.gather import called
from lanlab.figures.number_text import percent, plain
from lanlab.figures.received_against_sent import RATES
from lanlab.figures.wording import Quantity, condition_text, obtained, quantity
from lanlab.report.answer.ranking_text import factor_effects_sentences, joined, ranking_sentences
from lanlab.report.metrics.order_text import above_limit_remark, ending_sentences, order_sentences
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.presentations.base import SeriesOf
from lanlab.report.saturation.saturation_text import messages_text, saturation_sentence
from lanlab.report.simulation.accuracy_table import missed_in
from lanlab.report.traffic.stream_text import one_way_remark
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_sentences, pollution_sentences
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import ExperimentAtScale, Published, Study

NO_RESULT = "No trial has ended yet, so there is no result."
#: A smaller share of unsent messages is not mentioned.
_LEAST_UNSENT = 0.005
_MOST_SWEEPS = 6
#: Metrics with this unit have names such as `files a second`.
_A_SECOND = "1/s"
#: Metrics of a sweep over sending rates for which the answer states the highest value reached. For
#: other metrics it states the range.
_SPEEDS = ("goodput_bps", "received_messages_per_s")


def sentences(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    published: Published | None = None,
    analyses: Analyses | None = None,
) -> list[str]:
    """
    The answer in sentences, in the study's own units.

    Args:
        published: The study's published values. Default: those that lanlab has under the run's
            study id.
        analyses: Collects the analyses that fail. If omitted, the last sentences name them.
    """
    parts = Analyses() if analyses is None else analyses
    results, remarks = answer_of(RunData(run, trials, published=published), parts)
    return [*results, *remarks, *([] if analyses is not None else parts.lines())]


def answer_of(data: RunData, parts: Analyses) -> tuple[list[str], list[str]]:
    """The results, and the caveats about them: disturbed trials first, then other ones."""
    results, remarks = _results(data, parts), remark_sentences(data, parts)
    if not (results or remarks or parts.failed):
        results.append(NO_RESULT)
    return results, remarks


def _results(data: RunData, parts: Analyses) -> list[str]:
    none: tuple[list[str], list[str]] = ([], [])
    ranked, unranked = parts.of("ranking", lambda: ranking_sentences(data), none)
    said = parts.each("saturation", lambda: _searches(data))
    crossed = {one.experiment.id for one in crossed_experiments(data.study, data.run.scale)}
    said += parts.each("effects of factors", lambda: factor_effects_sentences(data))
    for scaled in data.experiments:
        own = data.own(scaled.experiment.id)
        # Crossed factors make hundreds of conditions, so only their effects are reported.
        if own and scaled.search is None and scaled.experiment.id not in crossed:
            found = partial(_experiment, data, scaled)
            said += parts.each(f"results of {scaled.experiment.id}", found)
    if data.run.study_id == "nas":
        from lanlab.report.answer.purposes import purposes_of

        of = parts.each("purposes", lambda: [purposes_of(data.run, data.trials).sentence])
        ranked = [*of, *ranked]
    # Rankings come first, because they answer the question.
    return [*ranked, *said, *unranked]


def remark_sentences(data: RunData, parts: Analyses) -> list[str]:
    said = parts.each("disturbances", lambda: pollution_sentences(data))
    said += parts.each("failed trials", lambda: failure_sentences(data))
    said += parts.each("how conditions ended", lambda: ending_sentences(data))
    said += parts.each("order of trials", lambda: order_sentences(data))
    simulation = data.study.simulation if data.study.is_simulated else None
    if simulation is not None and (simulation.held_out or simulation.prediction):
        said += parts.each("what the model missed", lambda: [missed_in(data.run, data.trials)])
    if data.run.status != "done":
        said.append(f"The run is {data.run.status}: only the trials that had ended are shown.")
    return said


def _searches(data: RunData) -> list[str]:
    return [saturation_sentence(data.study, found) for found in saturations(data.run, data.trials)]


def _experiment(data: RunData, scaled: ExperimentAtScale) -> list[str]:
    experiment = scaled.experiment
    shown = PRESENTATIONS[experiment.workload]
    if shown.answers_alone:
        return shown.sentences(data, experiment.id)
    own, metric = data.own(experiment.id), experiment.metrics[0]
    summaries = [s for s in data.summaries(experiment.id, metric) if s.mean is not None]
    if not summaries:
        return []
    said = shown.sentences(data, experiment.id)
    if metric in _SPEEDS and any(rate in experiment.factors for rate in RATES):
        said += _greatest(data, summaries, own)
    else:
        alike = {one.experiment for one in data.trials if one.workload == experiment.workload}
        # Only ranges say what else differs between experiments.
        title = "" if shown.has_ranges or len(alike) < 2 else f"{experiment.title}: "
        along = shown.range_factor(experiment)
        said += [f"{title}{one}" for one in _ranges(data, summaries, along)]
    remarks = (
        above_limit_remark(data, summaries),
        shown.remark(data, own),
        one_way_remark(experiment.title, data.counted(experiment.id)),
    )
    return said + [remark for remark in remarks if remark]


def _greatest(
    data: RunData, summaries: Sequence[Summary], trials: Sequence[TrialRecord]
) -> list[str]:
    """The highest rate of each sweep, and how much arrived at the highest rate sent. If there are
    many sweeps, only the best and the worst.
    """
    rate = next(rate for rate in RATES if rate in summaries[0].factors)
    sweeps: dict[str, list[Summary]] = {}
    for summary in summaries:
        # The sentence names the message size anyway.
        rest = {
            key: level
            for key, level in summary.factors.items()
            if key not in (rate, "message_size_bytes", "transport")
        }
        words = called(data.study, data.published, rest)
        named = messages_text(summary.parameters) + (f" with {words}" if words else "")
        sweeps.setdefault(named, []).append(summary)
    ordered = sorted(sweeps.items(), key=lambda sweep: -max(map(_value, sweep[1])))
    chosen = ordered if len(ordered) <= _MOST_SWEEPS else (ordered[0], ordered[-1])
    return [_greatest_of(data, named, sweep, trials) for named, sweep in chosen]


def _value(summary: Summary) -> float:
    assert summary.mean is not None
    return summary.mean


def _greatest_of(
    data: RunData, named: str, sweep: Sequence[Summary], trials: Sequence[TrialRecord]
) -> str:
    best = max(sweep, key=_value)
    if data.study.is_simulated:
        best = _peak(best, sweep)
    shown = quantity(data.study, best.metric)
    text = f"The highest {shown.name} of {named} was {_mean(data.study, shown, best)}{_share(best)}"
    rate = next(rate for rate in RATES if rate in best.factors)
    top = max(sweep, key=lambda summary: float(summary.factors[rate]))
    ratios = [
        float(trial.metrics["received_ratio"])
        for trial in counting(trials)
        if trial.factors == top.factors
        and "received_ratio" in trial.metrics
        # TCP delivers everything that was written.
        and trial.parameters.get("transport") != "tcp"
    ]
    if ratios:
        level = quantity(data.study, rate)
        at = f"{plain(level.shown(float(top.factors[rate])))} {level.unit}"
        share = percent(sum(ratios) / len(ratios))
        came = f"{share} of the messages {_arrived(top, trials)}"
        text += f"; at {at}, the highest speed {obtained(data.study).word}, {came}"
    return text + "."


def _arrived(top: Summary, trials: Sequence[TrialRecord]) -> str:
    """What a received share refers to, if the sender did not reach the requested rate."""
    counts = [trial.metrics for trial in counting(trials) if trial.factors == top.factors]
    offered, sent = (
        sum(float(one.get(key, 0)) for one in counts)
        for key in ("offered_messages", "sent_messages")
    )
    unsent = 1 - sent / offered if offered and sent else 0.0
    if unsent < _LEAST_UNSENT:
        return "arrived"
    return f"offered arrived, and {percent(unsent)} were not sent"


def _peak(best: Summary, sweep: Sequence[Summary]) -> Summary:
    """The highest value over all loads, even between those of the sweep; `best` if unknown."""
    if best.metric != PEAKED or LOAD not in best.factors:
        return best
    loads = [float(summary.factors[LOAD]) for summary in sweep]
    trials = zip(*(summary.values for summary in sweep), strict=False)
    found = [peak_of(zip(loads, values, strict=True)) for values in trials]
    tops = [one.throughput for one in found if one is not None]
    if not tops or len(tops) < len(found):
        return best
    low, high = interval_of_mean(PEAKED, tops, best.limit) or (None, None)
    mean = sum(tops) / len(tops)
    return replace(best, mean=mean, ci_low=low, ci_high=high)


def _ranges(data: RunData, summaries: Sequence[Summary], along: str) -> list[str]:
    shown = quantity(data.study, summaries[0].metric)
    name = shown.name[0].upper() + shown.name[1:]
    groups: dict[str, list[Summary]] = {}
    presented = PRESENTATIONS[summaries[0].workload]
    words = partial(called, data.study, data.published)
    for summary in summaries:
        rest = {k: v for k, v in summary.factors.items() if k != along}
        series = presented.series_text(SeriesOf(data.study, summary, rest, words))
        groups.setdefault(series, []).append(summary)
    was = "were" if shown.unit == _A_SECOND else "was"
    said = []
    for series, group in groups.items():
        in_unit = shown.readable(summary.mean for summary in group)
        least, most = min(group, key=_value), max(group, key=_value)
        at_that_size = " at that size" if along == "message_size_bytes" else ""
        if least is most:
            # Others of several levels may have no result.
            is_one_of = len(group) == 1 and along in {*most.factors} - most.constant
            at = f" ({_level(data.study, most, along)})" if is_one_of else ""
            text = f"{name} {series} {was} {_mean(data.study, in_unit, most)}{at}{_share(most)}"
        elif not presented.has_ranges:
            each = [
                f"{_mean(data.study, in_unit, one)} ({_level(data.study, one, along)}{_share(one)})"
                for one in group
            ]
            text = f"{name} {series} {was} {joined(each)}"
        else:
            text = (
                f"{name} {series} {was} between {_mean(data.study, in_unit, least)} "
                f"({_level(data.study, least, along)}) and {_mean(data.study, in_unit, most)} "
                f"({_level(data.study, most, along)})"
            )
            shares = [_value(one) / one.limit for one in group if one.limit]
            if shares:
                text += (
                    f", from {percent(min(shares))} to {percent(max(shares))} of what this "
                    f"Ethernet can carry{at_that_size}"
                )
        said.append(text + ".")
    return said


def _mean(study: Study, shown: Quantity, summary: Summary) -> str:
    if study.is_simulated:  # an interval over seeds would read as the model's error
        summary = replace(summary, ci_low=None, ci_high=None)
    return shown.mean_text(summary, study, "" if shown.unit == _A_SECOND else shown.unit)


def _share(summary: Summary) -> str:
    if not summary.limit:
        return ""
    return f", {percent(_value(summary) / summary.limit)} of what this Ethernet can carry"


def _level(study: Study, summary: Summary, factor: str) -> str:
    return condition_text(study, {factor: summary.parameters[factor]})
