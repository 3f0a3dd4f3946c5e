"""The answer of a run in plain sentences, each computed from its trials."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lanlab.analysis.comparison.factor_effects import crossed_experiments
from lanlab.analysis.saturation.search import saturations
from lanlab.analysis.simulation.run import held_out_of
from lanlab.analysis.traffic.peaks import RATES, is_limited_by_offer
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.gather import called
from lanlab.figures.number_text import percent, plain
from lanlab.figures.wording import Quantity, quantity, tried_text
from lanlab.report.answer.ranking_text import factor_effects_sentences, ranking_sentences
from lanlab.report.metrics.order_text import above_limit_remark, ending_sentences, order_sentences
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.saturation.saturation_text import messages_text, saturation_sentence
from lanlab.report.simulation.accuracy_table import missed_sentence
from lanlab.report.traffic.stream_text import one_way_remark
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_sentences, pollution_sentences
from lanlab.store import TrialRecord
from lanlab.studies.model import Experiment, Study

NO_RESULT = "No trial has ended yet, so there is no result."
#: A smaller share of unsent messages is not mentioned.
_LEAST_UNSENT = 0.005
_MOST_SWEEPS = 6
#: Metrics of a sweep over sending rates for which the answer states the highest value reached.
_SPEEDS = ("goodput_bps", "received_messages_per_s")


def answer_of(data: RunData, parts: Analyses) -> tuple[list[str], list[str]]:
    """The results, and the caveats about them: disturbed trials first, then other ones."""
    results, remarks = _results(data, parts), remark_sentences(data, parts)
    if not (results or parts.failed):
        # Why a run has no result is its answer.
        results = remarks[:1] if data.trials and remarks else [NO_RESULT]
        remarks = [remark for remark in remarks if remark not in results]
    return results, remarks


def _results(data: RunData, parts: Analyses) -> list[str]:
    none: tuple[list[str], list[str]] = ([], [])
    ranked, unranked = parts.of("ranking", lambda: ranking_sentences(data), none)
    said = parts.each("saturation", lambda: _searches(data))
    crossed = {one.experiment.id for one in crossed_experiments(data.study, data.run.scale)}
    said += parts.each("effects of factors", lambda: factor_effects_sentences(data))
    # Crossed factors make hundreds of conditions, so only their effects are reported.
    scaled = (one for one in data.experiments if one.search is None)
    rest = [one.experiment for one in scaled if one.experiment.id not in crossed]
    for experiment in rest:
        shown = PRESENTATIONS[experiment.workload]
        if data.own(experiment.id):
            found = partial(shown.sentences, data, experiment.id)
            said += parts.each(f"results of {experiment.id}", found)
    # The answer to a study's question has the highest speeds of sweeps.
    sweeps = [] if data.study.answer else [one for one in rest if _is_sweep(one)]
    for experiment in sweeps if ranked or said or sweeps else rest:
        found = partial(_extremes, data, experiment)
        said += parts.each(f"results of {experiment.id}", found)
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
    said += parts.each("remarks", lambda: _experiment_remarks(data))
    simulation = data.study.simulation if data.study.is_simulated else None
    if simulation is not None and (simulation.held_out or simulation.prediction):
        said += parts.each(
            "what the model missed",
            lambda: [missed_sentence(data.once(held_out_of), data.published)],
        )
    if data.run.status != "done":
        said.append(f"The run is {data.run.status}: only the trials that had ended are shown.")
    return said


def _searches(data: RunData) -> list[str]:
    return [saturation_sentence(data.study, found) for found in data.once(saturations)]


def _with_mean(data: RunData, experiment: str, metric: str) -> list[Summary]:
    return [one for one in data.summaries(experiment, metric) if one.mean is not None]


def _experiment_remarks(data: RunData) -> list[str]:
    remarks = []
    for experiment in (one.experiment for one in data.experiments if one.search is None):
        own = data.own(experiment.id)
        if summaries := _with_mean(data, experiment.id, experiment.metrics[0]):
            remarks += [
                above_limit_remark(data, summaries),
                PRESENTATIONS[experiment.workload].remark(data, own),
                one_way_remark(experiment.title, data.counted(experiment.id)),
            ]
    return [remark for remark in remarks if remark]


def _is_sweep(experiment: Experiment) -> bool:
    return experiment.metrics[0] in _SPEEDS and any(rate in experiment.factors for rate in RATES)


def _extremes(data: RunData, experiment: Experiment) -> list[str]:
    """The highest speeds of a sweep; else the only mean, or the least and the greatest. The tables
    have all.
    """
    ordered = sorted(_with_mean(data, experiment.id, experiment.metrics[0]), key=_value)
    if not ordered:
        return []
    if _is_sweep(experiment):
        return _greatest(data, ordered, data.own(experiment.id))
    ends = ordered[:: max(1, len(ordered) - 1)]
    shown = quantity(data.study, ordered[0].metric).readable(map(_value, ends))
    texts = []
    for one in ends:
        words = called(data.study, data.published, one.factors)
        texts.append(_mean(data.study, shown, one) + (f" ({words})" if words else ""))
    name, title = f"{shown.name[0].upper()}{shown.name[1:]}", experiment.title
    if len(data.study.titles) > 1:
        name = title if shown.name.lower() in title.lower() else f"{title}: {shown.name}"
    share = _share(ordered[0]) if len(ends) == 1 else ""
    return [f"{name}: {' to '.join(texts)}{share}."]


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
    shown = quantity(data.study, best.metric)
    rate = next(rate for rate in RATES if rate in best.factors)
    loads = [float(summary.factors[rate]) for summary in sweep]
    tried = f" (of {tried_text(data.study, rate, loads)})"
    mean = _mean(data.study, shown, best)
    if is_limited_by_offer(best.metric, best.parameters, _value(best)):
        mean = f"at least {mean}"
    text = f"The highest {shown.name} of {named} was {mean}{tried}{_share(best)}"
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
        text += f"; at {at}, the highest speed offered, {came}"
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


def _mean(study: Study, shown: Quantity, summary: Summary) -> str:
    return shown.mean_text(summary, study, shown.unit)


def _share(summary: Summary) -> str:
    if not summary.limit:
        return ""
    return f", {percent(_value(summary) / summary.limit)} of what this Ethernet can carry"
