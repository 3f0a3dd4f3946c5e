"""
`stations`: many clients of a file service that read or write blocks, and the service they get.
"""

from __future__ import annotations

from typing import cast

from lanlab.roles import ROLES
from lanlab.trial_data import RoleResult, SimulatedWork, World
from lanlab.workloads.metrics import STATIONS
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.registry import Habits, Workload
from lanlab.workloads.services.simulated import simulated_server_cpu_s
from lanlab.workloads.stations.parameters import StationsParameters
from lanlab.workloads.stations.results import stations_metrics
from lanlab.workloads.stations.steps import StationsSteps, simulated_spec, with_readings
from lanlab.workloads.steps import Steps

#: Assumed operations per second of a station, for estimates of duration.
_EXPECTED_PER_S = 4000.0


class Stations(Workload[StationsParameters]):
    name = "stations"
    roles = ROLES[name]
    Parameters = StationsParameters
    metrics = STATIONS
    scan_metrics = ("operations_per_s", "response_mean_ns", "response_p99_ns")
    counted = "operations"
    has_short_series = False
    has_one_count = True

    def expected_time_s(self, parameters: StationsParameters) -> float:
        """Estimated duration of a trial, seconds."""
        # Files are written, and all stations connect.
        setup_s = 0.05 + 0.002 * parameters.stations
        if parameters.readings_each is None:
            return setup_s + (parameters.time_s or 1.0)
        if parameters.rate_operations_per_s is not None:
            operations = parameters.readings_each * parameters.stations
            working_s = operations / parameters.rate_operations_per_s
        else:
            each_s = 1 / _EXPECTED_PER_S + parameters.think_time_s
            working_s = parameters.readings_each * each_s
        return setup_s + min(working_s, parameters.time_s or working_s)

    def carried_bits(self, parameters: StationsParameters) -> float:
        """Bits over the link if a number of readings ends a trial, including the files created
        before; none with a user's own server.
        """
        if not parameters.uses_link:
            return 0.0
        readings = (parameters.readings_each or 0) * parameters.stations
        return 8.0 * (readings * parameters.message_size_bytes + parameters.written_bytes)

    def steps(self, parameters: StationsParameters) -> Steps:
        return StationsSteps(parameters)

    def simulated_work(self, parameters: StationsParameters, habits: Habits) -> SimulatedWork:
        return {"spec": simulated_spec(parameters, habits)}

    def simulated_results(
        self, parameters: StationsParameters, result: World
    ) -> dict[str, RoleResult]:
        client = with_readings(
            parameters, cast("RoleResult", {**result["outcomes"][0]}), [result["lines"]]
        )
        return {"client": client, "server": {"cpu_s": simulated_server_cpu_s(result)}}

    def summarise(
        self, parameters: StationsParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        return stations_metrics(outcome)
