# The types of messages are part of records, so that one import gives both.
# ruff: noqa: F403, F405
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from lanlab.messages import *

Level = bool | int | float | str

class World(Simulated, total=False):
    """A simulated trial, with the lines of data before its result."""

    lines: dict[str, list[Line]]

class SeriesPart(TypedDict, total=False):
    """A part that the store keeps as a series, with the rows that a figure draws."""

    series: str
    interval_ns: int
    by_size: list[list[int]]

class StationTable(TypedDict, total=False):
    """A list for each column, with an entry for each station."""

    readings: list[int]
    response_mean_ns: list[int | None]
    response_sd_ns: list[int | None]
    response_min_ns: list[int | None]
    response_max_ns: list[int | None]
    retries: list[int]
    errors: dict[str, list[int]]

class SteadyPart(TypedDict, total=False):
    found: bool
    start_ns: int
    end_ns: int
    active_start_ns: int
    active_end_ns: int
    first_start_ns: int
    last_end_ns: int
    reason: str

class StationSteps(TypedDict):
    at_ns: list[int]
    operations_per_s: list[float]
    response_mean_ns: list[float | None]

class StationRecord(TypedDict, total=False):
    steady: SteadyPart
    over_time: StationSteps
    table: StationTable

class RoleResult(Result, total=False):
    """The result of a role, with what lanlab adds to the engine's."""

    cpu_s: float | None
    cpu_unknown: str
    file_times: SeriesPart
    #: Of a role of several hosts, the result of each.
    hosts: list[RoleResult]
    name: str
    readings_count: int
    server: str
    station_sums: StationRecord
    sender_has_retransmits: int | None
    streams: list[PeerReportFlow]
    summed: dict[str, float | int]
    tcp_samples: SeriesPart
    version: str
    #: Of another program: what it printed.
    output: str

class ClockRecord(TypedDict, total=False):
    same_kernel: bool
    shared_clock: bool
    #: What the engine received.
    relation: ClockRelation
    #: Error of converting a time between the clocks, with the drift; 0 for a common clock.
    bound_ns: int
    #: Each part's reading, and the difference between the last and the first.
    before: dict[str, ClockRelation]
    after: dict[str, ClockRelation]
    #: Change of the difference.
    drift_ns: int

class DroppedCaches(CachesDropped, total=False):
    elapsed_s: float

class Left(TypedDict, total=False):
    working_name: str
    left: LeftBehind | None
    error: str

class Setup(TypedDict, total=False):
    """The requests and details of the start: needed to repeat the trial."""

    asked: dict[str, object]
    caches: dict[str, DroppedCaches]
    capabilities: dict[str, Capabilities]
    checked: CopyChecked
    clocks: ClockRecord
    dataset: DatasetMade
    driver: str
    emptied: Result
    hosts: dict[str, str]
    left_before: list[Left]
    machines: dict[str, str]
    medium: MediumSeen | None
    memory: dict[str, object]
    not_emptied: str
    prepared: Result
    requests: dict[str, Request]
    setup_round_trip_ns: int | None
    start: dict[str, object]
    start_attempts: int
    version: str
    world: SimulatedFacts

class MediumSeen(TypedDict, total=False):
    sent: dict[str, SimulatedSent]
    lateness: MediumLateness

class HostSeen(HostFacts, total=False):
    name: str
    unknown: str

class Moment(TypedDict, total=False):
    """What was read before or after a trial, by host and by interface."""

    hosts: dict[str, HostSeen]
    counters: dict[str, dict[str, int]]
    medium: MediumCounts
    damage: str

class TrialFacts(TypedDict, total=False):
    before: Moment
    after: Moment
    testbed: dict[str, object]

class InterfaceSeen(InterfaceFacts, total=False):
    name: str

class PathSeen(TypedDict, total=False):
    #: Of the first end, up to which it sends without fragments; and the smaller of both.
    sender_mtu_bytes: int
    interface_mtu_bytes: int
    #: `None` if nothing came back.
    there: PacketBounds | None
    back: PacketBounds | None
    was_told: bool
    error: str

class LinkRecord(TypedDict, total=False):
    shape: str
    topology: str
    delay_ns: int
    propagation_ns: int
    loss_ratio: float

class Reached(TypedDict, total=False):
    label: str
    kernel: str
    architecture: str
    engine: dict[str, object]

class TestbedFacts(TypedDict, total=False):
    hosts: dict[str, HostSeen]
    interfaces: dict[str, InterfaceSeen]
    paths: dict[str, PathSeen]
    reached: dict[str, Reached]

class TestbedRecord(TypedDict, total=False):
    name: str
    link: str
    link_rate_bps: int | None
    link_facts: LinkRecord
    facts: TestbedFacts

class ExperimentData(TypedDict, total=False):
    id: str
    workload: str
    title: str
    metrics: list[str]
    parameters: dict[str, Level]
    factors: Mapping[str, Sequence[Level]]
    search: dict[str, object]
    on: list[str]

class StudyRecord(TypedDict, total=False):
    """A study file as validated, by the keys that lists and reports read."""

    id: str
    title: str
    experiment: list[ExperimentData]
    finding: list[dict[str, object]]
    simulation: dict[str, object] | None

class SideRecord(TypedDict):
    name: str
    study: dict[str, object]
    scale: str
    testbed: str
    link: str | None
    command: str | None
    engine: dict[str, str] | None

class SeriesPlan(TypedDict):
    id: str
    seed: int
    turns: int
    sides: list[SideRecord]

class Alternation(SeriesPlan):
    turn: int
    side: int

class CommandRecord(TypedDict, total=False):
    when: str
    command: str
    #: Negative: minus the signal that ended it.
    exit_code: int
    elapsed_s: float
    is_overdue: bool
    #: Including standard error; of a long text the beginning and the end.
    output: str
    #: Of the whole output.
    output_bytes: int
    #: Which of its children may still run, in words.
    left: str

class FindingRecord(TypedDict):
    code: str
    end: str
    found: float | str
    allowed: float | str
    repeat_helps: bool
    host: NotRequired[str | None]

class Pollution(TypedDict):
    findings: list[FindingRecord]
    unknown: list[str]

class ErrorRecord(TypedDict, total=False):
    #: The engine's own, or the name of the error.
    code: str
    message: str
    hint: str | None
    #: Where it failed, and the role of that host; `None` if unknown.
    host: str | None
    end: str | None
    retry_helps: bool

class LiveInterval(TypedDict, total=False):
    """The results between two reports of an engine; `reverse`: of a second direction."""

    start_s: float
    end_s: float
    bytes: int
    messages: int
    rate_bps: float
    expected_messages: int
    lost_messages: int
    delay_variation_ns: int
    retransmitted_segments: int
    congestion_window_bytes: int
    round_trip_ns: int
    is_warmup: bool
    reverse: LiveInterval

class LabelRecord(TypedDict, total=False):
    name: str
    note: str
    tags: list[str]

class Summary(TypedDict):
    trials: int
    failed_trials: int
    missing_trials: int
    result: str
    by: str

def result_of(raw: Mapping[str, object], role: str) -> RoleResult: ...
def setup_of(raw: Mapping[str, object]) -> Setup: ...
def facts_of(raw: Mapping[str, object]) -> TrialFacts: ...
def pollution_of(raw: Mapping[str, object]) -> Pollution | None: ...
