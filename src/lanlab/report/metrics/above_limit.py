"""Explanations of a mean above the limit of the link."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import Summary
from lanlab.analysis.wires import wire_of
from lanlab.figures.number_text import number, percent, with_interval
from lanlab.figures.wording import condition_text, quantity
from lanlab.store import RunRecord
from lanlab.studies import Study

ABOVE = "\N{DOUBLE DAGGER}"
#: Smaller shares are printed as 100 %, so they are not remarked on.
_BEYOND = 1.0005
_MOST_NAMED = 3


def is_above(summary: Summary) -> bool:
    """Whether a mean, rounded as shares are printed, exceeds the capacity of the link."""
    return bool(summary.limit and summary.mean and summary.mean >= _BEYOND * summary.limit)


def above_limit_remark(data: RunData, summaries: Sequence[Summary]) -> str | None:
    """
    A sentence on means above the limit: whether chance alone can explain them, and other causes;
    `None` if no mean is above it.

    Args:
        summaries: Summaries of one metric of one experiment.
    """
    found = [summary for summary in summaries if is_above(summary)]
    if not found:
        return None
    found.sort(key=lambda summary: (summary.mean or 0) / (summary.limit or 1), reverse=True)
    named = [_one(data.study, summary) for summary in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    others = f"; and {more} more {'mean' if more == 1 else 'means'}" if more > 0 else ""
    name = quantity(data.study, found[0].metric).name
    link = wire_of(data.run)
    limit = "the link's limit" if link is None else link.share_name
    return f"Mean {name} above {limit} {ABOVE}: {'; '.join(named)}{others}. {_why(data.run)}"


def _one(study: Study, summary: Summary) -> str:
    assert summary.mean and summary.limit
    shown = quantity(study, summary.metric)
    where = condition_text(study, summary.factors)
    text = f"{percent(summary.mean / summary.limit)} of it{f' at {where}' if where else ''}"
    if summary.ci_low is None or summary.ci_high is None:
        return f"{text} (one trial, so no interval)"
    ends = shown.interval(summary.ci_low, summary.ci_high)
    mean = with_interval(shown.shown(summary.mean), ends, is_simulated=study.is_simulated)
    mean = f"{mean} {shown.unit}".rstrip()
    lies = "includes" if summary.ci_low <= summary.limit else "excludes"
    limit = f"{number(shown.shown(summary.limit))} {shown.unit}".rstrip()
    return f"{text} ({mean}; the interval {lies} the limit of {limit})"


def _why(run: RunRecord) -> str:
    queued = "messages queued during the warm-up arrive within the measured time"
    link = wire_of(run)
    if link is not None and link.has_token_bucket:
        text = (
            "No link exceeds its limit for long: the token bucket of this testbed passes its saved "
            f"tokens at once, and {queued}."
        )
    else:
        text = f"No link exceeds its limit for long: {queued}, or the clocks differ a little."
    return f"{text} Longer trials reduce both effects."
