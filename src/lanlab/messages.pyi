"""Made by `tools/generate_messages.py` from `schema.json`; see `messages.py`."""

from typing import Any, Literal, TypedDict

class Result(TypedDict, total=False):
    accepted: int
    acknowledged: Acknowledged | None
    address: str
    answered_messages: int
    architecture: str
    back: PacketBounds | None
    back_to_back_messages: int
    blocked_ns: int
    blocks: int
    boot_id: str | None
    burst_messages: int
    busiest_thread_ratio: float | None
    busy_ns: int
    bytes: int
    carrier: CarrierCounts | None
    checked: BlockCheck
    clients: int
    clock: ClockFacts | None
    clock_source: str | None
    collisions: int
    congestion_control: str | None
    congestion_controls: list[str]
    connect_ns: list[int]
    copied_bytes: int
    copied_files: int
    cpu: CpuTime
    cpu_ns: int
    cpu_pressure_ratio: float | None
    datagrams: int
    delay_variation: DelayVariation | None
    directory: str
    duplicate_messages: int
    duplicate_replies: int
    elapsed_ns: int
    ended: list[StationEnded]
    ended_by: Any
    ended_stations: int
    engine_cpu_ns: int | None
    errors: dict[str, int]
    exchanges: Exchanges | None
    facts: Facts
    faults: dict[str, int]
    file_time: Distribution
    files: int
    files_digest: str
    first_byte: Distribution
    flows: list[Flow]
    foreign_datagrams: int
    free_bytes: int | None
    gap: Distribution | None
    governor: str | None
    host: HostWindow | None
    icmp_socket: IcmpSocket | None
    interfaces: dict[str, InterfaceFacts]
    intervals: Intervals
    io: Io
    io_choice: Choice | None
    is_gone: bool
    kernel: str | None
    kernel_clock: bool
    kernel_round_trip: Distribution | None
    kind: str
    late_messages: int
    late_replies: int
    lateness: MediumLateness
    left: LeftBehind | None
    left_out: LeftOut
    load_average: float | None
    manner: Manner
    margin_ns: int
    mark_seen: bool
    max_lateness_ns: int
    max_receive_buffer_bytes: int | None
    max_send_buffer_bytes: int | None
    measured_messages: int
    memory_available_bytes: int | None
    memory_bytes: int | None
    monotonic_ns: int
    moved_bytes: int
    nice: int | None
    not_listed: str | None
    not_measured: list[NotMeasured]
    of: DroppedOf
    offered_messages: int
    offered_requests: int
    offloads: dict[str, dict[str, bool]]
    one_way_delay: Distribution | None
    operations: OperationTimes
    outcomes: list[str]
    over_time: RoundTripsOverTime
    overdue_messages: int
    own_lateness: Distribution
    paused_ns: int
    phases: list[MetadataPhase]
    places: list[str]
    ports: list[MediumPortCounts]
    processor: str | None
    processors: int
    processors_online: int | None
    read_bytes: int
    readings: int
    ready_bytes: int
    realtime_ns: int
    reason: str | None
    receive: Receive
    receive_buffer_bytes: int
    receive_calls: int
    receive_choice: Choice | None
    received: StreamReceived | None
    reconnect_errors: dict[str, int]
    reconnects: int
    recorded_frames: int
    refused: int
    refused_messages: int
    refused_requests: int
    refused_retried: int
    removed_files: int
    reordered_messages: int
    replies: int
    report: PeerReport | None
    requested: EchoRequested
    requests: int
    response: Distribution
    retries: int
    returned_bytes: int | None
    round_trip: Distribution
    send_buffer_bytes: int
    sending_ns: int
    sending_replies: int
    sent: StreamSent | None
    sent_messages: int
    setup: StationSetup
    silent: int
    skipped_messages: int
    socket_buffer_bytes: int | None
    socket_dropped_datagrams: int | None
    spun_ns: int
    stack: StackFacts | None
    stale_messages: int
    stalls: list[Stall]
    start_skew_ns: int
    stations: int
    system: str
    target: int
    tcp: TcpFacts | None
    there: PacketBounds | None
    thinned: Thinned | None
    threads: int
    threads_running: int | None
    timeouts: int
    timestamps: Timestamps
    together: PeersTogether | None
    total_bytes: int
    total_messages: int
    total_refused: int
    udp_counters: dict[str, int]
    unrecorded_frames: int
    unsent_messages: int
    unstarted: int
    verified: Verified
    verified_names: int
    waited_ns: int
    was_told: bool
    whole_files: bool
    window_bytes: int
    window_messages: int
    window_ns: int
    written_files: int
    xxh3: str

class Request(TypedDict, total=False):
    at_ns: int
    bind: str | None
    bytes: int
    clients: int
    connections: int
    credentials: Credentials | None
    delay_ns: int
    direction: PeerDirection
    directory: str | None
    family: AddressFamily
    for_server: bool
    hosts: list[VirtualHost]
    interfaces: MediumInterfaces
    last_port: int
    link: LinkPlace
    load: ReceiverLoad
    longest_ns: int
    loss_burst_frames: float | None
    loss_ratio: float
    medium: Medium
    most_bytes: int
    most_frames: int
    mtu_bytes: int
    name: str
    namespace_pids: list[int]
    netbios: bool
    options: ServerOptions
    pcap: str | None
    peer: str
    place: DatasetPlace
    port: int | None
    ports: Any
    precise: bool
    processor: int | None
    propagation_ns: int
    protocol: Any
    queue_bytes: int
    queue_frames: int
    rate_bps: int | None
    read_only: bool
    root: str
    round_trip_ns: int
    says_clients: bool
    seed: int
    segments: int | None
    sender_clock: ClockRelation | None
    service: Any
    session: str
    spec: Spec
    stack: OwnStack | None
    station: ServeStation | None
    switch_queue_bytes: int
    target: int
    topology: MediumTopology
    type: str
    wins: str | None
    within_ns: int
    work: SimulatedWork
    world: SimulatedWorld

class Acknowledged(TypedDict, total=False):
    flows: list[AcknowledgedFlow]
    intervals: Intervals
    total_bytes: int
    window_bytes: int
    window_ns: int

class AcknowledgedFlow(TypedDict, total=False):
    total_bytes: int
    window_bytes: int
    window_ns: int

AddressFamily = Literal["ipv4", "ipv6"]

class Amount(TypedDict, total=False):
    bytes: int
    messages: int
    time_ns: int

class Armed(TypedDict, total=False):
    margin_ns: int

Arrivals = Literal["fixed", "poisson"]

BlockAccess = Literal["random", "sequential"]

class BlockCheck(TypedDict, total=False):
    blocks: int
    corrupt: int
    first_wrong: str | None
    misplaced: int
    read_back: int
    read_back_wrong: int
    stale: int

class CachesDropped(TypedDict, total=False):
    of: DroppedOf
    reason: str | None

class Cancelled(TypedDict, total=False):
    target: int

class Capabilities(TypedDict, total=False):
    batch: bool
    kernel_timestamps: bool
    local_drop_reports: bool
    processor_binding: bool
    segment: bool
    socket_drop_reports: bool
    tcp_info: bool
    thread_usage: bool

Carrier = Literal["tcp", "nbf", "ipx", "nbipx", "ncp", "spp"]

CarrierCounts = dict[str, int]

class Choice(TypedDict, total=False):
    reason: str

class ClientSeen(TypedDict, total=False):
    id: int
    left_out: int
    peer: str
    times: int
    what: str

class ClientSideObject(TypedDict, total=False):
    directory: str

ClientSide = Literal["memory"] | ClientSideObject

class ClockFacts(TypedDict, total=False):
    disciplined_by: list[str]
    estimated_error_ns: int
    maximum_error_ns: int
    offset_ns: int
    synchronised: bool

class ClockRelation(TypedDict, total=False):
    error_ns: int
    offset_ns: int

class Command(TypedDict, total=False):
    id: int
    request: Request

class Copied(TypedDict, total=False):
    bytes: int
    carrier: CarrierCounts | None
    connect_ns: list[int]
    copied_bytes: int
    copied_files: int
    cpu: CpuTime
    elapsed_ns: int
    exchanges: Exchanges | None
    facts: Facts
    faults: dict[str, int]
    file_time: Distribution
    files: int
    first_byte: Distribution
    host: HostWindow | None
    left_out: LeftOut
    manner: Manner
    operations: OperationTimes
    retries: int
    stack: StackFacts | None
    stalls: list[Stall]
    start_skew_ns: int
    verified: Verified

class CopiedFiles(TypedDict, total=False):
    dataset: Spec
    tree: str

class CopyChecked(TypedDict, total=False):
    elapsed_ns: int
    verified: Verified

class CopyEmptied(TypedDict, total=False):
    is_gone: bool
    left: LeftBehind | None
    not_listed: str | None
    removed_files: int

class CopyPrepared(TypedDict, total=False):
    bytes: int
    files: int
    files_digest: str
    left_out: LeftOut

CopySync = Literal["none", "file"]

CopyVerify = Literal["content", "size", "none"]

class CpuTime(TypedDict, total=False):
    involuntary_switches: int
    system_ns: int
    user_ns: int
    voluntary_switches: int

class Credentials(TypedDict, total=False):
    domain: str | None
    passphrase: str | None
    secret: str
    user: str

class DatasetMade(TypedDict, total=False):
    bytes: int
    directory: str
    elapsed_ns: int
    files: int
    written_files: int
    xxh3: str

class DatasetPlace(TypedDict, total=False):
    cache: dict[str, object]
    directory: str

class DelayVariation(TypedDict, total=False):
    max_ns: int
    mean_ns: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    samples: int
    smoothed_ns: int

Dialect = Literal["core", "lanman1", "lm12x002", "nt1"]

Direction = Literal["upload", "download"]

class Distribution(TypedDict, total=False):
    histogram: str
    max_ns: int
    mean_ns: int
    min_ns: int
    p1_ns: int
    p50_ns: int
    p90_ns: int
    p999_ns: int
    p99_ns: int
    samples: int
    sd_ns: int

DroppedOf = Literal["everything", "nothing", "files"]

class EchoAmount(TypedDict, total=False):
    requests: int
    time_ns: int

class EchoRequested(TypedDict, total=False):
    cpu: CpuTime
    duplicate_replies: int
    elapsed_ns: int
    ended_by: EndedBy
    foreign_datagrams: int
    host: HostWindow | None
    kernel_round_trip: Distribution | None
    late_replies: int
    offered_requests: int
    over_time: RoundTripsOverTime
    receive: Receive
    refused_requests: int
    replies: int
    requests: int
    round_trip: Distribution
    sending_ns: int
    sending_replies: int
    start_skew_ns: int
    tcp: TcpFacts | None
    timeouts: int

class EchoResponded(TypedDict, total=False):
    answered_messages: int
    cpu: CpuTime
    ended_by: EndedBy
    foreign_datagrams: int
    receive: Receive
    refused_messages: int

EndedBy = Literal["silence", "peer_closed", "cancelled", "finished", "unconfirmed", "failed"]

class Exchanges(TypedDict, total=False):
    answered: int
    moved_bytes: int
    moving_ns: int
    moving_waits: int
    response_mean_ns: int | None
    waits: int

class Facts(TypedDict, total=False):
    no_delay: bool | None
    protection: str
    protocol: str
    server: str | None
    tcp: TcpAgreed | None

class Failed(TypedDict, total=False):
    code: str
    hint: str | None
    id: int | None
    message: str
    partial: Result | None

class FileGroup(TypedDict, total=False):
    count: int
    least_bytes: int
    most_bytes: int
    total_bytes: int | None

class FileTimes(TypedDict, total=False):
    bytes: list[int]
    closed_ns: list[int]
    first_byte_ns: list[int]
    id: int
    number: list[int]
    opened_ns: list[int]
    retries: list[int]

class Finished(TypedDict, total=False):
    id: int
    result: Result

FramingHeard = Literal["ethernet_ii", "raw_802_3", "snap", "llc", "three_com"]

class FtpOptions(TypedDict, total=False):
    stack: OwnStack | None

class Heard(TypedDict, total=False):
    answered_questions: int
    bytes: int
    elapsed_ns: int
    frames: int
    frames_between_others: int
    interface: str
    kernel_drops: int
    mac: str
    names: list[NameHeard]
    other_names: int
    other_protocol_frames: int
    other_questions: int
    other_servers: int
    other_station_frames: int
    protocols: list[ProtocolHeard]
    recorded_frames: int
    servers: list[ServerHeard]
    stations: list[StationHeard]
    unanswered: list[QuestionHeard]
    unreadable_frames: int
    unrecorded_frames: int

class Hello(TypedDict, total=False):
    capabilities: Capabilities
    engine_version: str
    max_line_bytes: int
    pid: int
    progress_interval_ns: int
    schema_version: int

class HostAddress(TypedDict, total=False):
    address: str
    prefix_bits: int

class HostFacts(TypedDict, total=False):
    architecture: str
    boot_id: str | None
    clock: ClockFacts | None
    clock_source: str | None
    congestion_control: str | None
    congestion_controls: list[str]
    cpu_pressure_ratio: float | None
    governor: str | None
    interfaces: dict[str, InterfaceFacts]
    kernel: str | None
    kernel_clock: bool
    load_average: float | None
    max_receive_buffer_bytes: int | None
    max_send_buffer_bytes: int | None
    memory_available_bytes: int | None
    memory_bytes: int | None
    offloads: dict[str, dict[str, bool]]
    processor: str | None
    processors: int
    processors_online: int | None
    system: str
    threads_running: int | None
    udp_counters: dict[str, int]

class HostInterface(TypedDict, total=False):
    carrier_changes: int
    name: str
    queue: HostQueue | None

class HostQueue(TypedDict, total=False):
    backlog_bytes: int
    bytes: int
    drops: int
    kind: str
    overlimits: int
    packets: int

class HostWindow(TypedDict, total=False):
    clock_step_ns: int
    elapsed_ns: int
    engine_cpu_ns: int
    processors: ProcessorTimes
    softnet_dropped: int
    softnet_processed: int
    softnet_squeezed: int
    udp_counters: dict[str, int]

class HostsRead(TypedDict, total=False):
    hosts: list[list[HostInterface]]

IcmpSocket = Literal["raw", "datagram"]

class InterfaceFacts(TypedDict, total=False):
    addresses: list[str]
    counters: dict[str, int]
    driver: str | None
    full_duplex: bool | None
    mtu_bytes: int | None
    power_saving: bool | None
    ptp_clock: int | None
    speed_bps: int | None
    supported_speed_bps: int | None
    wireless: bool

class Intervals(TypedDict, total=False):
    bytes: list[int]
    interval_ns: int
    lost_messages: list[int]
    messages: list[int]

Io = Literal["single", "auto", "batch", "segment"]

IpxFraming = Literal["ethernet-ii", "snap", "raw-802.3", "802.2"]

class IpxSegment(TypedDict, total=False):
    framing: IpxFraming | None
    network: int | None

class LeftBehind(TypedDict, total=False):
    count: int
    names: list[str]
    refusal: str | None

class LeftOut(TypedDict, total=False):
    special_files: int
    symbolic_links: int

class LinkPlace(TypedDict, total=False):
    descriptor: int
    interface: str
    recorded: dict[str, object]

class Manner(TypedDict, total=False):
    block_bytes: int
    blocking: bool
    can_create: bool
    can_update: bool
    depth: int
    in_order: bool

Medium = Literal["disk", "tmpfs"]

class MediumCounts(TypedDict, total=False):
    busy_ns: int
    collisions: int
    cpu_ns: int
    lateness: MediumLateness
    nice: int | None
    ports: list[MediumPortCounts]
    recorded_frames: int
    socket_buffer_bytes: int | None
    spun_ns: int
    unrecorded_frames: int

MediumInterfaces = Literal["tap", "packet_socket"]

class MediumLateness(TypedDict, total=False):
    deliveries: int
    late_deliveries: int
    longest_gap_ns: int
    longest_ns: int
    p50_ns: int
    p99_ns: int

class MediumPort(TypedDict, total=False):
    interface: str
    mac: str
    namespace_pid: int

class MediumPortCounts(TypedDict, total=False):
    bytes: int
    collisions: int
    delivered_copies: int
    frames: int
    in_flight_copies: int
    lost_adapter_queue_frames: int
    lost_chance: int
    lost_excessive_collisions: int
    lost_switch_queue: int
    offered_copies: int
    refused_copies: int
    unknown_destination_frames: int
    waiting_frames: int

MediumTopology = Literal["cable", "bus", "switch"]

class MemoryReady(TypedDict, total=False):
    elapsed_ns: int
    ready_bytes: int
    reason: str | None

class MetadataMeasured(TypedDict, total=False):
    carrier: CarrierCounts | None
    connect_ns: list[int]
    cpu: CpuTime
    elapsed_ns: int
    facts: Facts
    host: HostWindow | None
    not_measured: list[NotMeasured]
    phases: list[MetadataPhase]
    start_skew_ns: int
    verified_names: int

class MetadataPhase(TypedDict, total=False):
    elapsed_ns: int
    exchanges: Exchanges | None
    operation: str
    operations: int
    time: Distribution

class MetadataPrepared(TypedDict, total=False):
    elapsed_ns: int

class NameHeard(TypedDict, total=False):
    is_group: bool | None
    mac: str
    name: str
    protocol: str
    sign: NameSign
    suffix: int

NameSign = Literal["used", "claimed", "announced", "answered", "released"]

class NcpOptions(TypedDict, total=False):
    packet_burst: PacketBurst
    waits_on: bool

class NotMeasured(TypedDict, total=False):
    operation: str
    reason: str

class OpenLoop(TypedDict, total=False):
    arrivals: Arrivals
    rate_per_s: float

class OperationTimes(TypedDict, total=False):
    close: Distribution
    open: Distribution
    read: Distribution
    sync: Distribution
    write: Distribution

class OwnStack(TypedDict, total=False):
    address: str
    link: LinkPlace
    memory_bytes: int
    tcp: OwnTcp

class OwnStations(TypedDict, total=False):
    count: int
    first: int

class OwnTcp(TypedDict, total=False):
    delayed_ack_ns: int | None
    mss_bytes: int | None
    no_delay: bool
    receive_buffer_bytes: int | None
    send_buffer_bytes: int | None

class PacketBounds(TypedDict, total=False):
    least_bytes: int
    most_bytes: int

PacketBurst = Literal["on", "off"]

class PathMtuAnswered(TypedDict, total=False):
    datagrams: int

class PathMtuProbed(TypedDict, total=False):
    back: PacketBounds | None
    datagrams: int
    elapsed_ns: int
    there: PacketBounds | None
    was_told: bool

class PeerAsked(TypedDict, total=False):
    flows: int
    message_size_bytes: int
    omit_ns: int
    rate_bps: int
    receives: bool
    sends: bool
    transport: Transport

class PeerClient(TypedDict, total=False):
    address: str
    asked: PeerAsked | None
    began_ns: int
    clients_at_once: int
    cookie: str
    counted: PeerStreamed
    elapsed_ns: int
    error: PeerError | None
    id: int
    moved_bytes: int
    moved_for_all_bytes: int
    number: int
    received_bytes: int
    said: PeerReport | None
    sent_bytes: int

PeerDirection = Literal["send", "receive", "both"]

PeerEchoProtocol = Literal["icmp", "echo", "connect"]

class PeerEchoed(TypedDict, total=False):
    icmp_socket: IcmpSocket | None
    requested: EchoRequested

class PeerError(TypedDict, total=False):
    code: str
    message: str

PeerProtocol = Literal["tcp", "iperf3"]

class PeerReport(TypedDict, total=False):
    congestion_used: str | None
    cpu_util_system: float
    cpu_util_total: float
    cpu_util_user: float
    sender_has_retransmits: int
    streams: list[PeerReportFlow]

class PeerReportFlow(TypedDict, total=False):
    bytes: int
    end_time: float
    errors: int
    id: int
    jitter: float
    omitted_errors: int
    omitted_packets: int
    packets: int
    retransmits: int
    start_time: float

class PeerServeEnded(TypedDict, total=False):
    clients: int
    elapsed_ns: int
    engine_cpu_ns: int | None
    moved_bytes: int
    refused: int
    silent: int
    together: PeersTogether | None

PeerService = Literal["iperf3", "discard", "echo", "chargen"]

class PeerStreamed(TypedDict, total=False):
    acknowledged: Acknowledged | None
    received: StreamReceived | None
    report: PeerReport | None
    returned_bytes: int | None
    sent: StreamSent | None
    stack: StackFacts | None
    waited_ns: int

class PeersTogether(TypedDict, total=False):
    bytes: list[int]
    time_ns: int

class PlacesListed(TypedDict, total=False):
    places: list[str]

class Pong(TypedDict, total=False):
    engine_cpu_ns: int | None
    monotonic_ns: int
    realtime_ns: int

class ProcessorTimes(TypedDict, total=False):
    idle_ns: int
    interrupt_ns: int
    soft_interrupt_ns: int
    steal_ns: int
    system_ns: int
    user_ns: int

class Progress(TypedDict, total=False):
    bytes: int
    delay_variation_ns: int | None
    elapsed_ns: int
    expected_messages: int | None
    id: int
    messages: int
    tcp: TcpNow | None

class ProtocolHeard(TypedDict, total=False):
    bytes: int
    frames: int
    framing: FramingHeard
    protocol: str

class QuestionHeard(TypedDict, total=False):
    asked: str
    last_before_end_ns: int
    mac: str
    question: str
    times: int

class Rate(TypedDict, total=False):
    bps: int
    messages_per_s: float

class Ready(TypedDict, total=False):
    directory: str | None
    id: int
    ports: list[int]
    served: Served | None
    setup_round_trip_ns: int | None

Receive = Literal["block", "poll", "spin", "auto"]

class ReceiverLoad(TypedDict, total=False):
    quota_ratio: float | None
    rivals: int
    work_ns: int

class Line(TypedDict, total=False):
    acknowledged_bytes: list[int]
    address: str
    asked: PeerAsked | None
    at_ns: list[int]
    began_ns: int
    busy_ns: list[int]
    bytes: Any
    capabilities: Capabilities
    clients_at_once: int
    closed_ns: list[int]
    code: str
    congestion_window_bytes: list[int]
    cookie: str
    counted: PeerStreamed
    delay_variation_ns: int | None
    delivery_rate_bps: list[int]
    directory: str | None
    elapsed_ns: int
    engine_version: str
    error: PeerError | None
    expected_messages: int | None
    first_byte_ns: list[int]
    flow: int
    hint: str | None
    id: int | None
    left_out: int
    max_line_bytes: int
    message: str
    messages: int
    moved_bytes: int
    moved_for_all_bytes: int
    number: Any
    octets: str
    opened_ns: list[int]
    pacing_rate_bps: list[int]
    partial: Result | None
    peer: str
    peer_window_bytes: list[int]
    pid: int
    ports: list[int]
    progress_interval_ns: int
    readings: int
    receive_window_limited_ns: list[int]
    received_bytes: Any
    result: Result
    retransmitted_segments: list[int]
    retries: list[int]
    round_trip_ns: list[int]
    said: PeerReport | None
    schema_version: int
    send_buffer_limited_ns: list[int]
    sent_bytes: int
    served: Served | None
    setup_round_trip_ns: int | None
    slices: int
    tcp: TcpNow | None
    times: int
    type: str
    unacknowledged_segments: list[int]
    unsent_bytes: list[int]
    what: str
    window_bytes: list[int]

class Resolved(TypedDict, total=False):
    address: str

class RoleOutcome(TypedDict, total=False):
    answered_messages: int
    back_to_back_messages: int
    blocked_ns: int
    blocks: int
    burst_messages: int
    busiest_thread_ratio: float | None
    bytes: int
    carrier: CarrierCounts | None
    checked: BlockCheck
    connect_ns: list[int]
    copied_bytes: int
    copied_files: int
    cpu: CpuTime
    delay_variation: DelayVariation | None
    duplicate_messages: int
    duplicate_replies: int
    elapsed_ns: int
    ended: list[StationEnded]
    ended_by: Any
    ended_stations: int
    errors: dict[str, int]
    exchanges: Exchanges | None
    facts: Facts
    faults: dict[str, int]
    file_time: Distribution
    files: int
    first_byte: Distribution
    flows: list[Flow]
    foreign_datagrams: int
    gap: Distribution | None
    host: HostWindow | None
    intervals: Intervals
    io: Io
    io_choice: Choice | None
    kernel_round_trip: Distribution | None
    kind: str
    late_messages: int
    late_replies: int
    left_out: LeftOut
    manner: Manner
    mark_seen: bool
    max_lateness_ns: int
    measured_messages: int
    offered_messages: int
    offered_requests: int
    one_way_delay: Distribution | None
    operations: OperationTimes
    outcomes: list[str]
    over_time: RoundTripsOverTime
    overdue_messages: int
    own_lateness: Distribution
    paused_ns: int
    read_bytes: int
    readings: int
    receive: Receive
    receive_buffer_bytes: int
    receive_calls: int
    receive_choice: Choice | None
    reconnect_errors: dict[str, int]
    reconnects: int
    refused_messages: int
    refused_requests: int
    refused_retried: int
    reordered_messages: int
    replies: int
    requests: int
    response: Distribution
    retries: int
    round_trip: Distribution
    send_buffer_bytes: int
    sending_ns: int
    sending_replies: int
    sent_messages: int
    setup: StationSetup
    skipped_messages: int
    socket_dropped_datagrams: int | None
    stack: StackFacts | None
    stale_messages: int
    stalls: list[Stall]
    start_skew_ns: int
    stations: int
    tcp: TcpFacts | None
    thinned: Thinned | None
    threads: int
    timeouts: int
    timestamps: Timestamps
    total_bytes: int
    total_messages: int
    total_refused: int
    unsent_messages: int
    unstarted: int
    verified: Verified
    whole_files: bool
    window_bytes: int
    window_messages: int
    window_ns: int

class RoomMeasured(TypedDict, total=False):
    free_bytes: int | None

class RoundTripsOverTime(TypedDict, total=False):
    interval_ns: int
    longest_ns: list[int]
    mean_ns: list[int]
    replies: list[int]

class ServeEnded(TypedDict, total=False):
    accepted: int
    carrier: CarrierCounts | None
    elapsed_ns: int
    engine_cpu_ns: int | None
    stack: StackFacts | None

class ServeStation(TypedDict, total=False):
    carrier: Carrier
    ipx: IpxSegment
    link: LinkPlace
    name: str

class Served(TypedDict, total=False):
    share: str | None
    trust_sha256: str | None

class ServerHeard(TypedDict, total=False):
    address: str
    kind: str
    name: str
    protocol: str

class ServerOptionsObject(TypedDict, total=False):
    ftp: FtpOptions
    ncp: ShareOptions
    smb: ShareOptions
    smb1: Smb1ServerOptions

ServerOptions = Literal["none"] | ServerOptionsObject

ServiceKind = Literal[
    "memory",
    "webdavs",
    "ncp",
    "s3s",
    "directory",
    "ftp",
    "ftps",
    "sftp",
    "webdav",
    "nfs",
    "nfs4",
    "smb",
    "smb1",
    "s3",
]

class ServiceOptionsObject(TypedDict, total=False):
    ftp: FtpOptions
    ncp: NcpOptions
    smb1: Smb1Options

ServiceOptions = Literal["none"] | ServiceOptionsObject

class ShareOptions(TypedDict, total=False):
    share: str | None

Signing = Literal["auto", "required"]

class Simulated(TypedDict, total=False):
    outcomes: list[RoleOutcome]
    world: SimulatedFacts

class SimulatedCost(TypedDict, total=False):
    each_ns: int
    per_byte_ps: int

class SimulatedDisk(TypedDict, total=False):
    cylinders: int
    elevator: bool
    heads: int
    interleave: int
    overhead_ns: int
    per_byte_ps: int
    sectors_per_track: int
    seek_each_ns: int
    seek_per_root_ns: int
    turn_ns: int
    verifies: bool

class SimulatedFacts(TypedDict, total=False):
    bus_busy_ns: int
    collisions: int
    ended: SimulationEnd
    events: int
    hosts: list[SimulatedHostFacts]
    medium: list[SimulatedPortFacts]
    timed: list[SimulatedSent]
    virtual_ns: int

class SimulatedFreeze(TypedDict, total=False):
    after_ns: int
    for_ns: int

class SimulatedHostFacts(TypedDict, total=False):
    frozen_ns: int | None
    interrupt_ns: int
    program_ns: int
    protocol_ns: int
    queue_dropped_frames: int
    received_frames: int
    ring_dropped_frames: int
    sent_frames: int
    socket_dropped_datagrams: int
    store: SimulatedStoreFacts | None
    unclaimed_frames: int

class SimulatedMachine(TypedDict, total=False):
    adapter_rate_ratio: float
    freeze: SimulatedFreeze | None
    interrupt: SimulatedCost
    jitter_ratio: float
    message_bytes: int | None
    protocol: SimulatedCost
    queue_frames: int
    receive_buffer_bytes: int
    receive_call: SimulatedCost
    ring_frames: int
    send_buffer_bytes: int
    send_call: SimulatedCost
    store: SimulatedStore | None
    tcp: SimulatedTcp
    transmit: SimulatedCost
    transmit_queue_frames: int

class SimulatedMedium(TypedDict, total=False):
    delay_ns: int
    loss_ratio: float
    propagation_ns: int
    rate_bps: int
    switch_queue_bytes: int
    topology: MediumTopology

class SimulatedPortFacts(TypedDict, total=False):
    busy_ns: int
    collisions: int
    deferrals: int
    delivered_frames: int
    lost_chance_frames: int
    lost_excessive_collisions_frames: int
    lost_switch_queue_frames: int
    offered_bytes: int
    offered_frames: int

class SimulatedSent(TypedDict, total=False):
    bytes: int
    frames: int

class SimulatedStore(TypedDict, total=False):
    block_bytes: int
    cache_blocks: int
    cache_of_client: bool
    change_sectors: int
    close_ns: int
    disk: SimulatedDisk
    keeps_parts: bool
    name_sectors: int
    open_ns: int
    other_ns: int
    overlaps: bool
    read: SimulatedCost
    read_ahead_blocks: int
    write: SimulatedCost
    write_behind_blocks: int
    write_behind_ns: int
    writes_full: bool

class SimulatedStoreFacts(TypedDict, total=False):
    cache_hits: int
    cache_misses: int
    dirty_blocks: int
    disk_accesses: int
    disk_busy_ns: int
    disk_rotation_ns: int
    disk_sectors: int
    disk_seek_ns: int
    disk_waited_ns: int

class SimulatedTcp(TypedDict, total=False):
    delayed_ack_ns: int
    mss_bytes: int | None
    nagle: bool
    window_bytes: int

class SimulatedWork(TypedDict, total=False):
    ip_version: int
    profile: str | None
    reply_size_bytes: int | None
    spec: Spec
    workload: str

class SimulatedWorld(TypedDict, total=False):
    bounds: SimulationBounds
    machines: list[SimulatedMachine]
    medium: SimulatedMedium

class SimulationBounds(TypedDict, total=False):
    events: int
    virtual_time_ns: int | None

SimulationEnd = Literal["programs_done", "time", "events", "cancelled", "deadlock"]

class Smb1Options(TypedDict, total=False):
    dialect: Dialect | None
    profile: SystemProfile | None
    raw: bool
    signing: Signing
    tcp_profile: TcpProfile | None
    waits_on: bool

class Smb1ServerOptions(TypedDict, total=False):
    newest_dialect: Dialect | None
    oldest_dialect: Dialect | None
    profile: SystemProfile | None
    requires_signatures: bool
    server_name: str | None
    share: str | None

class SocketOptions(TypedDict, total=False):
    congestion_controls: list[str]
    dscp: int
    nodelay: bool
    receive_buffer_bytes: int | None
    send_buffer_bytes: int | None

class StackFacts(TypedDict, total=False):
    delayed_ack_ns: int
    dropped_frames: int
    held_bytes: int
    memory_bytes: int
    mss_bytes: int
    receive_buffer_bytes: int
    received_frames: int
    send_buffer_bytes: int
    sent_frames: int

class Stall(TypedDict, total=False):
    calls: int
    calls_ratio: float
    likely: str
    mode_ns: int
    operation: str
    time_ratio: float

class StationEnded(TypedDict, total=False):
    at_ns: int
    code: str
    message: str
    readings: int
    station: int

class StationHeard(TypedDict, total=False):
    addresses: list[str]
    bytes: int
    first_ns: int
    frames: int
    ipx_framings: list[FramingHeard]
    last_ns: int
    mac: str
    protocols: list[str]

StationOperation = Literal["read", "write", "mix"]

class StationReadings(TypedDict, total=False):
    id: int
    octets: str
    readings: int

class StationSetup(TypedDict, total=False):
    connect: Distribution
    elapsed_ns: int
    errors: dict[str, int]

class StationSlices(TypedDict, total=False):
    id: int
    octets: str
    slices: int

StationSync = Literal["none", "each"]

class Stationed(TypedDict, total=False):
    blocks: int
    busiest_thread_ratio: float | None
    bytes: int
    carrier: CarrierCounts | None
    checked: BlockCheck
    cpu: CpuTime
    elapsed_ns: int
    ended: list[StationEnded]
    ended_by: StationsEnd
    ended_stations: int
    errors: dict[str, int]
    facts: Facts
    host: HostWindow | None
    manner: Manner
    outcomes: list[str]
    own_lateness: Distribution
    readings: int
    reconnect_errors: dict[str, int]
    reconnects: int
    response: Distribution
    retries: int
    setup: StationSetup
    start_skew_ns: int
    stations: int
    thinned: Thinned | None
    threads: int
    unstarted: int
    whole_files: bool

class StationsEmptied(TypedDict, total=False):
    is_gone: bool
    left: LeftBehind | None
    removed_files: int

StationsEnd = Literal["readings", "time", "interval", "full", "no_station", "cancelled"]

class StationsPrepared(TypedDict, total=False):
    bytes: int
    elapsed_ns: int
    files: int

class StationsUntil(TypedDict, total=False):
    interval_ratio: float | None
    readings_per_station: int | None
    time_ns: int | None

class StreamReceived(TypedDict, total=False):
    cpu: CpuTime
    delay_variation: DelayVariation | None
    duplicate_messages: int
    ended_by: EndedBy
    flows: list[Flow]
    foreign_datagrams: int
    host: HostWindow | None
    intervals: Intervals
    io: Io
    mark_seen: bool
    measured_messages: int
    one_way_delay: Distribution | None
    overdue_messages: int
    read_bytes: int
    receive: Receive
    receive_buffer_bytes: int
    receive_calls: int
    receive_choice: Choice | None
    reordered_messages: int
    socket_dropped_datagrams: int | None
    stale_messages: int
    threads: int
    timestamps: Timestamps
    total_bytes: int
    total_messages: int
    window_bytes: int
    window_messages: int
    window_ns: int

class StreamSent(TypedDict, total=False):
    back_to_back_messages: int
    blocked_ns: int
    burst_messages: int
    cpu: CpuTime
    elapsed_ns: int
    ended_by: EndedBy
    flows: list[Flow]
    gap: Distribution | None
    host: HostWindow | None
    io: Io
    io_choice: Choice | None
    late_messages: int
    max_lateness_ns: int
    offered_messages: int
    paused_ns: int
    refused_messages: int
    refused_retried: int
    send_buffer_bytes: int
    sent_messages: int
    skipped_messages: int
    start_skew_ns: int
    threads: int
    total_messages: int
    total_refused: int
    unsent_messages: int

SystemProfile = Literal["pc-lan-program", "three-plus"]

class Target(TypedDict, total=False):
    address: str | None
    bind: str | None
    carrier: Carrier
    credentials: Credentials | None
    directory: str
    ipx: IpxSegment
    link: LinkPlace | None
    options: ServiceOptions
    port: int | None
    receive_buffer_bytes: int | None
    send_buffer_bytes: int | None
    server_name: str | None
    service: ServiceKind
    share: str | None
    timeout_ns: int
    trust: Trust

class TcpAgreed(TypedDict, total=False):
    has_selective_acknowledgement: bool
    has_timestamps: bool
    has_window_scaling: bool
    maximum_segment_bytes: int
    profile: TcpProfile
    server_window_bytes: int
    window_bytes: int

class TcpFacts(TypedDict, total=False):
    acknowledged_bytes: int
    busy_ns: int
    congestion_control: str | None
    congestion_window_segments: int
    data_segments_received: int
    data_segments_sent: int
    maximum_segment_bytes: int
    minimum_round_trip_ns: int
    receive_window_limited_ns: int
    received_bytes: int
    retransmitted_segments: int
    round_trip_ns: int
    round_trip_variation_ns: int
    segments_sent: int
    send_buffer_limited_ns: int

class TcpNow(TypedDict, total=False):
    acknowledged_bytes: int
    congestion_window_bytes: int
    connections: int
    retransmitted_segments: int
    round_trip_ns: int

TcpProfile = Literal["nt4"]

class TcpSamples(TypedDict, total=False):
    acknowledged_bytes: list[int]
    at_ns: list[int]
    busy_ns: list[int]
    congestion_window_bytes: list[int]
    delivery_rate_bps: list[int]
    flow: int
    id: int
    pacing_rate_bps: list[int]
    peer_window_bytes: list[int]
    receive_window_limited_ns: list[int]
    received_bytes: list[int]
    retransmitted_segments: list[int]
    round_trip_ns: list[int]
    send_buffer_limited_ns: list[int]
    unacknowledged_segments: list[int]
    unsent_bytes: list[int]
    window_bytes: list[int]

class Thinned(TypedDict, total=False):
    every: int
    kept: int
    slice_ns: int

Timestamps = Literal["program", "kernel"]

Transport = Literal["udp", "tcp"]

class TrialDirectoryRemoved(TypedDict, total=False):
    directory: str
    is_gone: bool

class TrustObject(TypedDict, total=False):
    file: str
    sha256: str

Trust = Literal["system"] | TrustObject

class Verified(TypedDict, total=False):
    bytes: int
    files: int
    how: CopyVerify

class VirtualHost(TypedDict, total=False):
    addresses: list[HostAddress]
    interface: str
    mac: str
    namespace_pid: int

WhenLate = Literal["catch_up", "skip"]

class Flow(TypedDict, total=False):
    first_measured: int
    local_port: int
    measured_messages: int
    offered_messages: int
    sent_messages: int
    tcp: TcpFacts | None
    window_bytes: int
    window_ns: int

class Spec(TypedDict, total=False):
    access: BlockAccess
    amount: Any
    block_bytes: int | None
    client: ClientSide
    clients: int
    compressible_ratio: float
    connects_at_once: int
    depth: int | None
    direction: Direction
    drain_ns: int
    file_size_bytes: int
    files: Any
    files_digest: str | None
    flows: int
    groups: list[FileGroup]
    interval_ns: int
    io: Io
    longest_ns: int | None
    message_size_bytes: int
    most_readings: int
    open_loop: OpenLoop | None
    operation: StationOperation
    outstanding_requests: int
    own: OwnStations
    parallel_files: int
    rate: Rate | None
    rate_requests_per_s: float | None
    read_bytes: int
    read_ratio: float
    receive: Receive
    retries: int
    seed: int
    service: Target
    silence_ns: int
    socket: SocketOptions
    stations: int
    sync: Any
    think_ns: int
    threads: int | None
    timeout_follows_path: bool
    timeout_ns: int
    timestamps: Timestamps
    token: str
    transport: Transport
    until: StationsUntil
    verify: Any
    warmup_ns: int
    when_late: WhenLate
    width: int
    working_name: str
