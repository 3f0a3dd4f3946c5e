"""The round trips of an echo over the time of its trials."""

from __future__ import annotations

from typing import Any

from lanlab.analysis.attempts import counting
from lanlab.analysis.over_time import MOST_TRIALS
from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, far_apart
from lanlab.figures.wording import quantity
from lanlab.store import TrialRecord

_SAID = (
    "Mean of the replies that came in each step of time; what is counted begins after the warm-up. "
    "The first trial of each condition."
)


def round_trips_over_time(data: FigureData) -> Chart:
    """A line for the first trial of each condition, up to four. Trials without steps, such as by
    other programs, are not drawn.
    """
    shown = quantity(data.study, "rtt_mean_ns")
    drawn: dict[str, TrialRecord] = {}
    for trial in counting(data.trials):
        if trial.experiment in data.figure.experiments and steps_of_round_trips(trial):
            drawn.setdefault(data.named(trial.factors), trial)
    series = tuple(
        Series(
            name,
            tuple(
                Point(at_s, shown.shown(mean_ns), condition=f"{name}, {replies} replies")
                for at_s, mean_ns, replies in steps_of_round_trips(trial)
            ),
        )
        for name, trial in list(drawn.items())[:MOST_TRIALS]
    )
    ys = [point.y for one in series for point in one.points]
    warmups = {float(trial.parameters.get("warmup_s", 0.0)) for trial in drawn.values()}
    limits = []
    if len(warmups) == 1 and (warmup_s := warmups.pop()) > 0:
        ends = ((warmup_s, min(ys)), (warmup_s, max(ys)))
        limits.append(Limit("end of the warm-up", ends, kind="guide"))
    return data.chart(
        Axis("time since the start", "s"),
        Axis("round-trip time", shown.unit, far_apart(ys)),
        series,
        _SAID,
        drawn="Steps of one trial are not independent of each other.",
        limits=tuple(limits),
        empty="the steps of its time are not in the store",
    )


def steps_of_round_trips(trial: TrialRecord) -> list[tuple[float, float, int]]:
    """Middle (s), mean round trip (ns) and number of replies of each non-empty step."""
    requester = trial.raw.get("requester")
    over_time: Any = requester.get("over_time") if isinstance(requester, dict) else None
    if not isinstance(over_time, dict) or not over_time.get("replies"):
        return []
    width_s = over_time["interval_ns"] / 1e9
    steps = enumerate(zip(over_time["mean_ns"], over_time["replies"], strict=True))
    return [
        ((place + 0.5) * width_s, float(mean_ns), int(replies))
        for place, (mean_ns, replies) in steps
        if replies
    ]
