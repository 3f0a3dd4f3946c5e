"""`copy`: files to or from a file service, timed and compared byte by byte."""

from __future__ import annotations

from lanlab.roles import ROLES
from lanlab.trial_data import RoleResult, SimulatedWork, World
from lanlab.workloads.copy import datasets
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.copy.results import copy_metrics
from lanlab.workloads.copy.steps import CopySteps, simulated_spec, with_file_times
from lanlab.workloads.metrics import COPY
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.registry import Habits, Workload
from lanlab.workloads.services.simulated import simulated_server_cpu_s
from lanlab.workloads.steps import Steps

#: Assumed rate of a copy whose duration must be estimated in advance.
_EXPECTED_BPS = 400e6


def _moved_bits(parameters: CopyParameters) -> float:
    if parameters.tree is None:
        octets = datasets.mean_bytes(parameters.dataset)
    else:
        octets = datasets.tree_bytes(parameters.tree)
    is_twice = parameters.direction == "download" or parameters.verify == "content"
    return 8 * octets * (1 + is_twice)


class Copy(Workload[CopyParameters]):
    name = "copy"
    roles = ROLES[name]
    Parameters = CopyParameters
    metrics = COPY
    scan_metrics = ("goodput_bps",)
    counted = ""
    has_short_series = False
    has_one_count = True

    def expected_time_s(self, parameters: CopyParameters) -> float:
        """Estimated duration of a trial if no link limits it, seconds."""
        return 0.5 + _moved_bits(parameters) / _EXPECTED_BPS

    def carried_bits(self, parameters: CopyParameters) -> float:
        """Bits over the link, including verification; none with a user's own server."""
        return _moved_bits(parameters) if parameters.uses_link else 0.0

    def steps(self, parameters: CopyParameters) -> Steps:
        return CopySteps(parameters)

    def simulated_work(self, parameters: CopyParameters, habits: Habits) -> SimulatedWork:
        return {"spec": simulated_spec(parameters)}

    def simulated_results(self, parameters: CopyParameters, result: World) -> dict[str, RoleResult]:
        client = with_file_times(result["outcomes"][0], result["lines"])
        return {"client": client, "server": {"cpu_s": simulated_server_cpu_s(result)}}

    def summarise(
        self, parameters: CopyParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        return copy_metrics(outcome)
