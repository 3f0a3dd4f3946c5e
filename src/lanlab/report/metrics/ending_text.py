"""Why conditions ended, in words: after a fixed number of trials, or with a goal met or missed."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.endings import Ending, endings
from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import percent
from lanlab.figures.wording import condition_text
from lanlab.plan.stopping import DECIDING_TRIALS
from lanlab.studies import ExperimentAtScale, Study

HOW_ENDED = {
    "fixed": "fixed number of trials",
    "reached": "goal reached",
    "short": "goal not reached with the planned trials",
    "most": "goal not reached with the most trials allowed",
    "given_up": "given up",
    "unfinished": "not finished",
}
#: Limit of conditions in a sentence; the table has all.
_MOST_NAMED = 6


def ending_sentences(data: RunData) -> list[str]:
    """For each experiment with a goal, the conditions that reached it and those that did not."""
    ended = endings(data.run, data.trials)
    said = []
    for scaled in data.experiments:
        own = [one for one in ended if one.experiment == scaled.experiment.id]
        if own and own[0].goal_ratio is not None and any(one.trials for one in own):
            said.append(_sentence(data.study, scaled, own, own[0].goal_ratio))
    return said


def _sentence(
    study: Study, scaled: ExperimentAtScale, ended: Sequence[Ending], goal_ratio: float
) -> str:
    of = {how: [one for one in ended if one.how == how] for how in HOW_ENDED}
    reached = of["reached"]
    text = (
        f"{scaled.experiment.title}: the goal, half a 95 % interval within {percent(goal_ratio)} "
        f"of the mean, was reached by {len(reached)} of {len(ended)} conditions"
    )
    if reached:
        counts = sorted({one.trials for one in reached})
        text += f", with {' to '.join(map(str, sorted({counts[0], counts[-1]})))} trials"
    if of["most"]:
        text += f"; not with the most trials allowed ({scaled.trials.max}) in"
        text += f" {_named(study, of['most'])}"
    if of["short"]:
        text += f"; not with the number planned from the first {DECIDING_TRIALS} trials in"
        text += f" {_named(study, of['short'])}"
    if of["given_up"]:
        text += f"; given up: {_named(study, of['given_up'])}"
    if of["unfinished"]:
        text += f"; {len(of['unfinished'])} not finished"
    return f"{text}."


def _named(study: Study, ended: Sequence[Ending]) -> str:
    named = [_name(study, one) for one in ended[:_MOST_NAMED]]
    more = f" and {len(ended) - _MOST_NAMED} more" if len(ended) > _MOST_NAMED else ""
    return ", ".join(named) + more


def _name(study: Study, ended: Ending) -> str:
    where = condition_text(study, dict(ended.factors)) or "the only condition"
    ratio = ended.half_width_ratio
    width = "no interval" if ratio is None else percent(ratio)
    return f"{where} ({width}, {ended.trials} trial{'' if ended.trials == 1 else 's'})"
