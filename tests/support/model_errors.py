"""Published values that a model missed, so that its error is known."""

import math

from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.analysis.simulation.model_error import LEAST_HELD_OUT, half_width_log
from lanlab.studies.load import load_study


def erring(half_log: float, metric: str = "goodput_bps") -> list[Accuracy]:
    """As few held-out values of a metric as give this `model_error_log`."""
    value = load_study("schomer-claason").published.value[0]
    error = half_log / half_width_log([1.0] * LEAST_HELD_OUT)
    return [
        Accuracy(
            value.model_copy(update={"id": f"{metric}.{place}", "metric": metric}),
            "held out",
            math.exp(error),
            1.0,
            "",
            (),
        )
        for place in range(LEAST_HELD_OUT)
    ]
