"""`metadata`: names created, looked up, listed, opened, renamed and removed at a file service."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from pydantic import model_validator

from lanlab.messages import Request, Spec
from lanlab.roles import ROLES
from lanlab.workloads.carrier_counts import carrier_metrics
from lanlab.workloads.copy.results import explained_time
from lanlab.workloads.definitions import parameter
from lanlab.workloads.metrics import METADATA, OPERATIONS, time_metrics
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.parameters import YEAR_S, Seconds, nanoseconds
from lanlab.workloads.processor_time import cpu_metrics, interrupt_metrics
from lanlab.workloads.registry import Workload
from lanlab.workloads.services.parameters import ServiceParameters, set_parts, working_name
from lanlab.workloads.steps import TOO_LONG_HINT, Part, Stage, Steps

_MOST_FILES = 1_000_000
_MOST_DIRECTORIES = 10_000
#: Time limit for connecting and preparing.
_SETUP_S = 120.0
#: A server that does fewer operations a second is given up, unless the user allows more time.
_SLOWEST_PER_S = 5.0
#: An engine that exceeds a step's limit by this time is given up.
_BEYOND_S = 60.0
#: Calls on each name, including the comparisons between the operations.
_CALLS = 10
#: Assumed operations per second, and bits per operation, if a trial's time must be estimated in
#: advance.
_EXPECTED_PER_S = 3_000.0
_CALL_BITS = 8 * 400.0


class MetadataParameters(ServiceParameters):
    workload = "metadata"

    client_count: int = parameter(
        1,
        "Clients at once, each with its own connection and tree.",
        option="--clients",
        ge=1,
        le=64,
    )
    files: int = parameter(1000, "Empty files of all clients together.", ge=1, le=_MOST_FILES)
    tree_width: int = parameter(10, "Directories in each directory.", ge=1, le=1_000)
    tree_depth: int = parameter(
        1, "Levels of directories; the lowest level holds files.", ge=0, le=8
    )
    longest_s: Seconds | None = parameter(
        None,
        "Time limit of each step of a trial. Default: 2 min plus the time at 5 operations/s.",
        ge=0.1,
        le=YEAR_S,
    )
    retries: int = parameter(
        0, "Always 0: an operation that fails ends the trial.", option=None, ge=0, le=0
    )

    @model_validator(mode="after")
    def _fits(self) -> MetadataParameters:
        if self.files % self.client_count:
            raise ValueError(
                f"files: found {self.files} for {self.client_count} clients; allowed: a multiple "
                f"of {self.client_count}"
            )
        if self.directories > _MOST_DIRECTORIES:
            tree = f"width {self.tree_width}, depth {self.tree_depth}, {self.client_count} clients"
            raise ValueError(
                f"tree_depth: found {self.directories:,} directories ({tree}); allowed: "
                f"{_MOST_DIRECTORIES:,}"
            )
        return self

    @property
    def directories(self) -> int:
        return self.client_count * sum(
            int(self.tree_width**level) for level in range(self.tree_depth + 1)
        )

    @property
    def calls(self) -> int:
        return _CALLS * (self.files + self.directories)

    @property
    def step_s(self) -> float:
        return self.longest_s or _SETUP_S + self.timeout_s + self.calls / _SLOWEST_PER_S


class MetadataSteps(Steps):
    """The steps of one trial: a marked directory, the operations, and the removal of the rest."""

    too_long_hint = TOO_LONG_HINT

    def __init__(self, parameters: MetadataParameters) -> None:
        self._parameters = parameters
        self.setup_s = _SETUP_S + parameters.timeout_s
        self._spec: Spec
        self._remove: Callable[[BaseException | None], None]

    def open(self, stage: Stage) -> None:
        parameters = self._parameters
        server = stage.serve(parameters, parameters.client_count)
        service = set_parts(server.target)
        self._spec = {
            "service": {**service, "timeout_ns": nanoseconds(parameters.timeout_s)},
            "working_name": working_name(parameters),
            "token": secrets.token_hex(16),
            "clients": parameters.client_count,
            "files": parameters.files // parameters.client_count,
            "width": parameters.tree_width,
            "depth": parameters.tree_depth,
            "longest_ns": nanoseconds(parameters.step_s),
        }
        self._remove = stage.to_remove(parameters, "metadata_empty", self._spec, self.longest_s())

    def prepare(self, stage: Stage) -> None:
        request: Request = {"type": "metadata_prepare", "spec": self._spec}
        stage.setup["prepared"] = stage.ask("client", request, self.longest_s())

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        return [[Part("client", lambda _: {"type": "metadata", "spec": self._spec})]]

    def empty(self, stage: Stage, failed: BaseException | None) -> None:
        self._remove(failed)

    def longest_s(self) -> float:
        return self._parameters.step_s + _BEYOND_S


def metadata_metrics(outcome: TrialOutcome) -> dict[str, float | int]:
    """A trial's results; unsupported operations have none."""
    measured = outcome.results["client"]
    elapsed_s = measured["elapsed_ns"] / 1e9
    metrics: dict[str, float | int] = {"elapsed_s": elapsed_s}
    phases = {phase["operation"]: phase for phase in measured["phases"]}
    both_ns = sum(phases[name]["elapsed_ns"] for name in ("create", "remove"))
    if both_ns > 0:
        metrics["files_created_and_removed_per_s"] = 1e9 * phases["create"]["operations"] / both_ns
    for operation in OPERATIONS:
        if (phase := phases.get(operation)) is None:
            continue
        if phase["elapsed_ns"] > 0:
            metrics[f"{operation}_per_s"] = 1e9 * phase["operations"] / phase["elapsed_ns"]
        if (exchanges := phase.get("exchanges")) is not None:
            metrics[f"{operation}_exchanges"] = exchanges["answered"] / phase["operations"]
        clients = len(measured["connect_ns"])
        explained = explained_time(exchanges, clients, phase["elapsed_ns"] / 1e9)
        metrics |= {f"{operation}_{name}": value for name, value in explained.items()}
        metrics |= time_metrics(f"{operation}_time", phase["time"], ("p50", "p99", "max"), "s")
    metrics |= {
        "verified_names": measured["verified_names"],
        "connect_s": sum(measured["connect_ns"]) / len(measured["connect_ns"]) / 1e9,
        "start_skew_ns": measured["start_skew_ns"],
    }
    metrics |= carrier_metrics(measured.get("carrier"))
    metrics |= cpu_metrics("client", measured["cpu"], outcome.capabilities("client"))
    server = outcome.results.get("server") or {}
    if (cpu_s := server.get("cpu_s")) is not None:
        metrics["server_cpu_s"] = cpu_s
    return metrics | interrupt_metrics(outcome, ("client",))


class Metadata(Workload[MetadataParameters]):
    name = "metadata"
    roles = ROLES[name]
    Parameters = MetadataParameters
    metrics = METADATA
    scan_metrics = (
        "files_created_and_removed_per_s",
        *(f"{operation}_per_s" for operation in ("create", "stat", "list", "open")),
        *(f"{operation}_per_s" for operation in ("rename", "remove")),
    )
    counted = "operations"
    has_short_series = True
    has_one_count = True

    def expected_time_s(self, parameters: MetadataParameters) -> float:
        """About how long a trial takes, seconds."""
        return 0.3 + parameters.calls / _EXPECTED_PER_S

    def carried_bits(self, parameters: MetadataParameters) -> float:
        """Traffic on the link: none with a user's own server."""
        return _CALL_BITS * parameters.calls if parameters.uses_link else 0.0

    def steps(self, parameters: MetadataParameters) -> Steps:
        return MetadataSteps(parameters)

    def summarise(
        self, parameters: MetadataParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        return metadata_metrics(outcome)
