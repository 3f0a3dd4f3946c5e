"""Where a search has ended, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.saturation import Saturation
from lanlab.figures.wording import Quantity, percent, quantity
from lanlab.plan import GoalResult
from lanlab.report.saturation_table import goal_text
from lanlab.store import Level
from lanlab.studies import Study


def saturation_sentence(study: Study, found: Saturation) -> str:
    """
    Up to which load each goal is met.

    Goals that ended between the same bounds are told once: where nothing is lost, no more than
    0.1 % is.
    """
    if not found.goals:
        return (
            f"Where the search of {found.experiment} ended is not known: another version of lanlab "
            f"planned its trials. They are kept."
        )
    shown = quantity(study, found.factor)
    groups: list[list[GoalResult]] = []
    for goal in found.goals:
        alike = groups[-1][0] if groups else None
        if alike and _end(alike) == _end(goal.result):
            groups[-1].append(goal.result)
        else:
            groups.append([goal.result])
    said = "; ".join(_goals(group, shown, found.limit) for group in groups)
    text = f"With {messages_text(found.steps[0].parameters)}, {said}."
    limit = found.sender_limit
    if limit is not None:
        text += f" The sender itself could offer no more than {shown.text(limit)}"
        limited = any(goal.result.kind == "sender_limited" for goal in found.goals)
        text += ": beyond that nothing is known of the network." if limited else "."
    return text


def messages_text(parameters: Mapping[str, Level]) -> str:
    """What was sent, in a few words."""
    transport = str(parameters.get("transport", "")).upper()
    size = parameters.get("message_size_bytes")
    return f"{size}-byte {transport} messages" if size else f"{transport} messages"


def _end(result: GoalResult) -> tuple[object, ...]:
    return result.kind, result.lower, result.upper


def _goals(results: Sequence[GoalResult], shown: Quantity, limit: float | None) -> str:
    """Goals that ended alike, the strictest first."""
    first, last = results[0], results[-1]
    lost = goal_text(first.loss_ratio)
    lost = f"at most {lost}" if first.loss_ratio else lost
    share = ""
    if first.lower is not None and limit:
        share = f" ({percent(first.lower / limit)} of what this Ethernet can carry)"
    if first.kind == "found" and first.lower is not None and last.upper is not None:
        text = f"{lost} was lost up to {shown.text(first.lower)}{share}"
        more = f"more than {goal_text(last.loss_ratio)}" if last.loss_ratio else "something"
        return text if first is last else f"{text}, and {more} at {shown.text(last.upper)}"
    if first.kind == "at_least_high" and first.lower is not None:
        return f"{lost} was lost at every speed tried, up to {shown.text(first.lower)}{share}"
    if first.kind == "sender_limited" and first.lower is not None:
        return f"{lost} was lost up to {shown.text(first.lower)}{share}, sender limited"
    if first.kind == "below_low" and last.upper is not None:
        more = f"more than {goal_text(last.loss_ratio)}" if last.loss_ratio else "something"
        return f"{more} was lost already at {shown.text(last.upper)}, the lowest speed tried"
    return f"no speed could be found up to which {lost} is lost"
