"""
What driver and engine say to each other, as Python types.

Made by `make messages` from `lanlab-engine schema`; do not edit.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class AmountOfTime(TypedDict, closed=True):
    """
    So long.
    """

    time_ns: int


class AmountOfBytes(TypedDict, closed=True):
    """
    So many octets of payload over all flows, rounded up to whole messages for each.
    """

    bytes: int


class AmountOfMessages(TypedDict, closed=True):
    """
    So many messages over all flows, rounded up to the same for each.
    """

    messages: int


class Armed(TypedDict):
    """
    A request has its start.
    """

    margin_ns: int
    """
    Time from now to the start.
    """


class BlockCheck(TypedDict):
    """
    What was compared with what was written, and what was wrong.
    """

    blocks: int
    """
    Blocks compared as they were read.
    """
    corrupt: int
    """
    Wrong blocks that were nothing that was written.
    """
    first_wrong: NotRequired[str | None]
    """
    The first of them, in words.
    """
    misplaced: int
    """
    Wrong blocks that were those of another place or station.
    """
    read_back: int
    """
    Blocks read again and compared after the end, of those written last.
    """
    read_back_wrong: int
    """
    Of these, those that were wrong.
    """
    stale: int
    """
    Wrong blocks that had been right once, before a write that was confirmed.
    """


class Cancelled(TypedDict):
    """
    A request is being ended.
    """

    target: int
    """
    The request.
    """


class Candidate(TypedDict):
    """
    One way that was tried.
    """

    cpu_ns_per_message: float
    """
    CPU time of both threads for each message received, nanoseconds; likewise.
    """
    messages_per_s: float
    """
    Messages received per second; the median of its rounds.
    """
    name: str
    """
    Its name, as in `batch` or `poll`.
    """


class Capabilities(TypedDict):
    """
    What this engine can do on this system, so that unlike systems are not compared unseen.
    """

    batch: bool
    """
    Many datagrams in one system call.
    """
    kernel_timestamps: bool
    """
    The kernel's time stamps of packets.
    """
    local_drop_reports: bool
    """
    The kernel tells of datagrams that it drops on the sending host.
    """
    processor_binding: bool
    """
    Threads can be bound to a processor.
    """
    segment: bool
    """
    Segmentation offload of UDP.
    """
    socket_drop_reports: bool
    """
    The kernel tells of datagrams dropped for want of room in a socket's buffer.
    """
    tcp_info: bool
    """
    `TCP_INFO`.
    """
    thread_usage: bool
    """
    CPU time of a single thread.
    """


class Choice(TypedDict):
    """
    What the engine chose where it was left to it, and why.
    """

    candidates: list[Candidate]
    """
    What was tried, over loopback, before the trial; empty if nothing had to be.
    """
    reason: str
    """
    One sentence.
    """


class ClientDirectory(TypedDict, closed=True):
    """
    In a directory, by its absolute path. To be sent, the files lie there; received, they go to a
    directory of the trial's `working_name` in it, which `copy_empty` removes.
    """

    directory: str


class ClockRelation(TypedDict, closed=True):
    """
    How another host's monotonic clock stands to this one's.
    """

    error_ns: int
    """
    The offset is right to within so much; 0 if it is one clock.
    """
    offset_ns: int
    """
    The other clock's reading less this one's at the same moment.
    """


class CopiedTree(TypedDict, closed=True):
    """
    What lies in and below a directory of this host, by its absolute path, at most 100,000 files.
    Symbolic links and what is neither file nor directory are left out, and counted.
    """

    tree: str


class CpuTime(TypedDict):
    """
    CPU time of the threads that moved the data, from the start of the measured part to its end.
    """

    involuntary_switches: int
    """
    Times the CPU was taken from a thread.
    """
    system_ns: int
    """
    In the kernel.
    """
    user_ns: int
    """
    In user mode.
    """
    voluntary_switches: int
    """
    Times a thread gave up the CPU to wait.
    """


class Credentials(TypedDict, closed=True):
    """
    Name and secret of a user. Never in a record, a log or an error.
    """

    domain: NotRequired[str | None]
    """
    Domain of SMB, region of S3.
    """
    secret: str
    """
    Password; of S3 the secret key.
    """
    user: str
    """
    Name; of S3 the access key.
    """


class DatasetMade(TypedDict):
    """
    A dataset is there.
    """

    bytes: int
    """
    Octets of all of them.
    """
    elapsed_ns: int
    """
    Time that it took.
    """
    files: int
    """
    Files of the dataset.
    """
    written_files: int
    """
    Files that had to be written: they were not there, or not as they should be.
    """
    xxh3: str
    """
    XXH3 of all files one after the other, 64 bits, hexadecimal.
    """


class DelayVariation(TypedDict):
    """
    Variation of the one-way delay between consecutive messages of a flow (RFC 3393: the difference
    of the one-way delays of two consecutive packets, as both arrived), taken without its sign.
    """

    max_ns: int
    """
    Greatest.
    """
    mean_ns: int
    """
    Mean.
    """
    p50_ns: int
    """
    Median.
    """
    p90_ns: int
    """
    90th percentile.
    """
    p99_ns: int
    """
    99th percentile.
    """
    samples: int
    """
    Pairs of messages.
    """
    smoothed_ns: int
    """
    Smoothed as in RFC 3550, section 6.4.1, at the end; the greatest of all flows.
    """


class Distribution(TypedDict):
    """
    A distribution of times, from a histogram of three significant digits.
    """

    histogram: str
    """
    The whole histogram in the `HdrHistogram` V2 format, hexadecimal; it can be merged.
    """
    max_ns: int
    """
    Greatest, exact.
    """
    mean_ns: int
    """
    Mean, from the exact times.
    """
    min_ns: int
    """
    Least, exact.
    """
    p1_ns: int
    """
    First percentile.
    """
    p50_ns: int
    """
    Median.
    """
    p90_ns: int
    """
    90th percentile.
    """
    p999_ns: int
    """
    99.9th percentile.
    """
    p99_ns: int
    """
    99th percentile.
    """
    samples: int
    """
    Times taken.
    """
    sd_ns: int
    """
    Standard deviation within the trial, from the exact times.
    """


class EchoTime(TypedDict, closed=True):
    """
    So long.
    """

    time_ns: int


class EchoRequests(TypedDict, closed=True):
    """
    So many requests.
    """

    requests: int


class Facts(TypedDict):
    """
    What the two ends agreed on, for the record.
    """

    no_delay: NotRequired[bool | None]
    """
    Whether `TCP_NODELAY` is known to be set at this end; `None` without a socket of our own.
    """
    protection: str
    """
    How what is sent is protected, as `TLS 1.3, AES-256-GCM` or `signed, AES-128-GMAC`; `none`.
    """
    protocol: str
    """
    Protocol with its version, as `SMB 3.1.1` or `FTP`.
    """
    server: NotRequired[str | None]
    """
    What the server calls itself, if it does.
    """


class FileGroup(TypedDict, closed=True):
    """
    Files of like size.
    """

    count: int
    """
    How many.
    """
    least_bytes: int
    """
    Least size of a file, octets.
    """
    most_bytes: int
    """
    Greatest size. Between the two, sizes are drawn so that each doubling is as likely as any
    other (log-uniform), as sizes of files are.
    """
    total_bytes: NotRequired[int | None]
    """
    Octets of all files of the group; absent: what is drawn. Sizes that were drawn are moved
    together until their sum is this.
    """


class FileTimes(TypedDict):
    """
    Times of files, some thousand a line. The columns are of one length; all times from the start.
    """

    bytes: list[int]
    """
    Its size, octets.
    """
    closed_ns: list[int]
    """
    When its close was confirmed.
    """
    first_byte_ns: list[int]
    """
    When its first octet was there or taken, in the attempt that succeeded.
    """
    id: int
    """
    The request.
    """
    number: list[int]
    """
    Number of each file, in the order of their ends for each connection.
    """
    opened_ns: list[int]
    """
    When it was opened the first time.
    """
    retries: list[int]
    """
    Attempts beyond the first.
    """


class Hello(TypedDict):
    """
    What the engine is.
    """

    capabilities: Capabilities
    """
    What this engine can do on this system.
    """
    engine_version: str
    """
    Version of the engine.
    """
    max_line_bytes: int
    """
    Longest line that the engine reads, bytes.
    """
    pid: int
    """
    Process id.
    """
    progress_interval_ns: int
    """
    Time between two `progress` lines of a request.
    """
    schema_version: int
    """
    Version of these messages.
    """


class HostFacts(TypedDict):
    """
    Facts of a host that its figures depend on. What the system does not tell is `null` or empty.
    """

    architecture: str
    """
    Instruction set, as in `x86_64`.
    """
    boot_id: NotRequired[str | None]
    """
    Changes with every boot; equal on hosts that share a kernel.
    """
    clock_source: NotRequired[str | None]
    """
    The kernel's clock source.
    """
    congestion_control: NotRequired[str | None]
    """
    TCP congestion control by default.
    """
    congestion_controls: list[str]
    """
    TCP congestion controls that this user may choose.
    """
    cpu_pressure_ratio: NotRequired[float | None]
    """
    Share of the last 10 s in which somebody waited for a processor (`/proc/pressure/cpu`).
    """
    governor: NotRequired[str | None]
    """
    CPU frequency governor of the first processor.
    """
    kernel: NotRequired[str | None]
    """
    Kernel release.
    """
    kernel_clock: bool
    """
    Whether the monotonic clock is the kernel's, the same for all its processes outside of time
    namespaces; else it begins with each process.
    """
    load_average: NotRequired[float | None]
    """
    Processes that ran or wanted to run, mean over the last minute.
    """
    max_receive_buffer_bytes: NotRequired[int | None]
    """
    Largest receive buffer that this user may ask for, bytes.
    """
    max_send_buffer_bytes: NotRequired[int | None]
    """
    Largest send buffer that this user may ask for, bytes.
    """
    memory_available_bytes: NotRequired[int | None]
    """
    Main memory that programs could have at once, bytes.
    """
    memory_bytes: NotRequired[int | None]
    """
    Main memory, bytes.
    """
    offloads: dict[str, dict[str, bool]]
    """
    Offloads of each network device, by its name, as ethtool names them; empty where the system
    does not tell.
    """
    processor: NotRequired[str | None]
    """
    Processor, as it names itself.
    """
    processors: int
    """
    Processors that this process may run on.
    """
    processors_online: NotRequired[int | None]
    """
    Processors that the whole system has at work.
    """
    system: str
    """
    Operating system, as in `linux`.
    """
    threads_running: NotRequired[int | None]
    """
    Threads that run or want to run at this moment, the one that asks included.
    """
    udp_counters: dict[str, int]
    """
    UDP counters of this host's network namespace, by the kernel's names (`/proc/net/snmp` and
    `snmp6`), as in `UdpRcvbufErrors` and `Udp6OutDatagrams`.
    """


class Intervals(TypedDict):
    """
    Arrivals over time.
    """

    bytes: list[int]
    """
    Octets of payload in each bin.
    """
    interval_ns: int
    """
    Width of a bin, which may be a multiple of the one asked for; the first begins at the start.
    """
    messages: list[int]
    """
    New messages in each bin; empty over TCP.
    """


class LeftBehind(TypedDict):
    """
    What of a trial could not be removed.
    """

    count: int
    """
    How many there are.
    """
    names: list[str]
    """
    Files and directories that are still there, from the directory that the service works in;
    those of this host by their paths. The first 20.
    """
    refusal: NotRequired[str | None]
    """
    What the server said to the first that it did not remove. Absent: it has refused nothing, but
    somebody else has put something into a directory or in its place, which is left.
    """


class LeftOut(TypedDict):
    """
    What of a tree is not copied.
    """

    special_files: int
    """
    Devices, sockets and the like.
    """
    symbolic_links: int
    """
    Symbolic links.
    """


class Manner(TypedDict):
    """
    How a file is best moved by a service.
    """

    block_bytes: int
    """
    Octets of a call when a whole file is moved.
    """
    blocking: bool
    """
    Whether a call keeps the thread until it is done, as one of the operating system does.
    """
    can_create: bool
    """
    Whether the protocol has a word for a file that must be new; else [`Access::Create`] asks first
    whether there is one.
    """
    can_update: bool
    """
    Whether [`Access::Update`] is possible.
    """
    depth: int
    """
    Calls under way at once then; 1 where [`Manner::in_order`].
    """
    in_order: bool
    """
    Whether a file is one stream: its octets in order, one call at a time.
    """


class OpenLoop(TypedDict, closed=True):
    """
    When operations are due, whatever became of those before.
    """

    arrivals: Literal['fixed', 'poisson']
    """
    How they are spread over time.
    """
    rate_per_s: float
    """
    Of all stations together, operations a second: above 0, at most 10,000,000.
    """


class OperationTimes(TypedDict):
    """
    Times of the calls of a service, by what they are for.
    """

    close: Distribution
    """
    Close.
    """
    open: Distribution
    """
    Open.
    """
    read: Distribution
    """
    Read a block.
    """
    sync: Distribution
    """
    Bring to disk.
    """
    write: Distribution
    """
    Write a block.
    """


class DescriptionOutcome(TypedDict):
    """
    Of `describe`.
    """

    architecture: str
    """
    Instruction set, as in `x86_64`.
    """
    boot_id: NotRequired[str | None]
    """
    Changes with every boot; equal on hosts that share a kernel.
    """
    clock_source: NotRequired[str | None]
    """
    The kernel's clock source.
    """
    congestion_control: NotRequired[str | None]
    """
    TCP congestion control by default.
    """
    congestion_controls: list[str]
    """
    TCP congestion controls that this user may choose.
    """
    cpu_pressure_ratio: NotRequired[float | None]
    """
    Share of the last 10 s in which somebody waited for a processor (`/proc/pressure/cpu`).
    """
    governor: NotRequired[str | None]
    """
    CPU frequency governor of the first processor.
    """
    kernel: NotRequired[str | None]
    """
    Kernel release.
    """
    kernel_clock: bool
    """
    Whether the monotonic clock is the kernel's, the same for all its processes outside of time
    namespaces; else it begins with each process.
    """
    load_average: NotRequired[float | None]
    """
    Processes that ran or wanted to run, mean over the last minute.
    """
    max_receive_buffer_bytes: NotRequired[int | None]
    """
    Largest receive buffer that this user may ask for, bytes.
    """
    max_send_buffer_bytes: NotRequired[int | None]
    """
    Largest send buffer that this user may ask for, bytes.
    """
    memory_available_bytes: NotRequired[int | None]
    """
    Main memory that programs could have at once, bytes.
    """
    memory_bytes: NotRequired[int | None]
    """
    Main memory, bytes.
    """
    offloads: dict[str, dict[str, bool]]
    """
    Offloads of each network device, by its name, as ethtool names them; empty where the system
    does not tell.
    """
    processor: NotRequired[str | None]
    """
    Processor, as it names itself.
    """
    processors: int
    """
    Processors that this process may run on.
    """
    processors_online: NotRequired[int | None]
    """
    Processors that the whole system has at work.
    """
    system: str
    """
    Operating system, as in `linux`.
    """
    threads_running: NotRequired[int | None]
    """
    Threads that run or want to run at this moment, the one that asks included.
    """
    udp_counters: dict[str, int]
    """
    UDP counters of this host's network namespace, by the kernel's names (`/proc/net/snmp` and
    `snmp6`), as in `UdpRcvbufErrors` and `Udp6OutDatagrams`.
    """
    kind: Literal['description']


class PongOutcome(TypedDict):
    """
    Of `ping`.
    """

    engine_cpu_ns: NotRequired[int | None]
    """
    CPU time of the engine so far, all threads; `null` where the system does not tell.
    """
    monotonic_ns: int
    """
    Monotonic clock.
    """
    realtime_ns: int
    """
    Calendar clock, since 1970.
    """
    kind: Literal['pong']


class ArmedOutcome(TypedDict):
    """
    Of `arm`.
    """

    margin_ns: int
    """
    Time from now to the start.
    """
    kind: Literal['armed']


class CancelledOutcome(TypedDict):
    """
    Of `cancel`.
    """

    target: int
    """
    The request.
    """
    kind: Literal['cancelled']


class DatasetMadeOutcome(TypedDict):
    """
    Of `dataset`.
    """

    bytes: int
    """
    Octets of all of them.
    """
    elapsed_ns: int
    """
    Time that it took.
    """
    files: int
    """
    Files of the dataset.
    """
    written_files: int
    """
    Files that had to be written: they were not there, or not as they should be.
    """
    xxh3: str
    """
    XXH3 of all files one after the other, 64 bits, hexadecimal.
    """
    kind: Literal['dataset_made']


class CachesDroppedOutcome(TypedDict):
    """
    Of `drop_caches`.
    """

    of: Literal['everything', 'files', 'nothing']
    """
    Of what.
    """
    reason: NotRequired[str | None]
    """
    Why not of more; `null` if everything is.
    """
    kind: Literal['caches_dropped']


class ServeEndedOutcome(TypedDict):
    """
    Of `serve`.
    """

    accepted: int
    """
    Connections that it accepted.
    """
    elapsed_ns: int
    """
    How long it served.
    """
    engine_cpu_ns: NotRequired[int | None]
    """
    CPU time of the whole engine meanwhile; `null` where the system does not tell.
    """
    kind: Literal['serve_ended']


class CopyPreparedOutcome(TypedDict):
    """
    Of `copy_prepare`.
    """

    bytes: int
    """
    Octets of all of them.
    """
    files: int
    """
    Files to be copied.
    """
    files_digest: str
    """
    What tells the files from others, or from what they were before: names, sizes, times.
    """
    left_out: LeftOut
    """
    What is left out of a tree.
    """
    kind: Literal['copy_prepared']


class CopyEmptiedOutcome(TypedDict):
    """
    Of `copy_empty`.
    """

    is_gone: bool
    """
    Whether its directory is gone, too.
    """
    left: NotRequired[LeftBehind | None]
    """
    What is left.
    """
    removed_files: int
    """
    Files removed at the service, the mark left out.
    """
    kind: Literal['copy_emptied']


class StationsPreparedOutcome(TypedDict):
    """
    Of `stations_prepare`.
    """

    bytes: int
    """
    Octets of all of them.
    """
    elapsed_ns: int
    """
    Time that it took.
    """
    files: int
    """
    Files written.
    """
    kind: Literal['stations_prepared']


class StationsEmptiedOutcome(TypedDict):
    """
    Of `stations_empty`.
    """

    is_gone: bool
    """
    Whether its directory is gone, too.
    """
    left: NotRequired[LeftBehind | None]
    """
    What is left.
    """
    removed_files: int
    """
    Files removed at the service, the mark left out.
    """
    kind: Literal['stations_emptied']


class OwnStations(TypedDict, closed=True):
    """
    Which of a trial's stations are a host's.
    """

    count: int
    """
    How many.
    """
    first: int
    """
    The first.
    """


class Pong(TypedDict):
    """
    The clocks.
    """

    engine_cpu_ns: NotRequired[int | None]
    """
    CPU time of the engine so far, all threads; `null` where the system does not tell.
    """
    monotonic_ns: int
    """
    Monotonic clock.
    """
    realtime_ns: int
    """
    Calendar clock, since 1970.
    """


class ProcessorTimes(TypedDict):
    """
    CPU time of all processors (`/proc/stat`), to the hundredth of a second.
    """

    idle_ns: int
    """
    Nothing, waiting for disks included.
    """
    interrupt_ns: int
    """
    Interrupts.
    """
    soft_interrupt_ns: int
    """
    Soft interrupts: most of what receiving packets takes.
    """
    steal_ns: int
    """
    Taken by the hypervisor for others.
    """
    system_ns: int
    """
    The kernel on their behalf.
    """
    user_ns: int
    """
    Programs, the nice ones included.
    """


class Progress(TypedDict):
    """
    How far a request is.
    """

    bytes: int
    """
    The same in octets of payload.
    """
    elapsed_ns: int
    """
    Time since the start, warm-up included.
    """
    id: int
    """
    The request.
    """
    messages: int
    """
    Messages sent, received or answered so far, warm-up included.
    """


class BitRate(TypedDict, closed=True):
    """
    Payload, bit/s.
    """

    bps: int


class MessageRate(TypedDict, closed=True):
    """
    Messages per second, to a thousandth.
    """

    messages_per_s: float


class ReceiverLoad(TypedDict, closed=True):
    """
    What slows a receiver down on purpose.
    """

    quota_ratio: NotRequired[float | None]
    """
    Share of a processor that each receiving thread may use, 0.01 to 1: of every 10 ms it rests
    once it has used so much, as under a quota of the system. Absent: all.
    """
    rivals: NotRequired[int]
    """
    Threads that never rest beside each receiving thread, bound to its processor, which must be
    named; 0 to 16.
    """
    work_ns: NotRequired[int]
    """
    Time that the receiving thread works on each message, up to 1 s.
    """


class HelloReply(TypedDict):
    """
    The first line.
    """

    capabilities: Capabilities
    """
    What this engine can do on this system.
    """
    engine_version: str
    """
    Version of the engine.
    """
    max_line_bytes: int
    """
    Longest line that the engine reads, bytes.
    """
    pid: int
    """
    Process id.
    """
    progress_interval_ns: int
    """
    Time between two `progress` lines of a request.
    """
    schema_version: int
    """
    Version of these messages.
    """
    type: Literal['hello']


class ProgressReply(TypedDict):
    """
    How far a measurement is.
    """

    bytes: int
    """
    The same in octets of payload.
    """
    elapsed_ns: int
    """
    Time since the start, warm-up included.
    """
    id: int
    """
    The request.
    """
    messages: int
    """
    Messages sent, received or answered so far, warm-up included.
    """
    type: Literal['progress']


class CopiedFilesReply(TypedDict):
    """
    Times of files of a copy; several such lines may come before its end.
    """

    bytes: list[int]
    """
    Its size, octets.
    """
    closed_ns: list[int]
    """
    When its close was confirmed.
    """
    first_byte_ns: list[int]
    """
    When its first octet was there or taken, in the attempt that succeeded.
    """
    id: int
    """
    The request.
    """
    number: list[int]
    """
    Number of each file, in the order of their ends for each connection.
    """
    opened_ns: list[int]
    """
    When it was opened the first time.
    """
    retries: list[int]
    """
    Attempts beyond the first.
    """
    type: Literal['copied_files']


class StationReadingsReply(TypedDict):
    """
    Readings of stations; several such lines may come before their end.
    """

    id: int
    """
    The request.
    """
    octets: str
    """
    Each 40 octets, little-endian: when it should have begun, began and ended (three of 64 bits,
    nanoseconds from the start; in a closed loop the first two are one); station, block, octets
    moved (three of 32 bits); 0 for a read and 1 for a write, place of its outcome in
    `outcomes`, attempt from 0, and how far it may be thinned (four of 8 bits): it is among every
    two to the power of that, and always there if that is 255. In Base64 (RFC 4648).
    """
    readings: int
    """
    How many are in this line.
    """
    type: Literal['station_readings']


class StationSlicesReply(TypedDict):
    """
    Sums of stations' operations, where their readings are thinned.
    """

    id: int
    """
    The request.
    """
    octets: str
    """
    Each 48 octets, little-endian: station and slice, by which an operation ended (two of 32 bits);
    operations, the sum of their response times in nanoseconds (two of 64 bits), the sum of their
    squares (a floating number of 64 bits), the shortest and the longest (two of 64 bits). In Base64
    (RFC 4648).
    """
    slices: int
    """
    How many are in this line.
    """
    type: Literal['station_slices']


class DescribeRequest(TypedDict, closed=True):
    """
    Facts of this host as they are now. Ends in `description`.
    """

    type: Literal['describe']


class PingRequest(TypedDict, closed=True):
    """
    The clocks as they are now. Ends in `pong`.
    """

    type: Literal['ping']


class DropCachesRequest(TypedDict, closed=True):
    """
    Have the host forget what it keeps of files in memory. Ends in `caches_dropped`.
    """

    directory: str
    """
    Whose files are to be forgotten at least: a directory by its absolute path.
    """
    type: Literal['drop_caches']


class ArmRequest(TypedDict, closed=True):
    """
    Give a ready request its start. Ends in `armed`, or in the error `arm.late`.
    """

    at_ns: int
    """
    The start, on this engine's monotonic clock.
    """
    target: int
    """
    The request.
    """
    type: Literal['arm']


class CancelRequest(TypedDict, closed=True):
    """
    End a request now. Ends in `cancelled`; the request itself ends in the error `cancelled`.
    """

    target: int
    """
    The request.
    """
    type: Literal['cancel']


class ServeEnded(TypedDict):
    """
    What a server did until it was told to end.
    """

    accepted: int
    """
    Connections that it accepted.
    """
    elapsed_ns: int
    """
    How long it served.
    """
    engine_cpu_ns: NotRequired[int | None]
    """
    CPU time of the whole engine meanwhile; `null` where the system does not tell.
    """


class Served(TypedDict):
    """
    How clients reach a server that has begun to serve.
    """

    share: NotRequired[str | None]
    """
    Share, bucket or export by which the directory goes there; `null` where there is none.
    """
    trust_sha256: NotRequired[str | None]
    """
    SHA-256 of its certificate or host key, hexadecimal; `null` where it has none.
    """


class SocketOptions(TypedDict, closed=True):
    """
    Socket options of either end. What is absent stays as the system has it.
    """

    congestion_controls: NotRequired[list[str]]
    """
    Congestion controls of TCP, by name, given to the flows in turn; empty: the system's.
    """
    dscp: NotRequired[int]
    """
    Differentiated services code point, 0 to 63.
    """
    nodelay: NotRequired[bool]
    """
    `TCP_NODELAY`.
    """
    receive_buffer_bytes: NotRequired[int | None]
    """
    `SO_RCVBUF`, bytes. Refused if the system does not grant it.
    """
    send_buffer_bytes: NotRequired[int | None]
    """
    `SO_SNDBUF`, bytes. Refused if the system does not grant it.
    """


class Stall(TypedDict):
    """
    Calls of a kind that take so alike a time, and so much longer than the others, that they wait for
    a timer.
    """

    calls: int
    """
    How many they are.
    """
    calls_ratio: float
    """
    Their share of all calls of the kind.
    """
    likely: str
    """
    What is known to wait so long.
    """
    mode_ns: int
    """
    The time that most of them take.
    """
    operation: str
    """
    Their kind: `open`, `read`, `write` or `close`.
    """
    time_ratio: float
    """
    Their share of the time of all calls of the kind.
    """


class StationEnded(TypedDict):
    """
    A station that ended before the others.
    """

    at_ns: int
    """
    When, from the start.
    """
    code: str
    """
    Code of the error.
    """
    message: str
    """
    What it said.
    """
    readings: int
    """
    Readings that it has.
    """
    station: int
    """
    Its number.
    """


class StationReadings(TypedDict):
    """
    Readings of stations, some thousand a line, before the result.
    """

    id: int
    """
    The request.
    """
    octets: str
    """
    Each 40 octets, little-endian: when it should have begun, began and ended (three of 64 bits,
    nanoseconds from the start; in a closed loop the first two are one); station, block, octets
    moved (three of 32 bits); 0 for a read and 1 for a write, place of its outcome in
    `outcomes`, attempt from 0, and how far it may be thinned (four of 8 bits): it is among every
    two to the power of that, and always there if that is 255. In Base64 (RFC 4648).
    """
    readings: int
    """
    How many are in this line.
    """


class StationSetup(TypedDict):
    """
    How stations came to their connections, before the start.
    """

    connect: Distribution
    """
    How long each took, login and opening its file included.
    """
    elapsed_ns: int
    """
    How long all took.
    """
    errors: dict[str, int]
    """
    Attempts that failed and were mended, by class.
    """


class StationSlices(TypedDict):
    """
    Sums of operations that went well at their first attempt, before the result of a trial whose
    readings were thinned.
    """

    id: int
    """
    The request.
    """
    octets: str
    """
    Each 48 octets, little-endian: station and slice, by which an operation ended (two of 32 bits);
    operations, the sum of their response times in nanoseconds (two of 64 bits), the sum of their
    squares (a floating number of 64 bits), the shortest and the longest (two of 64 bits). In Base64
    (RFC 4648).
    """
    slices: int
    """
    How many are in this line.
    """


class StationsEmptied(TypedDict):
    """
    What the trial wrote is gone, or what of it is left.
    """

    is_gone: bool
    """
    Whether its directory is gone, too.
    """
    left: NotRequired[LeftBehind | None]
    """
    What is left.
    """
    removed_files: int
    """
    Files removed at the service, the mark left out.
    """


class StationsPrepared(TypedDict):
    """
    A trial can begin.
    """

    bytes: int
    """
    Octets of all of them.
    """
    elapsed_ns: int
    """
    Time that it took.
    """
    files: int
    """
    Files written.
    """


class StationsUntil(TypedDict, closed=True):
    """
    When a trial ends: at whichever of these comes first. One is needed.
    """

    interval_ratio: NotRequired[float | None]
    """
    All end when the 95 % interval of the mean response time, from 20 and more batches, is no
    wider to either side than this share of it: above 0, below 1.
    """
    readings_per_station: NotRequired[int | None]
    """
    A station ends when it has so many readings: 1 to 10,000,000.
    """
    time_ns: NotRequired[int | None]
    """
    No operation begins after so long.
    """


class TcpFacts(TypedDict):
    """
    What TCP knows of a connection at its end. The whole connection, warm-up included.
    """

    acknowledged_bytes: int
    """
    Octets that the peer has acknowledged.
    """
    busy_ns: int
    """
    Time in which data was outstanding.
    """
    congestion_control: NotRequired[str | None]
    """
    Congestion control in force.
    """
    congestion_window_segments: int
    """
    Congestion window, segments.
    """
    data_segments_received: int
    """
    Segments received that carried data.
    """
    data_segments_sent: int
    """
    Segments sent that carried data.
    """
    maximum_segment_bytes: int
    """
    Sending maximum segment size.
    """
    minimum_round_trip_ns: int
    """
    Least round-trip time.
    """
    receive_window_limited_ns: int
    """
    Time limited by the receiver's window.
    """
    received_bytes: int
    """
    Octets received in order.
    """
    retransmitted_segments: int
    """
    Segments sent again.
    """
    round_trip_ns: int
    """
    Smoothed round-trip time.
    """
    round_trip_variation_ns: int
    """
    Variation of the round-trip time.
    """
    segments_sent: int
    """
    Segments sent, retransmissions included.
    """
    send_buffer_limited_ns: int
    """
    Time limited by the send buffer.
    """


class Thinned(TypedDict):
    """
    How far readings were thinned.
    """

    every: int
    """
    One of so many operations of a station was kept.
    """
    kept: int
    """
    Readings that are there.
    """
    slice_ns: int
    """
    Width of a slice; the first begins at the start.
    """


class Trust1(TypedDict, closed=True):
    """
    Whose certificate (DER) or SSH host key (its public blob) has this SHA-256, in hexadecimal.
    """

    sha256: str


class Trust2(TypedDict, closed=True):
    """
    Over TLS whoever has a certificate from an authority in this file (PEM); over SSH whose key
    is in this file, written as `known_hosts`.
    """

    file: str


class Verified(TypedDict):
    """
    What was compared after the copy.
    """

    bytes: int
    """
    Octets compared; zero where only sizes were.
    """
    files: int
    """
    Files compared.
    """
    how: Literal['content', 'size', 'none']
    """
    How.
    """


class CachesDropped(TypedDict):
    """
    What is forgotten.
    """

    of: Literal['everything', 'files', 'nothing']
    """
    Of what.
    """
    reason: NotRequired[str | None]
    """
    Why not of more; `null` if everything is.
    """


class CopyChecked(TypedDict):
    """
    What is at the service is what was to be there.
    """

    elapsed_ns: int
    """
    Time that it took.
    """
    verified: Verified
    """
    What was compared.
    """


class CopyEmptied(TypedDict):
    """
    What the trial wrote is gone, or what of it is left.
    """

    is_gone: bool
    """
    Whether its directory is gone, too.
    """
    left: NotRequired[LeftBehind | None]
    """
    What is left.
    """
    removed_files: int
    """
    Files removed at the service, the mark left out.
    """


class CopyPrepared(TypedDict):
    """
    A trial can begin.
    """

    bytes: int
    """
    Octets of all of them.
    """
    files: int
    """
    Files to be copied.
    """
    files_digest: str
    """
    What tells the files from others, or from what they were before: names, sizes, times.
    """
    left_out: LeftOut
    """
    What is left out of a tree.
    """


class DatasetSpec(TypedDict, closed=True):
    """
    Files whose sizes and content follow from a seed, the same on every system.
    """

    compressible_ratio: NotRequired[float]
    """
    Share of every 4096 octets that is zeros, which any compression finds; 0 to 1. At 0 nothing
    can be compressed, and no 8 octets of a file come twice.
    """
    groups: list[FileGroup]
    """
    Files by their sizes, in the order of their numbers; at least one, 100,000 files in all.
    """
    seed: int
    """
    Of sizes and content.
    """


class EchoResponded(TypedDict):
    """
    What the responder did, warm-up included.
    """

    answered_messages: int
    """
    Requests answered.
    """
    cpu: CpuTime
    """
    CPU time of the responding thread.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no request; not answered.
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How it waited: never `auto`.
    """
    refused_messages: int
    """
    Requests whose answer the system refused.
    """


class EchoSpec(TypedDict, closed=True):
    """
    What an echo is, the same for both ends.
    """

    amount: EchoTime | EchoRequests
    """
    How much is measured, after the warm-up.
    """
    message_size_bytes: int
    """
    Payload of a request and of its reply: 1 to 65,507 over UDP, to 16,777,216 over TCP.
    """
    rate_requests_per_s: NotRequired[float | None]
    """
    Requests per second on a fixed schedule, to a thousandth; absent: a closed loop, the next
    request when the reply is there or overdue.
    """
    receive: NotRequired[Literal['block', 'poll', 'spin', 'auto']]
    """
    How both ends wait for what comes next.
    """
    silence_ns: int
    """
    Either end gives up when nothing has come from the other for so long.
    """
    socket: NotRequired[SocketOptions]
    """
    Socket options of both ends.
    """
    timeout_ns: int
    """
    A reply later than this after the intended time of its request is a time-out.
    """
    timestamps: NotRequired[Literal['program', 'kernel']]
    """
    Whether the kernel's time stamps are taken as well (UDP, closed loop).
    """
    transport: Literal['udp', 'tcp']
    """
    UDP or TCP.
    """
    warmup_ns: int
    """
    Time from the start that is kept out of the figures.
    """


class FlowReceived(TypedDict):
    """
    One flow as its receiver counted it.
    """

    measured_messages: int
    """
    Messages of the measured part, duplicates not counted.
    """
    tcp: NotRequired[TcpFacts | None]
    """
    What TCP knows at the end.
    """
    window_bytes: int
    """
    Octets of payload in the window.
    """
    window_ns: int
    """
    Length of the flow's window.
    """


class FlowSent(TypedDict):
    """
    One flow as its sender saw it, measured part.
    """

    first_measured: int
    """
    Sequence number of the first measured message (UDP).
    """
    local_port: int
    """
    The sender's port.
    """
    offered_messages: int
    """
    Messages that were due.
    """
    sent_messages: int
    """
    Messages that the system took.
    """
    tcp: NotRequired[TcpFacts | None]
    """
    What TCP knows at the end.
    """


class HostWindow(TypedDict):
    """
    What a whole host did in a stretch of time: everybody's doings, not only the engine's.
    """

    clock_step_ns: int
    """
    By how much the calendar clock was stepped against the monotonic one.
    """
    elapsed_ns: int
    """
    Length of the stretch.
    """
    engine_cpu_ns: int
    """
    CPU time of this engine's process, all threads.
    """
    processors: ProcessorTimes
    """
    CPU time of all processors, by what it went to.
    """
    softnet_dropped: int
    """
    Packets that it dropped because a backlog was full. Of the whole kernel, all namespaces.
    """
    softnet_processed: int
    """
    Packets that the kernel took from its per-processor backlogs.
    """
    softnet_squeezed: int
    """
    Times that it ran out of its time slice for packets.
    """
    udp_counters: dict[str, int]
    """
    By how much UDP counters of this network namespace rose, by the kernel's names.
    """


class StreamReceivedOutcome(TypedDict):
    """
    Of `stream_receive`.
    """

    cpu: CpuTime
    """
    CPU time of the receiving threads, without work that was asked for on purpose.
    """
    delay_variation: NotRequired[DelayVariation | None]
    """
    Variation of the one-way delay, where messages carry a send time.
    """
    duplicate_messages: int
    """
    Messages that arrived again.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    flows: list[FlowReceived]
    """
    Each flow by itself.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no message; not counted as received.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part until reception ended.
    """
    intervals: Intervals
    """
    Arrivals over time, warm-up included.
    """
    io: Literal['single', 'batch', 'segment', 'auto']
    """
    How messages were taken: never `auto`.
    """
    mark_seen: bool
    """
    Whether it is known which message was the first measured one (else `measured_messages`
    counts the warm-up too).
    """
    measured_messages: int
    """
    Messages of the measured part that arrived until `drain_ns` after its end, duplicates not
    counted.
    """
    one_way_delay: NotRequired[Distribution | None]
    """
    One-way delay, where messages carry a send time and the clocks' relation is known.
    """
    overdue_messages: int
    """
    Messages of the measured part that arrived after that: not in `measured_messages`.
    """
    read_bytes: int
    """
    Bytes asked for in one read (TCP), or the size of a buffer (UDP).
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How the receiver waited: never `auto`.
    """
    receive_buffer_bytes: int
    """
    Effective `SO_RCVBUF` as the system reports it, bytes.
    """
    receive_calls: int
    """
    Calls that brought something.
    """
    receive_choice: NotRequired[Choice | None]
    """
    Why, if it was the engine's choice.
    """
    reordered_messages: int
    """
    Messages that arrived after one sent later (RFC 4737, section 3.3).
    """
    socket_dropped_datagrams: NotRequired[int | None]
    """
    Datagrams that the kernel dropped for want of room in the sockets' buffers, from the start
    of the measured part on (`SO_RXQ_OVFL`, `SO_MEMINFO`); `null` where it does not tell. With
    joined reception a drop may be of several messages.
    """
    stale_messages: int
    """
    Messages so far behind the newest that they may be duplicates; not counted as received.
    """
    threads: int
    """
    Threads that the flows were spread over.
    """
    timestamps: Literal['program', 'kernel']
    """
    Which clock reading the arrival of a message was.
    """
    total_bytes: int
    """
    Octets of payload in all, warm-up included.
    """
    total_messages: int
    """
    New messages in all, warm-up included.
    """
    window_bytes: int
    """
    Octets of payload that arrived in the window, counted alike.
    """
    window_messages: int
    """
    New messages that arrived in the window. Over UDP, without an amount of time, the first is
    not counted: it opens the window. Over TCP, whole messages.
    """
    window_ns: int
    """
    The window in which `window_messages` and `window_bytes` were counted: for an amount of time
    from start + warm-up for that time; else from the first measured message (UDP) or start +
    warm-up (TCP) to the last octet.
    """
    kind: Literal['stream_received']


class StreamSentOutcome(TypedDict):
    """
    Of `stream_send`.
    """

    back_to_back_messages: int
    """
    Messages that left within a tenth of the period after the one before, beyond the stated
    size of a burst: gaps that the schedule does not have.
    """
    blocked_ns: int
    """
    Time in which the system made the sender wait for room.
    """
    burst_messages: int
    """
    Messages handed over back to back at most; with a rate, the stated size of a burst.
    """
    cpu: CpuTime
    """
    CPU time of the sending threads.
    """
    elapsed_ns: int
    """
    From the first measured slot or message to the end of sending.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    flows: list[FlowSent]
    """
    Each flow by itself.
    """
    gap: NotRequired[Distribution | None]
    """
    With a rate, the times between the hand-over of one group of messages and the next.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part to its end.
    """
    io: Literal['single', 'batch', 'segment', 'auto']
    """
    How messages were handed over: never `auto`.
    """
    io_choice: NotRequired[Choice | None]
    """
    Why, if it was the engine's choice.
    """
    late_messages: int
    """
    Messages that left more than 1 ms after their slot.
    """
    max_lateness_ns: int
    """
    Greatest time by which a message left after its slot.
    """
    offered_messages: int
    """
    Messages that were due: by the schedule with a rate, else those handed over.
    """
    paused_ns: int
    """
    Time in which nothing was sent over UDP because nothing had come from the receiver for 0.9 s;
    of the flow with the longest, warm-up included.
    """
    refused_messages: int
    """
    Messages that the system refused for want of room (`ENOBUFS`) and that were not sent.
    """
    refused_retried: int
    """
    Times the system refused a message that was then sent all the same.
    """
    send_buffer_bytes: int
    """
    Effective `SO_SNDBUF` as the system reports it, bytes.
    """
    sent_messages: int
    """
    Messages that the system took.
    """
    skipped_messages: int
    """
    Messages left out because the next one was due as well (`skip`).
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first message, the latest of all flows.
    """
    threads: int
    """
    Threads that the flows were spread over.
    """
    total_messages: int
    """
    Messages sent in all, warm-up included.
    """
    total_refused: int
    """
    The same two counts, warm-up included.
    """
    unsent_messages: int
    """
    Messages that were due but whose turn had not come when the time was over.
    """
    kind: Literal['stream_sent']


class EchoRespondedOutcome(TypedDict):
    """
    Of `echo_respond`.
    """

    answered_messages: int
    """
    Requests answered.
    """
    cpu: CpuTime
    """
    CPU time of the responding thread.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no request; not answered.
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How it waited: never `auto`.
    """
    refused_messages: int
    """
    Requests whose answer the system refused.
    """
    kind: Literal['echo_responded']


class EchoRequestedOutcome(TypedDict):
    """
    Of `echo_request`.
    """

    cpu: CpuTime
    """
    CPU time of the requesting threads.
    """
    duplicate_replies: int
    """
    Replies that came again.
    """
    elapsed_ns: int
    """
    From the first measured request to the last reply or time-out.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no reply.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part to its end.
    """
    kernel_round_trip: NotRequired[Distribution | None]
    """
    The same from the kernel's stamp of a request to its stamp of the reply: without the
    requester's own waiting and waking. `null` unless asked for.
    """
    late_replies: int
    """
    Replies that came after the time-out.
    """
    offered_requests: int
    """
    Requests that were due: by the schedule with a rate, else those sent.
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How it waited: never `auto`.
    """
    refused_requests: int
    """
    Requests that the system refused for want of room (`ENOBUFS`).
    """
    replies: int
    """
    Replies in time.
    """
    requests: int
    """
    Requests sent.
    """
    round_trip: Distribution
    """
    Round-trip times of the replies in time: with a rate from the intended time of the request,
    else from when it was handed to the system.
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first request.
    """
    tcp: NotRequired[TcpFacts | None]
    """
    What TCP knows at the end.
    """
    timeouts: int
    """
    Requests without a reply in time.
    """
    kind: Literal['echo_requested']


class CopiedOutcome(TypedDict):
    """
    Of `copy`.
    """

    bytes: int
    """
    Octets of all of them.
    """
    connect_ns: list[int]
    """
    How long each connection took, login included, before the start.
    """
    copied_bytes: int
    """
    Octets of these.
    """
    copied_files: int
    """
    Files that were copied.
    """
    cpu: CpuTime
    """
    CPU time of the threads that copied.
    """
    elapsed_ns: int
    """
    From the opening of the first file to the confirmed closing of the last, at both sides.
    """
    facts: Facts
    """
    What the first connection agreed on with the server.
    """
    faults: dict[str, int]
    """
    Faults of operations by their class, those that a retry mended included.
    """
    file_time: Distribution
    """
    From the opening of a file to its confirmed closing.
    """
    files: int
    """
    Files that were to be copied.
    """
    first_byte: Distribution
    """
    From the opening of a file to its first octet: received of a download, taken by the server
    with the first call of an upload.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did meanwhile.
    """
    left_out: LeftOut
    """
    What was left out of a tree.
    """
    manner: Manner
    """
    How the files were moved.
    """
    operations: OperationTimes
    """
    Times of the calls of the service.
    """
    retries: int
    """
    Attempts beyond the first of a file.
    """
    stalls: list[Stall]
    """
    Calls that wait for a timer, if there are such.
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first opening.
    """
    verified: Verified
    """
    What was seen of the copy at this host, once it was timed.
    """
    kind: Literal['copied']


class CopyCheckedOutcome(TypedDict):
    """
    Of `copy_check`.
    """

    elapsed_ns: int
    """
    Time that it took.
    """
    verified: Verified
    """
    What was compared.
    """
    kind: Literal['copy_checked']


class StationedOutcome(TypedDict):
    """
    Of `stations`.
    """

    blocks: int
    """
    Blocks, or files, of each station.
    """
    busiest_thread_ratio: NotRequired[float | None]
    """
    The largest share of the time that a thread of this host was at work; `null` where the system
    does not tell. Near 1, response times are those of this host.
    """
    bytes: int
    """
    Octets moved by operations that went well.
    """
    checked: BlockCheck
    """
    What was compared, and what was wrong.
    """
    cpu: CpuTime
    """
    CPU time of the threads, checking what was read included.
    """
    elapsed_ns: int
    """
    From the start to the end of the last reading.
    """
    ended: list[StationEnded]
    """
    Stations that ended before the others, and why; 64 of them at most.
    """
    ended_by: Literal['readings', 'time', 'interval', 'full', 'no_station', 'cancelled']
    """
    What ended the trial.
    """
    ended_stations: int
    """
    How many they are.
    """
    errors: dict[str, int]
    """
    How many readings of each outcome but the first, which is that it went well.
    """
    facts: Facts
    """
    What the first connection agreed on with the server.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did meanwhile.
    """
    manner: Manner
    """
    How the service moves files.
    """
    outcomes: list[str]
    """
    Names of outcomes, by the numbers that readings have.
    """
    own_lateness: Distribution
    """
    By how much operations began late that their station was free for: this program's own error.
    """
    readings: int
    """
    Readings in all, kept or not.
    """
    reconnect_errors: dict[str, int]
    """
    Why a station could not, by class.
    """
    reconnects: int
    """
    How often a station had to connect anew, and why it could not, by class.
    """
    response: Distribution
    """
    Response times of the readings that went well: from when they should have begun to their end.
    """
    retries: int
    """
    Attempts beyond the first of an operation.
    """
    setup: StationSetup
    """
    How stations came to their connections.
    """
    start_skew_ns: int
    """
    Time between the first operations of the first and the last station to begin; in an open loop,
    the longest time by which a station began its first one late.
    """
    stations: int
    """
    Stations of this host.
    """
    thinned: NotRequired[Thinned | None]
    """
    Whether they were thinned, and how far.
    """
    threads: int
    """
    Threads that they were spread over.
    """
    unstarted: int
    """
    Operations of an open loop that were due within the time and were not begun.
    """
    whole_files: bool
    """
    Whether an operation is a whole file.
    """
    kind: Literal['stationed']


class Ready(TypedDict):
    """
    A request is set up.
    """

    id: int
    """
    The request.
    """
    ports: list[int]
    """
    Ports that this end listens on, one for each flow over UDP, one in all over TCP; empty at
    the end that connects.
    """
    served: NotRequired[Served | None]
    """
    Of a server: how it is reached.
    """
    setup_round_trip_ns: NotRequired[int | None]
    """
    Round trip of the session's set-up, if this end saw one.
    """


class ReadyReply(TypedDict):
    """
    A measurement is set up and waits to be armed.
    """

    id: int
    """
    The request.
    """
    ports: list[int]
    """
    Ports that this end listens on, one for each flow over UDP, one in all over TCP; empty at
    the end that connects.
    """
    served: NotRequired[Served | None]
    """
    Of a server: how it is reached.
    """
    setup_round_trip_ns: NotRequired[int | None]
    """
    Round trip of the session's set-up, if this end saw one.
    """
    type: Literal['ready']


class ResultReply(TypedDict):
    """
    A request has ended well.
    """

    id: int
    """
    The request.
    """
    result: DescriptionOutcome | PongOutcome | ArmedOutcome | CancelledOutcome | StreamReceivedOutcome | StreamSentOutcome | EchoRespondedOutcome | EchoRequestedOutcome | DatasetMadeOutcome | CachesDroppedOutcome | ServeEndedOutcome | CopyPreparedOutcome | CopiedOutcome | CopyCheckedOutcome | CopyEmptiedOutcome | StationsPreparedOutcome | StationedOutcome | StationsEmptiedOutcome
    """
    What came of it.
    """
    type: Literal['result']


class ErrorReply(TypedDict):
    """
    A request has ended otherwise, or a line could not be read.
    """

    code: str
    """
    Stable and dotted; what comes before the first dot says whose fault it is.
    """
    hint: NotRequired[str | None]
    """
    What to do, if anything can be done.
    """
    id: NotRequired[int | None]
    """
    The request; `null` for a line that names none.
    """
    message: str
    """
    What was found and what was allowed.
    """
    partial: NotRequired[DescriptionOutcome | PongOutcome | ArmedOutcome | CancelledOutcome | StreamReceivedOutcome | StreamSentOutcome | EchoRespondedOutcome | EchoRequestedOutcome | DatasetMadeOutcome | CachesDroppedOutcome | ServeEndedOutcome | CopyPreparedOutcome | CopiedOutcome | CopyCheckedOutcome | CopyEmptiedOutcome | StationsPreparedOutcome | StationedOutcome | StationsEmptiedOutcome | None]
    """
    What had been measured until then.
    """
    type: Literal['error']


class EchoRespondRequest(TypedDict, closed=True):
    """
    Answer echo requests. `ready` names the port; ends in `echo_responded`.
    """

    bind: str
    """
    Address to listen on.
    """
    peer: str
    """
    The only address that is answered.
    """
    port: NotRequired[int]
    """
    Port to listen on; 0 lets the system choose.
    """
    processor: NotRequired[int | None]
    """
    The processor that this end's threads are bound to; absent: any.
    """
    session: str
    """
    What both ends know and nobody else: 32 hexadecimal digits.
    """
    spec: EchoSpec
    """
    What the echo is.
    """
    type: Literal['echo_respond']


class EchoRequestRequest(TypedDict, closed=True):
    """
    Send echo requests to a responder that is ready. Ends in `echo_requested`.
    """

    bind: NotRequired[str | None]
    """
    Address to send from; absent: the system's choice.
    """
    peer: str
    """
    The responder's address.
    """
    port: int
    """
    The responder's port, from its `ready`.
    """
    processor: NotRequired[int | None]
    """
    The processor that this end's threads are bound to; absent: any.
    """
    session: str
    """
    What both ends know and nobody else: 32 hexadecimal digits.
    """
    spec: EchoSpec
    """
    What the echo is.
    """
    type: Literal['echo_request']


class DatasetRequest(TypedDict, closed=True):
    """
    Make a dataset, or see that it is there. Ends in `dataset_made`.
    """

    directory: str
    """
    Where its files lie: an absolute path, made if it is not there. What else lies there is left
    alone.
    """
    spec: DatasetSpec
    """
    Its files.
    """
    type: Literal['dataset']


class ServeRequest(TypedDict, closed=True):
    """
    Serve a directory by an embedded server. `ready` names its port; when cancelled, the error
    has `serve_ended`.
    """

    bind: str
    """
    Where to listen, and nowhere else.
    """
    connections: NotRequired[int]
    """
    Connections that are expected at once; it is refused if this process may not have as many
    files and sockets as these take.
    """
    credentials: NotRequired[Credentials | None]
    """
    To whom; absent: to anybody who can reach the address.
    """
    port: NotRequired[int]
    """
    Port; 0 lets the system choose.
    """
    read_only: NotRequired[bool]
    """
    Whether nothing may be written.
    """
    root: str
    """
    The directory, by its absolute path; it must be there.
    """
    service: Literal['directory', 'memory', 'ftp', 'ftps', 'sftp', 'webdav', 'webdavs', 'nfs', 'smb', 's3', 's3s']
    """
    By which service.
    """
    type: Literal['serve']


class Stationed(TypedDict):
    """
    What was measured. The readings are in `station_readings` lines before it.
    """

    blocks: int
    """
    Blocks, or files, of each station.
    """
    busiest_thread_ratio: NotRequired[float | None]
    """
    The largest share of the time that a thread of this host was at work; `null` where the system
    does not tell. Near 1, response times are those of this host.
    """
    bytes: int
    """
    Octets moved by operations that went well.
    """
    checked: BlockCheck
    """
    What was compared, and what was wrong.
    """
    cpu: CpuTime
    """
    CPU time of the threads, checking what was read included.
    """
    elapsed_ns: int
    """
    From the start to the end of the last reading.
    """
    ended: list[StationEnded]
    """
    Stations that ended before the others, and why; 64 of them at most.
    """
    ended_by: Literal['readings', 'time', 'interval', 'full', 'no_station', 'cancelled']
    """
    What ended the trial.
    """
    ended_stations: int
    """
    How many they are.
    """
    errors: dict[str, int]
    """
    How many readings of each outcome but the first, which is that it went well.
    """
    facts: Facts
    """
    What the first connection agreed on with the server.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did meanwhile.
    """
    manner: Manner
    """
    How the service moves files.
    """
    outcomes: list[str]
    """
    Names of outcomes, by the numbers that readings have.
    """
    own_lateness: Distribution
    """
    By how much operations began late that their station was free for: this program's own error.
    """
    readings: int
    """
    Readings in all, kept or not.
    """
    reconnect_errors: dict[str, int]
    """
    Why a station could not, by class.
    """
    reconnects: int
    """
    How often a station had to connect anew, and why it could not, by class.
    """
    response: Distribution
    """
    Response times of the readings that went well: from when they should have begun to their end.
    """
    retries: int
    """
    Attempts beyond the first of an operation.
    """
    setup: StationSetup
    """
    How stations came to their connections.
    """
    start_skew_ns: int
    """
    Time between the first operations of the first and the last station to begin; in an open loop,
    the longest time by which a station began its first one late.
    """
    stations: int
    """
    Stations of this host.
    """
    thinned: NotRequired[Thinned | None]
    """
    Whether they were thinned, and how far.
    """
    threads: int
    """
    Threads that they were spread over.
    """
    unstarted: int
    """
    Operations of an open loop that were due within the time and were not begun.
    """
    whole_files: bool
    """
    Whether an operation is a whole file.
    """


class StreamReceived(TypedDict):
    """
    What the receiver counted. Counts are of the measured part unless they say otherwise.
    """

    cpu: CpuTime
    """
    CPU time of the receiving threads, without work that was asked for on purpose.
    """
    delay_variation: NotRequired[DelayVariation | None]
    """
    Variation of the one-way delay, where messages carry a send time.
    """
    duplicate_messages: int
    """
    Messages that arrived again.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    flows: list[FlowReceived]
    """
    Each flow by itself.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no message; not counted as received.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part until reception ended.
    """
    intervals: Intervals
    """
    Arrivals over time, warm-up included.
    """
    io: Literal['single', 'batch', 'segment', 'auto']
    """
    How messages were taken: never `auto`.
    """
    mark_seen: bool
    """
    Whether it is known which message was the first measured one (else `measured_messages`
    counts the warm-up too).
    """
    measured_messages: int
    """
    Messages of the measured part that arrived until `drain_ns` after its end, duplicates not
    counted.
    """
    one_way_delay: NotRequired[Distribution | None]
    """
    One-way delay, where messages carry a send time and the clocks' relation is known.
    """
    overdue_messages: int
    """
    Messages of the measured part that arrived after that: not in `measured_messages`.
    """
    read_bytes: int
    """
    Bytes asked for in one read (TCP), or the size of a buffer (UDP).
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How the receiver waited: never `auto`.
    """
    receive_buffer_bytes: int
    """
    Effective `SO_RCVBUF` as the system reports it, bytes.
    """
    receive_calls: int
    """
    Calls that brought something.
    """
    receive_choice: NotRequired[Choice | None]
    """
    Why, if it was the engine's choice.
    """
    reordered_messages: int
    """
    Messages that arrived after one sent later (RFC 4737, section 3.3).
    """
    socket_dropped_datagrams: NotRequired[int | None]
    """
    Datagrams that the kernel dropped for want of room in the sockets' buffers, from the start
    of the measured part on (`SO_RXQ_OVFL`, `SO_MEMINFO`); `null` where it does not tell. With
    joined reception a drop may be of several messages.
    """
    stale_messages: int
    """
    Messages so far behind the newest that they may be duplicates; not counted as received.
    """
    threads: int
    """
    Threads that the flows were spread over.
    """
    timestamps: Literal['program', 'kernel']
    """
    Which clock reading the arrival of a message was.
    """
    total_bytes: int
    """
    Octets of payload in all, warm-up included.
    """
    total_messages: int
    """
    New messages in all, warm-up included.
    """
    window_bytes: int
    """
    Octets of payload that arrived in the window, counted alike.
    """
    window_messages: int
    """
    New messages that arrived in the window. Over UDP, without an amount of time, the first is
    not counted: it opens the window. Over TCP, whole messages.
    """
    window_ns: int
    """
    The window in which `window_messages` and `window_bytes` were counted: for an amount of time
    from start + warm-up for that time; else from the first measured message (UDP) or start +
    warm-up (TCP) to the last octet.
    """


class StreamSent(TypedDict):
    """
    What the sender saw. Counts are of the measured part unless they say otherwise.
    """

    back_to_back_messages: int
    """
    Messages that left within a tenth of the period after the one before, beyond the stated
    size of a burst: gaps that the schedule does not have.
    """
    blocked_ns: int
    """
    Time in which the system made the sender wait for room.
    """
    burst_messages: int
    """
    Messages handed over back to back at most; with a rate, the stated size of a burst.
    """
    cpu: CpuTime
    """
    CPU time of the sending threads.
    """
    elapsed_ns: int
    """
    From the first measured slot or message to the end of sending.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    flows: list[FlowSent]
    """
    Each flow by itself.
    """
    gap: NotRequired[Distribution | None]
    """
    With a rate, the times between the hand-over of one group of messages and the next.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part to its end.
    """
    io: Literal['single', 'batch', 'segment', 'auto']
    """
    How messages were handed over: never `auto`.
    """
    io_choice: NotRequired[Choice | None]
    """
    Why, if it was the engine's choice.
    """
    late_messages: int
    """
    Messages that left more than 1 ms after their slot.
    """
    max_lateness_ns: int
    """
    Greatest time by which a message left after its slot.
    """
    offered_messages: int
    """
    Messages that were due: by the schedule with a rate, else those handed over.
    """
    paused_ns: int
    """
    Time in which nothing was sent over UDP because nothing had come from the receiver for 0.9 s;
    of the flow with the longest, warm-up included.
    """
    refused_messages: int
    """
    Messages that the system refused for want of room (`ENOBUFS`) and that were not sent.
    """
    refused_retried: int
    """
    Times the system refused a message that was then sent all the same.
    """
    send_buffer_bytes: int
    """
    Effective `SO_SNDBUF` as the system reports it, bytes.
    """
    sent_messages: int
    """
    Messages that the system took.
    """
    skipped_messages: int
    """
    Messages left out because the next one was due as well (`skip`).
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first message, the latest of all flows.
    """
    threads: int
    """
    Threads that the flows were spread over.
    """
    total_messages: int
    """
    Messages sent in all, warm-up included.
    """
    total_refused: int
    """
    The same two counts, warm-up included.
    """
    unsent_messages: int
    """
    Messages that were due but whose turn had not come when the time was over.
    """


class StreamSpec(TypedDict, closed=True):
    """
    What a stream is, the same for both ends.
    """

    amount: AmountOfTime | AmountOfBytes | AmountOfMessages
    """
    How much is measured, after the warm-up.
    """
    drain_ns: NotRequired[int]
    """
    Over UDP, what arrives later than this after the end of the measured part is late, and lost.
    """
    flows: int
    """
    Parallel flows, 1 to 1000.
    """
    interval_ns: int
    """
    Width of the bins of the interval series.
    """
    io: Literal['single', 'batch', 'segment', 'auto']
    """
    How messages are handed to the system and taken from it.
    """
    message_size_bytes: int
    """
    Payload of a message: 1 to 65,507 over UDP, to 16,777,216 over TCP.
    """
    rate: NotRequired[BitRate | MessageRate | None]
    """
    Sending rate of all flows together; absent: as fast as possible.
    """
    read_bytes: NotRequired[int]
    """
    Octets that one read asks for (TCP), 1 to 16,777,216, whatever the size of a message.
    """
    receive: NotRequired[Literal['block', 'poll', 'spin', 'auto']]
    """
    How a receiver waits for what comes next.
    """
    silence_ns: int
    """
    Either end gives up when nothing has come from the other for so long.
    """
    socket: NotRequired[SocketOptions]
    """
    Socket options of both ends.
    """
    threads: NotRequired[int | None]
    """
    Threads that each end spreads its flows over, 1 to 64; absent: as many as flows, but no more
    than processors.
    """
    timestamps: NotRequired[Literal['program', 'kernel']]
    """
    Which clock reading the arrival of a message is (UDP).
    """
    transport: Literal['udp', 'tcp']
    """
    UDP or TCP.
    """
    warmup_ns: int
    """
    Time from the start that is kept out of the figures.
    """
    when_late: NotRequired[Literal['catch_up', 'skip']]
    """
    What a sender with a rate does about messages whose slot has passed.
    """


class Target(TypedDict, closed=True):
    """
    A directory of a file service.
    """

    address: NotRequired[str | None]
    """
    Address of the server; absent for a directory.
    """
    bind: NotRequired[str | None]
    """
    Address of this host to connect from; absent: that of the way to the server.
    """
    credentials: NotRequired[Credentials | None]
    """
    As whom; absent: as nobody (anonymous, guest, no signature).
    """
    directory: NotRequired[str]
    """
    Directory to work in: of this host (absolute) for a directory, else names joined by `/`
    below where the service begins; empty: there. Of memory: any name.
    """
    port: NotRequired[int | None]
    """
    Port of the server; absent: the usual one.
    """
    receive_buffer_bytes: NotRequired[int | None]
    """
    The same for receiving.
    """
    send_buffer_bytes: NotRequired[int | None]
    """
    Size of the sending socket buffer; absent: as the system has it.
    """
    server_name: NotRequired[str | None]
    """
    Name of the server, for certificates, `Host` and SMB; absent: its address.
    """
    service: Literal['directory', 'memory', 'ftp', 'ftps', 'sftp', 'webdav', 'webdavs', 'nfs', 'smb', 's3', 's3s']
    """
    Which service.
    """
    share: NotRequired[str | None]
    """
    Share of SMB, bucket of S3, export of NFS (`/export`).
    """
    timeout_ns: NotRequired[int]
    """
    An answer must come within this time, nanoseconds.
    """
    trust: NotRequired[Literal['system'] | Trust1 | Trust2]
    """
    Whom to take for the server.
    """


class Copied(TypedDict):
    """
    What was measured. Times of files follow in `copied_files` lines before it.
    """

    bytes: int
    """
    Octets of all of them.
    """
    connect_ns: list[int]
    """
    How long each connection took, login included, before the start.
    """
    copied_bytes: int
    """
    Octets of these.
    """
    copied_files: int
    """
    Files that were copied.
    """
    cpu: CpuTime
    """
    CPU time of the threads that copied.
    """
    elapsed_ns: int
    """
    From the opening of the first file to the confirmed closing of the last, at both sides.
    """
    facts: Facts
    """
    What the first connection agreed on with the server.
    """
    faults: dict[str, int]
    """
    Faults of operations by their class, those that a retry mended included.
    """
    file_time: Distribution
    """
    From the opening of a file to its confirmed closing.
    """
    files: int
    """
    Files that were to be copied.
    """
    first_byte: Distribution
    """
    From the opening of a file to its first octet: received of a download, taken by the server
    with the first call of an upload.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did meanwhile.
    """
    left_out: LeftOut
    """
    What was left out of a tree.
    """
    manner: Manner
    """
    How the files were moved.
    """
    operations: OperationTimes
    """
    Times of the calls of the service.
    """
    retries: int
    """
    Attempts beyond the first of a file.
    """
    stalls: list[Stall]
    """
    Calls that wait for a timer, if there are such.
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first opening.
    """
    verified: Verified
    """
    What was seen of the copy at this host, once it was timed.
    """


class CopiedDataset(TypedDict, closed=True):
    """
    A dataset, by its description.
    """

    dataset: DatasetSpec


class CopySpec(TypedDict, closed=True):
    """
    What a trial copies, from where to where. The same for its requests: `copy_prepare`, `copy`,
    `copy_check` and, whatever became of them, `copy_empty`.
    """

    block_bytes: NotRequired[int | None]
    """
    Octets of a call, 512 to 8,388,608; absent: as the service is best used.
    """
    client: Literal['memory'] | ClientDirectory
    """
    This host's side.
    """
    depth: NotRequired[int | None]
    """
    Calls under way at once for each file, 1 to 256; absent: likewise. A service that moves a
    file as one stream has 1.
    """
    direction: Literal['upload', 'download']
    """
    Which way.
    """
    files: CopiedDataset | CopiedTree
    """
    What is copied.
    """
    files_digest: NotRequired[str | None]
    """
    As `copy_prepare` told it: with other files the request is refused. Absent: with any.
    """
    longest_ns: NotRequired[int | None]
    """
    A request for this trial that takes longer ends in the error `copy.too_long`, nanoseconds;
    absent: it may take any time. `copy_empty` may.
    """
    parallel_files: int
    """
    Files under way at once, each over a connection of its own: 1 to 64.
    """
    retries: int
    """
    How often a file is tried again after a fault that may pass: 0 to 100.
    """
    service: Target
    """
    The service, and the directory in it that is worked in.
    """
    sync: Literal['none', 'file']
    """
    Whether a file counts as copied only when its receiver has it on its disk.
    """
    token: str
    """
    What stands in the mark file in that directory: 32 hexadecimal digits. A directory without it
    is not ours.
    """
    verify: Literal['content', 'size', 'none']
    """
    How it is seen that the copy is right.
    """
    working_name: str
    """
    The directory that `copy_prepare` makes there, for this trial alone: `lanlab-` and up to 80
    letters, digits and `-`. Nothing outside of it is touched.
    """


class EchoRequested(TypedDict):
    """
    What the requester measured. Counts are of the measured part.
    """

    cpu: CpuTime
    """
    CPU time of the requesting threads.
    """
    duplicate_replies: int
    """
    Replies that came again.
    """
    elapsed_ns: int
    """
    From the first measured request to the last reply or time-out.
    """
    ended_by: Literal['finished', 'unconfirmed', 'silence', 'peer_closed', 'failed', 'cancelled']
    """
    Why it stopped.
    """
    foreign_datagrams: int
    """
    Datagrams that do not belong to the session or are no reply.
    """
    host: NotRequired[HostWindow | None]
    """
    What the whole host did from the start of the measured part to its end.
    """
    kernel_round_trip: NotRequired[Distribution | None]
    """
    The same from the kernel's stamp of a request to its stamp of the reply: without the
    requester's own waiting and waking. `null` unless asked for.
    """
    late_replies: int
    """
    Replies that came after the time-out.
    """
    offered_requests: int
    """
    Requests that were due: by the schedule with a rate, else those sent.
    """
    receive: Literal['block', 'poll', 'spin', 'auto']
    """
    How it waited: never `auto`.
    """
    refused_requests: int
    """
    Requests that the system refused for want of room (`ENOBUFS`).
    """
    replies: int
    """
    Replies in time.
    """
    requests: int
    """
    Requests sent.
    """
    round_trip: Distribution
    """
    Round-trip times of the replies in time: with a rate from the intended time of the request,
    else from when it was handed to the system.
    """
    start_skew_ns: int
    """
    Time from the start asked for to the first request.
    """
    tcp: NotRequired[TcpFacts | None]
    """
    What TCP knows at the end.
    """
    timeouts: int
    """
    Requests without a reply in time.
    """


class Failed(TypedDict):
    """
    A request has ended otherwise.
    """

    code: str
    """
    Stable and dotted; what comes before the first dot says whose fault it is.
    """
    hint: NotRequired[str | None]
    """
    What to do, if anything can be done.
    """
    id: NotRequired[int | None]
    """
    The request; `null` for a line that names none.
    """
    message: str
    """
    What was found and what was allowed.
    """
    partial: NotRequired[DescriptionOutcome | PongOutcome | ArmedOutcome | CancelledOutcome | StreamReceivedOutcome | StreamSentOutcome | EchoRespondedOutcome | EchoRequestedOutcome | DatasetMadeOutcome | CachesDroppedOutcome | ServeEndedOutcome | CopyPreparedOutcome | CopiedOutcome | CopyCheckedOutcome | CopyEmptiedOutcome | StationsPreparedOutcome | StationedOutcome | StationsEmptiedOutcome | None]
    """
    What had been measured until then.
    """


class Finished(TypedDict):
    """
    A request has ended well.
    """

    id: int
    """
    The request.
    """
    result: DescriptionOutcome | PongOutcome | ArmedOutcome | CancelledOutcome | StreamReceivedOutcome | StreamSentOutcome | EchoRespondedOutcome | EchoRequestedOutcome | DatasetMadeOutcome | CachesDroppedOutcome | ServeEndedOutcome | CopyPreparedOutcome | CopiedOutcome | CopyCheckedOutcome | CopyEmptiedOutcome | StationsPreparedOutcome | StationedOutcome | StationsEmptiedOutcome
    """
    What came of it.
    """


class StreamReceiveRequest(TypedDict, closed=True):
    """
    Receive a stream. `ready` names the ports; ends in `stream_received`.
    """

    bind: str
    """
    Address to listen on.
    """
    load: NotRequired[ReceiverLoad]
    """
    What slows this receiver down on purpose.
    """
    peer: str
    """
    The only address that may send.
    """
    port: NotRequired[int]
    """
    Port to listen on, that of the first flow; 0 lets the system choose.
    """
    processor: NotRequired[int | None]
    """
    The processor that the receiving threads are bound to; absent: any.
    """
    sender_clock: NotRequired[ClockRelation | None]
    """
    How the sender's monotonic clock stands to this one; absent: unknown, no one-way figures.
    """
    session: str
    """
    What both ends know and nobody else: 32 hexadecimal digits.
    """
    spec: StreamSpec
    """
    What the stream is.
    """
    type: Literal['stream_receive']


class StreamSendRequest(TypedDict, closed=True):
    """
    Send a stream to a receiver that is ready. Ends in `stream_sent`.
    """

    bind: NotRequired[str | None]
    """
    Address to send from; absent: the system's choice.
    """
    peer: str
    """
    The receiver's address.
    """
    ports: list[int]
    """
    The receiver's ports, from its `ready`.
    """
    processor: NotRequired[int | None]
    """
    The processor that the sending threads are bound to; absent: any.
    """
    session: str
    """
    What both ends know and nobody else: 32 hexadecimal digits.
    """
    spec: StreamSpec
    """
    What the stream is.
    """
    type: Literal['stream_send']


class CopyPrepareRequest(TypedDict, closed=True):
    """
    Prepare the trial of a copy. Ends in `copy_prepared`.
    """

    spec: CopySpec
    """
    The trial.
    """
    type: Literal['copy_prepare']


class CopyRequest(TypedDict, closed=True):
    """
    Copy files from or to a file service. Ends in `copied`.
    """

    spec: CopySpec
    """
    The trial.
    """
    type: Literal['copy']


class CopyCheckRequest(TypedDict, closed=True):
    """
    See that what was uploaded is right. Ends in `copy_checked`.
    """

    spec: CopySpec
    """
    The trial.
    """
    type: Literal['copy_check']


class CopyEmptyRequest(TypedDict, closed=True):
    """
    Remove what a trial wrote. Ends in `copy_emptied`.
    """

    spec: CopySpec
    """
    The trial.
    """
    type: Literal['copy_empty']


class StationsSpec(TypedDict, closed=True):
    """
    What the stations of a trial do, and to which service. The same for its requests:
    `stations_prepare`, `stations` and, whatever became of them, `stations_empty`.
    """

    access: Literal['sequential', 'random']
    """
    Which block comes next.
    """
    connects_at_once: int
    """
    Connections that are being made at once: 1 to 1,024.
    """
    file_size_bytes: int
    """
    Octets of the file of each station, at least a message; it has as many blocks as whole
    messages fit in. Of a service that moves whole files only, an operation is a file of the size
    of a message, and each station has as many of these, 8 at most.
    """
    message_size_bytes: int
    """
    Octets that an operation moves: 1 to 67,108,864.
    """
    most_readings: int
    """
    Readings that this host keeps: up to 16,777,216. Of more every second operation of a station is
    kept, or every fourth, and so on; whatever failed or was tried again always is, and the trial
    ends when that alone fills the room.
    """
    open_loop: NotRequired[OpenLoop | None]
    """
    When operations are due; absent: a closed loop, each as its station is done with the last.
    """
    operation: Literal['read', 'write', 'mix']
    """
    What they do.
    """
    own: OwnStations
    """
    Those of this host.
    """
    read_ratio: float
    """
    Of `mix`: the share of reads, 0 to 1.
    """
    retries: int
    """
    How often an operation is tried again after a fault that may pass: 0 to 100.
    """
    seed: int
    """
    What random choices follow from.
    """
    service: Target
    """
    The service, and the directory in it that is worked in. A user whose name has `{station}` in
    it is one for each station, by its number from 0.
    """
    stations: int
    """
    Stations of the whole trial, on all hosts: 1 to 10,000.
    """
    sync: Literal['none', 'each']
    """
    Whether a write is done only when its server has brought it to its disk.
    """
    think_ns: int
    """
    From the end of an operation to the next of its station, in a closed loop.
    """
    threads: NotRequired[int | None]
    """
    Threads that stations are spread over, 1 to 64; absent: one for each processor, of NFS and SMB
    for every second. Of a directory, whose calls keep a thread, each station has one of its own.
    """
    token: str
    """
    What stands in the mark file in that directory: 32 hexadecimal digits. A directory without it
    is not ours.
    """
    until: StationsUntil
    """
    When the trial ends.
    """
    verify: bool
    """
    Whether what is read is compared with what was written there.
    """
    working_name: str
    """
    The directory that `stations_prepare` makes there, for this trial alone: `lanlab-` and up to
    80 letters, digits and `-`. Nothing outside of it is touched.
    """


class StationsPrepareRequest(TypedDict, closed=True):
    """
    Prepare the trial of stations. Ends in `stations_prepared`.
    """

    spec: StationsSpec
    """
    The trial.
    """
    type: Literal['stations_prepare']


class StationsRequest(TypedDict, closed=True):
    """
    Have stations read and write blocks at a file service. Ends in `stationed`.
    """

    spec: StationsSpec
    """
    The trial.
    """
    type: Literal['stations']


class StationsEmptyRequest(TypedDict, closed=True):
    """
    Remove what a trial of stations wrote. Ends in `stations_emptied`.
    """

    spec: StationsSpec
    """
    The trial.
    """
    type: Literal['stations_empty']


class Command(TypedDict, closed=True):
    """
    A line from the driver.
    """

    id: int
    """
    Chosen by the driver, not in use by a request that has not ended.
    """
    request: DescribeRequest | PingRequest | StreamReceiveRequest | StreamSendRequest | EchoRespondRequest | EchoRequestRequest | DatasetRequest | DropCachesRequest | ServeRequest | CopyPrepareRequest | CopyRequest | CopyCheckRequest | CopyEmptyRequest | StationsPrepareRequest | StationsRequest | StationsEmptyRequest | ArmRequest | CancelRequest
    """
    What is asked for.
    """


class Messages(TypedDict):
    """
    The schema of both directions, as one document.
    """

    command: Command
    """
    From the driver.
    """
    reply: HelloReply | ReadyReply | ProgressReply | CopiedFilesReply | StationReadingsReply | StationSlicesReply | ResultReply | ErrorReply
    """
    From the engine.
    """
