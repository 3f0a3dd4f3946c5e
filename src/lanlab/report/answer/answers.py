"""The answer of a run in plain sentences, each computed from its trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.attempts import counting
from lanlab.analysis.factor_effects import crossed_experiments
from lanlab.analysis.peaks import LOAD, PEAKED, peak_of
from lanlab.analysis.published import points_for
from lanlab.analysis.run_data import RunData
from lanlab.analysis.saturation import saturations
from lanlab.analysis.summary import Summary, interval_of_mean
from lanlab.errors import NoSpread
from lanlab.figures.gather import called
from lanlab.figures.number_text import number, percent, plain, with_interval
from lanlab.figures.received_against_sent import RATES
from lanlab.figures.wording import Quantity, condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.report.answer.ranking_text import factor_effects_sentences, joined, ranking_sentences
from lanlab.report.metrics.order_text import above_limit_remark, ending_sentences, order_sentences
from lanlab.report.presentations import PRESENTATIONS
from lanlab.report.presentations.base import SeriesOf
from lanlab.report.saturation.saturation_text import messages_text, saturation_sentence
from lanlab.report.simulation.accuracy_table import missed_in
from lanlab.report.traffic.stream_text import one_way_remark
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_sentences, pollution_sentences
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import ExperimentAtScale, Published, Study

NO_RESULT = "No trial has ended yet, so there is no result."
#: A wider interval (ratio of its ends) is not informative.
_TOO_WIDE = 2.0
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
    said = sentences_of(RunData(run, trials, published=published), parts)
    return said if analyses is not None else [*said, *parts.lines()]


def sentences_of(data: RunData, parts: Analyses) -> list[str]:
    said = [*result_sentences(data, parts), *remark_sentences(data, parts)]
    if not said and not parts.failed:
        said.append(NO_RESULT)
    return said


def result_sentences(data: RunData, parts: Analyses) -> list[str]:
    """The measured results; arguments as in `sentences`."""
    ranked = parts.each("ranking", lambda: ranking_sentences(data))
    said = parts.each("saturation", lambda: _searches(data))
    crossed = {one.experiment.id for one in crossed_experiments(data.study, data.run.scale)}
    said += parts.each("effects of factors", lambda: factor_effects_sentences(data))
    for scaled in data.experiments:
        own = data.own(scaled.experiment.id)
        # Crossed factors make hundreds of conditions, so only their effects are reported.
        if own and scaled.search is None and scaled.experiment.id not in crossed:
            found = partial(_experiment, data, scaled)
            said += parts.each(f"results of {scaled.experiment.id}", found)
    # Rankings come first, because they answer the question.
    return [*ranked, *said]


def remark_sentences(data: RunData, parts: Analyses) -> list[str]:
    """Caveats about the trials; arguments as in `sentences`."""
    said = parts.each("how conditions ended", lambda: ending_sentences(data))
    said += parts.each("order of trials", lambda: order_sentences(data))
    said += parts.each("failed trials", lambda: failure_sentences(data))
    said += parts.each("disturbances", lambda: pollution_sentences(data))
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
    if "ip_version" in experiment.factors:
        # The study compares the IP versions.
        said += _versions(data, summaries, own)
    if metric in _SPEEDS and any(rate in experiment.factors for rate in RATES):
        said += _greatest(data, summaries, own)
    else:
        said += _ranges(data, summaries, shown.range_factor(experiment))
    said += _published_sentences(data, summaries)
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
        text += (
            f"; at {at}, the highest sending speed, {share} of the messages {_arrived(top, trials)}"
        )
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
    low, high = interval_of_mean(PEAKED, tops) or (None, None)
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
            text = f"{name} {series} {was} {_mean(data.study, in_unit, most)}{_share(most)}"
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


def _versions(
    data: RunData, summaries: Sequence[Summary], trials: Sequence[TrialRecord]
) -> list[str]:
    """IPv4 compared with IPv6 at the first and the last condition that have both."""
    pairs: dict[str, dict[Level, Summary]] = {}
    for summary in summaries:
        rest = {k: v for k, v in summary.factors.items() if k != "ip_version"}
        pairs.setdefault(called(data.study, data.published, rest), {})[
            summary.factors["ip_version"]
        ] = summary
    both = [(where, pair[4], pair[6]) for where, pair in pairs.items() if {4, 6} <= pair.keys()]
    said = []
    for where, four, six in both if len(both) < 3 else (both[0], both[-1]):
        found = contrast(four, six, trials)
        if found is not None:
            shown = quantity(data.study, four.metric)
            said.append(_difference(where, shown.name, shown.si_unit in ("s", "ns"), found))
    return said


def _difference(where: str, name: str, is_time: bool, found: Contrast) -> str:
    """The difference between IPv4 and IPv6, if there is one."""
    more, less = ("longer", "shorter") if is_time else ("higher", "lower")
    at = f" at {where}" if where else ""
    gain, blocks = found.ratio - 1, _count(found.blocks, "block")
    size = f"{number(100 * abs(gain), 3)} %"
    direction = more if gain >= 0 else less
    if found.interval is None:
        return f"The {name} over IPv4 was {size} {direction} than over IPv6{at}, seen once."
    low, high = found.interval
    if high > _TOO_WIDE * low:
        return f"{blocks} cannot show whether the {name} over IPv4 and IPv6 differs{at}."
    if not found.differs:
        spread = f"{_signed(low - 1)} … {_signed(high - 1)}"
        return (
            f"No difference in {name} between IPv4 and IPv6 was shown{at}: "
            f"IPv4 beyond IPv6 by {_signed(gain)} ({spread})."
        )
    first, last = (number(100 * end, 3) for end in sorted((abs(low - 1), abs(high - 1))))
    range_ = "" if first == last else f" ({first} … {last} %)"
    return f"The {name} over IPv4 was {size}{range_} {direction} than over IPv6{at}."


def _published_sentences(data: RunData, summaries: Sequence[Summary]) -> list[str]:
    ratios = [
        _value(summary) / point.value.si
        for summary in summaries
        for point in points_for(summary, data.published)
        if point.value.statistic == "mean" and point.value.si > 0
    ]
    if not ratios:
        return []
    name = quantity(data.study, summaries[0].metric).name
    if len(ratios) == 1:
        return [
            f"The study published one mean {name} at these conditions; ours is {_times(ratios)} it."
        ]
    return [
        f"The study published {len(ratios)} means of {name} at these conditions; ours are "
        f"{_times(ratios)} these."
    ]


def _times(ratios: Sequence[float]) -> str:
    ends = sorted({min(ratios), max(ratios)})
    if ends[-1] < 0.1:
        return " to ".join(number(100 * end, 2) for end in ends) + " % of"
    return " to ".join(number(end, 3) for end in ends) + " times"


def _signed(ratio: float) -> str:
    return f"{'+' if ratio > 0 else ''}{number(100 * ratio, 2)} %"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _mean(study: Study, shown: Quantity, summary: Summary) -> str:
    ends = shown.interval(summary.ci_low, summary.ci_high)
    text = with_interval(shown.shown(_value(summary)), ends, is_simulated=study.is_simulated)
    return f"{text} {shown.unit}".removesuffix(f" {_A_SECOND}").strip()


def _share(summary: Summary) -> str:
    if not summary.limit:
        return ""
    return f", {percent(_value(summary) / summary.limit)} of what this Ethernet can carry"


def _level(study: Study, summary: Summary, factor: str) -> str:
    return condition_text(study, {factor: summary.parameters[factor]})


@dataclass(frozen=True)
class Contrast:
    ratio: float
    #: 95 % interval of the ratio; `None` for a single block.
    interval: tuple[float, float] | None
    blocks: int

    @property
    def differs(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 1 <= self.interval[1]


def contrast(
    numerator: Summary, denominator: Summary, trials: Sequence[TrialRecord]
) -> Contrast | None:
    """The ratio of two conditions of an experiment, from the blocks that have both.

    Student's t on the logarithms of the ratios, one per block.

    Returns:
        `None` if no block has both, or a value is not above zero.
    """
    above, below = (_by_block(summary, trials) for summary in (numerator, denominator))
    pairs = [(above[block], below[block]) for block in above if block in below]
    if not pairs or any(a <= 0 or b <= 0 for a, b in pairs):
        return None
    logs = [math.log(a / b) for a, b in pairs]
    ratio = math.exp(math.fsum(logs) / len(logs))
    if len(pairs) == 1:
        return Contrast(ratio, None, 1)
    from lanlab.analysis.statistics.two_groups import paired_by_block

    try:
        found = paired_by_block(above, below)
    except NoSpread:
        # Equal ratios in every block give an interval of zero width.
        return Contrast(ratio, (ratio, ratio), len(pairs))
    return Contrast(ratio, (found.low, found.high), len(pairs))


def _by_block(summary: Summary, trials: Sequence[TrialRecord]) -> dict[int, float]:
    return {
        trial.block: float(trial.metrics[summary.metric])
        for trial in counting(trials)
        if trial.experiment == summary.experiment
        and trial.purpose == "trial"
        and trial.factors == summary.factors
        and summary.metric in trial.metrics
    }
