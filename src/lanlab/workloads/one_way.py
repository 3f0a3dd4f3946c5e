"""One-way delays of a trial, with the bound on the difference of its clocks."""

from __future__ import annotations

from lanlab.workloads.metrics import time_metrics
from lanlab.workloads.outcome import TrialOutcome

_ONE_WAY = ("min", "p50", "p99")


def one_way_metrics(outcome: TrialOutcome) -> dict[str, float | int]:
    """The one-way delays that a receiver measured, and `clock_error_ns`, their accuracy. Empty
    without a known relation of the clocks, or if messages carry no send time.
    """
    delay = (outcome.results.get("receiver") or {}).get("one_way_delay")
    if delay is None or delay["samples"] == 0 or "clocks" not in outcome.setup:
        return {}
    found = time_metrics("one_way_delay", delay, _ONE_WAY)
    return found | {"clock_error_ns": outcome.setup["clocks"]["bound_ns"]}
