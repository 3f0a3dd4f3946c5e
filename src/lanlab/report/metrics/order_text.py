"""Remarks on means: the order of trials, how conditions ended, and means above the link's limit."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.disturbances.slow_first import SlowFirst, slow_first
from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.trials.endings import Ending
from lanlab.analysis.trials.order import LEAST_TRIALS, hanging_together
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.number_text import counted, is_too_wide, listed, number, percent
from lanlab.figures.wording import condition_text, quantity
from lanlab.plan.stopping import DECIDING_TRIALS
from lanlab.store import RunRecord
from lanlab.studies.model import Study
from lanlab.studies.scaling import ExperimentAtScale


def order_sentences(data: RunData) -> list[str]:
    """The conditions with a slow first trial, a drift, or correlated trials."""
    summaries = [
        summary
        for scaled in data.experiments
        if scaled.search is None
        for summary in data.summaries(scaled.experiment.id, scaled.experiment.metrics[0])
    ]
    return [*_slow_firsts(summaries, data.study), *_neighbours(summaries, data)]


def first_trial_text(found: SlowFirst, of: int) -> str:
    return (
        f"{number(found.ratio, 2)} times slower than the median of the other {of - 1}, as with a "
        "cold cache or a disk that spins up. It is in the mean and its interval. Run it again at "
        "once, or bring both ends into the same state before each trial by --prepare"
    )


def _slow_firsts(summaries: Sequence[Summary], study: Study) -> list[str]:
    both = [(one, slow_first(one.metric, one.values)) for one in summaries]
    found = [(one, slow) for one, slow in both if slow is not None]
    if not found:
        return []
    summary, slow = max(found, key=lambda one: one[1].ratio)
    where = condition_text(study, summary.factors)
    most = f"The first trial{f' of {where}' if where else ''} was "
    others = f" So it was in {len(found)} conditions." if len(found) > 1 else ""
    return [f"{most}{first_trial_text(slow, summary.n)}.{others}"]


def _neighbours(summaries: Sequence[Summary], data: RunData) -> list[str]:
    found = hanging_together(summaries)
    if not found:
        return []
    count = sum(summary.n >= LEAST_TRIALS for summary in summaries)
    first = found[0]
    named = condition_text(data.study, first.summary.factors)
    named = named or data.study.titles[first.summary.experiment]
    most = "in" if len(found) == 1 else "most in"
    return [
        f"Trials drift or are autocorrelated in {len(found)} of {counted(count, 'condition')} with "
        f"{LEAST_TRIALS} trials or more, {most} {named} "
        f"(correlation {number(first.correlation, 2)}): each trial resembles the one before, "
        "so the 95 % interval is widened. Run it again several times and compare runs."
    ]


HOW_ENDED = {
    "fixed": "fixed number of trials",
    "reached": "goal reached",
    "short": "goal not reached with the planned trials",
    "most": "goal not reached with the most trials allowed",
    "given_up": "given up",
    "unfinished": "not finished",
}
#: Limit of conditions in a sentence; the table has all.
_MOST_ENDED = 6


def ending_sentences(data: RunData) -> list[str]:
    """For each experiment with a goal, the conditions that reached it and those that did not."""
    ended = data.endings
    said = []
    for scaled in data.experiments:
        own = [one for one in ended if one.experiment == scaled.experiment.id]
        if own and own[0].goal_ratio is not None and any(one.trials for one in own):
            said.append(_goal_sentence(data.study, scaled, own, own[0].goal_ratio))
    return said


def _goal_sentence(
    study: Study, scaled: ExperimentAtScale, ended: Sequence[Ending], goal_ratio: float
) -> str:
    of = {how: [one for one in ended if one.how == how] for how in HOW_ENDED}
    reached = of["reached"]
    text = (
        f"{scaled.experiment.title}: {len(reached)} of {len(ended)} means are known within "
        f"{percent(goal_ratio)} (95 %)"
    )
    if reached:
        counts = sorted({one.trials for one in reached})
        text += f", after {' to '.join(map(str, sorted({counts[0], counts[-1]})))} trials"
    for how, words in (
        ("most", f"not after the most trials allowed ({scaled.trials.max}):"),
        ("short", f"not after the number planned from the first {DECIDING_TRIALS} trials:"),
        ("given_up", "given up:"),
    ):
        named = [_ended_name(study, one) for one in of[how]]
        text += f"; {words} {listed(named, _MOST_ENDED)}" if named else ""
    if of["unfinished"]:
        text += f"; {len(of['unfinished'])} not finished"
    return f"{text}."


def _ended_name(study: Study, ended: Ending) -> str:
    where = condition_text(study, dict(ended.factors)) or "the only condition"
    ratio = ended.half_width_ratio
    width = "no interval" if ratio is None else percent(ratio)
    return f"{where} ({width}, {counted(ended.trials, 'trial')})"


ABOVE = "\N{DOUBLE DAGGER}"
#: Smaller shares are printed as 100 %, so they are not remarked on.
_BEYOND = 1.0005
_MOST_NAMED = 3


def is_above(summary: Summary) -> bool:
    """Whether a mean, rounded as shares are printed, exceeds the capacity of the link."""
    return bool(summary.limit and summary.mean and summary.mean >= _BEYOND * summary.limit)


def above_limit_remark(data: RunData, summaries: Sequence[Summary]) -> str | None:
    """A sentence on means above the limit: whether chance alone can explain them, and other causes;
    `None` if no mean is above it.
    """
    found = [summary for summary in summaries if is_above(summary)]
    if not found:
        return None
    found.sort(key=lambda summary: (summary.mean or 0) / (summary.limit or 1), reverse=True)
    named = [_above(data.study, summary) for summary in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    others = f"; and {more} more {'mean' if more == 1 else 'means'}" if more > 0 else ""
    name = quantity(data.study, found[0].metric).name
    link = wire_of(data.run)
    limit = "the link's limit" if link is None else link.share_name
    mean = "Simulated" if data.study.is_simulated else "Mean"
    said = f"{mean} {name} above {limit} {ABOVE}: {'; '.join(named)}{others}"
    return f"{said}. {_why_above(data.run)}"


def _above(study: Study, summary: Summary) -> str:
    assert summary.mean and summary.limit
    shown = quantity(study, summary.metric)
    where = condition_text(study, summary.factors)
    text = f"{percent(summary.mean / summary.limit)} of it{f' at {where}' if where else ''}"
    limit = f"the limit of {number(shown.shown(summary.limit))} {shown.unit}".rstrip()
    if study.is_simulated:
        return f"{text} ({number(shown.shown(summary.mean))} against {limit})"
    if summary.ci_low is None or summary.ci_high is None:
        return f"{text} ({counted(summary.n, 'trial')}, so no interval)"
    if is_too_wide(summary.mean, (summary.ci_low, summary.ci_high)):
        return f"{text} ({counted(summary.n, 'trial')}, too few for an interval)"
    mean = shown.mean_text(summary, study, shown.unit)
    lies = "includes" if summary.ci_low <= summary.limit else "excludes"
    return f"{text} ({mean}; the interval {lies} {limit})"


def _why_above(run: RunRecord) -> str:
    queued = "messages queued during the warm-up arrive within the counted time"
    link = wire_of(run)
    if run.is_simulated:
        return f"No link exceeds its limit for long: {queued}. Longer trials reduce this."
    if link is not None and link.has_token_bucket:
        text = (
            "No link exceeds its limit for long: the token bucket of this testbed passes its saved "
            f"tokens at once, and {queued}."
        )
    else:
        text = f"No link exceeds its limit for long: {queued}, or the clocks differ a little."
    return f"{text} Longer trials reduce both effects."
