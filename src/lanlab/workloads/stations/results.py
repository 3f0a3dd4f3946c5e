"""The results of a trial of stations, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lanlab.errors import RunError
from lanlab.trial_data import RoleResult
from lanlab.workloads.carrier_counts import carrier_metrics
from lanlab.workloads.metrics import time_metrics
from lanlab.workloads.outcome import TrialOutcome
from lanlab.workloads.processor_time import cpu_metrics, interrupt_metrics

if TYPE_CHECKING:
    from lanlab.workloads.stations.parameters import StationsParameters
    from lanlab.workloads.stations.slices import Slices
    from lanlab.workloads.stations.steady import Columns


def summed(
    parameters: StationsParameters, result: RoleResult, slices: Slices | None = None
) -> None:
    """
    Sum the readings of a trial, also of a failed one, into its stations' results.

    Args:
        result: The stations' results, with `readings`, columns in the form of
            `lanlab.workloads.stations.readings`.
        slices: If readings were thinned, the sums of all operations without a failed attempt.
    """
    from lanlab.workloads.stations.steady import steady_part
    from lanlab.workloads.stations.sums import station_sums

    readings = cast("Columns", result["readings"])
    steady = steady_part(readings, parameters.stations, parameters.warm_up_readings)
    if slices is not None:
        from lanlab.workloads.stations.thinned import thinned_sums

        thin = thinned_sums(readings, steady, slices, parameters, result)
        result["station_sums"], result["summed"] = thin.record, thin.metrics
        return
    found = station_sums(
        readings,
        steady,
        result["outcomes"],
        stations=parameters.stations,
        think_time_s=parameters.think_time_s,
        loop=parameters.loop,
    )
    result["station_sums"] = found.record
    result["summed"] = found.metrics


def stations_metrics(outcome: TrialOutcome) -> dict[str, float | int]:
    """
    A trial's results.

    Args:
        outcome: The client's result is the output of `summed`.

    Raises:
        RunError: A station read wrong data. The trial fails, like a copy with a wrong byte: no
            figure of such a server can be trusted.
    """
    result = outcome.results["client"]
    metrics: dict[str, float | int] = {
        # In an open loop, the delay with which stations began the operations that were due.
        "start_skew_ns": result["start_skew_ns"],
        **result["summed"],
        "reconnects": result["reconnects"],
        "ended_stations": result["ended_stations"],
        "unstarted_operations": result["unstarted"],
        "setup_errors": sum(result["setup"]["errors"].values()),
        "elapsed_s": result["elapsed_ns"] / 1e9,
    }
    # A confirmed block that is missing is data corruption whenever it is noticed.
    metrics["wrong_data"] += result["checked"]["read_back_wrong"]
    if wrong := int(metrics["wrong_data"]):
        blocks = "1 block" if wrong == 1 else f"{wrong:,} blocks"
        raise RunError(
            f"data corruption in {blocks}",
            hint="the data was corrupted in transit or storage; discard these results",
        )
    connect, lateness = result["setup"]["connect"], result["own_lateness"]
    metrics |= time_metrics("connect", connect, ("p50", "max"), "s")
    metrics |= time_metrics("own_lateness", lateness, ("p99",))
    if result["busiest_thread_ratio"] is not None:
        metrics["busiest_thread_ratio"] = result["busiest_thread_ratio"]
    metrics |= carrier_metrics(result.get("carrier"))
    metrics |= cpu_metrics("client", result["cpu"], outcome.capabilities("client"))
    return metrics | interrupt_metrics(outcome, ("client",))
