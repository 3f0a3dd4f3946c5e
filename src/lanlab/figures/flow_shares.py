"""The share of each of several flows on a shared link."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData, axis, mean_point
from lanlab.figures.number_text import with_interval
from lanlab.figures.wording import Quantity, quantity
from lanlab.plan import expand
from lanlab.store import TrialRecord
from lanlab.workloads.stream_results import flow_goodputs_bps

_CONTROLS = {"cubic": "CUBIC", "reno": "Reno", "bbr": "BBR", "dctcp": "DCTCP", "vegas": "Vegas"}


def flow_shares(data: FigureData) -> Chart:
    """
    Goodput of each flow, a bar for each, coloured by its congestion control.

    It shows the condition with the most flows, or the first of several such. For few flows a table
    is enough.
    """
    condition = max(
        (c for c in expand(data.study, data.run.scale) if c.experiment in data.figure.experiments),
        key=lambda c: int(c.parameters.get("flows", 1)),
        default=None,
    )
    if condition is None:
        # A search has no conditions, so there are no flows to show.
        return Chart(data.figure.title, Axis("flow", ""), axis(data.study, "goodput_bps"), ())
    own = [
        trial
        for trial in data.counting
        if (trial.experiment, trial.purpose) == (condition.experiment, "trial")
        and trial.factors == dict(condition.factors)
    ]
    y = quantity(data.study, "goodput_bps")
    flows = int(condition.parameters.get("flows", 1))
    measured = [flow_goodputs_bps(trial.result("receiver").get("flows", ())) for trial in own]
    by_flow = [
        [goodputs[flow] for goodputs in measured if flow < len(goodputs)] for flow in range(flows)
    ]
    controls = str(condition.parameters.get("congestion_control", "")).split(",")
    said = data.named(condition.factors)
    return data.chart(
        Axis("flow", "", categories=tuple(str(flow + 1) for flow in range(flows))),
        axis(data.study, "goodput_bps"),
        # A stack, because each position has the bar of only one series.
        [
            Series(
                _CONTROLS.get(control, control) or "measured",
                tuple(
                    _point(flow, values, y, f"{said}, flow {flow + 1}")
                    for flow, values in enumerate(by_flow)
                    if values and controls[flow % len(controls)] == control
                ),
                "stack",
            )
            for control in dict.fromkeys(controls[:flows])
        ],
        f"{said[0].upper()}{said[1:]}{_fairness(own)}.",
        drawn="Means of the trials.",
    )


def _point(flow: int, values: Sequence[float], y: Quantity, condition: str) -> Point:
    mean, ends = math.fsum(values) / len(values), interval_of_mean("goodput_bps", values)
    return mean_point(float(flow), y, mean, ends, values, condition)


def _fairness(trials: Sequence[TrialRecord]) -> str:
    indices = [trial.metrics["jain_index"] for trial in trials if "jain_index" in trial.metrics]
    if not indices:
        return ""
    mean = math.fsum(indices) / len(indices)
    return f": Jain's index {with_interval(mean, interval_of_mean('jain_index', indices))}"
