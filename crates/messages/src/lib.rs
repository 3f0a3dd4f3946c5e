//! What the driver and the engine say to each other: one JSON object a line, this way and that.
//!
//! These types are the only definition. `lanlab-engine schema` prints them as JSON Schema, from
//! which the Python types are made; a change here that a driver could notice raises
//! [`SCHEMA_VERSION`].
//!
//! The first line comes from the engine: [`Reply::Hello`]. Then each [`Command`] carries an `id` of
//! the driver's choosing, and ends in exactly one `result` or `error` with that id. `ready` and
//! `progress` may come before it. All times are whole nanoseconds, on the engine's monotonic clock
//! where they are points in time; all sizes are bytes; all rates bit/s or messages/s.

#[cfg(feature = "services")]
mod copy;
#[cfg(feature = "services")]
mod dataset;
mod echo;
mod failure;
mod host;
#[cfg(feature = "services")]
mod serve;
#[cfg(feature = "services")]
mod stations;
#[cfg(feature = "services")]
mod storage;
mod stream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "services")]
pub use copy::*;
#[cfg(feature = "services")]
pub use dataset::*;
pub use echo::*;
pub use failure::Failure;
pub use host::*;
#[cfg(feature = "services")]
pub use serve::*;
#[cfg(feature = "services")]
pub use stations::*;
#[cfg(feature = "services")]
pub use storage::*;
pub use stream::*;

/// Raised whenever a driver built for the version before could misunderstand.
pub const SCHEMA_VERSION: u32 = 6;

/// Longest line that the engine reads, bytes, the line feed included.
pub const MAX_LINE_BYTES: usize = 65_536;

/// Longest line that the engine sends, likewise: a result with whole histograms, or with 1000 flows.
pub const MAX_REPLY_BYTES: usize = 1_048_576;

/// Time between two `progress` lines of a request.
pub const PROGRESS_INTERVAL_NS: u64 = 250_000_000;

/// A line from the driver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Chosen by the driver, not in use by a request that has not ended.
    pub id: u64,
    /// What is asked for.
    pub request: Request,
}

/// What a driver can ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Facts of this host as they are now. Ends in `description`.
    #[schemars(title = "DescribeRequest")]
    Describe {},
    /// The clocks as they are now. Ends in `pong`.
    #[schemars(title = "PingRequest")]
    Ping {},
    /// Receive a stream. `ready` names the ports; ends in `stream_received`.
    #[schemars(title = "StreamReceiveRequest")]
    StreamReceive(StreamReceive),
    /// Send a stream to a receiver that is ready. Ends in `stream_sent`.
    #[schemars(title = "StreamSendRequest")]
    StreamSend(StreamSend),
    /// Answer echo requests. `ready` names the port; ends in `echo_responded`.
    #[schemars(title = "EchoRespondRequest")]
    EchoRespond(EchoRespond),
    /// Send echo requests to a responder that is ready. Ends in `echo_requested`.
    #[schemars(title = "EchoRequestRequest")]
    EchoRequest(EchoRequest),
    /// Make a dataset, or see that it is there. Ends in `dataset_made`.
    #[cfg(feature = "services")]
    #[schemars(title = "DatasetRequest")]
    Dataset(Dataset),
    /// Make a directory for a trial and hold it. `ready` names it; when cancelled, it is removed and the
    /// error has `trial_directory_removed`.
    #[cfg(feature = "services")]
    #[schemars(title = "TrialDirectoryRequest")]
    TrialDirectory(TrialDirectory),
    /// Ask for the room on a file system. Ends in `room_measured`.
    #[cfg(feature = "services")]
    #[schemars(title = "MeasureRoomRequest")]
    MeasureRoom(MeasureRoom),
    /// Have the host hold free memory. Ends in `memory_ready`.
    #[cfg(feature = "services")]
    #[schemars(title = "ReadyMemoryRequest")]
    ReadyMemory(ReadyMemory),
    /// Look up a name. Ends in `resolved`.
    #[cfg(feature = "services")]
    #[schemars(title = "ResolveRequest")]
    Resolve(Resolve),
    /// Have the host forget what it keeps of files in memory. Ends in `caches_dropped`.
    #[cfg(feature = "services")]
    #[schemars(title = "DropCachesRequest")]
    DropCaches(DropCaches),
    /// Serve a directory by an embedded server. `ready` names its port; when cancelled, the error
    /// has `serve_ended`.
    #[cfg(feature = "services")]
    #[schemars(title = "ServeRequest")]
    Serve(Serve),
    /// Prepare the trial of a copy. Ends in `copy_prepared`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyPrepareRequest")]
    CopyPrepare(Box<CopyPrepare>),
    /// Copy files from or to a file service. Ends in `copied`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyRequest")]
    Copy(Box<Copy>),
    /// See that what was uploaded is right. Ends in `copy_checked`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyCheckRequest")]
    CopyCheck(Box<CopyCheck>),
    /// Remove what a trial wrote. Ends in `copy_emptied`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyEmptyRequest")]
    CopyEmpty(Box<CopyEmpty>),
    /// Prepare the trial of stations. Ends in `stations_prepared`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationsPrepareRequest")]
    StationsPrepare(Box<StationsPrepare>),
    /// Have stations read and write blocks at a file service. Ends in `stationed`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationsRequest")]
    Stations(Box<Stations>),
    /// Remove what a trial of stations wrote. Ends in `stations_emptied`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationsEmptyRequest")]
    StationsEmpty(Box<StationsEmpty>),
    /// Give a ready request its start. Ends in `armed`, or in the error `arm.late`.
    #[schemars(title = "ArmRequest")]
    Arm(Arm),
    /// End a request now. Ends in `cancelled`; the request itself ends in the error `cancelled`.
    #[schemars(title = "CancelRequest")]
    Cancel(Cancel),
}

/// When a request that is ready shall start.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The request.
    pub target: u64,
    /// The start, on this engine's monotonic clock.
    pub at_ns: u64,
}

/// Which request to end.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// The request.
    pub target: u64,
}

/// A line from the engine.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// The first line.
    #[schemars(title = "HelloReply")]
    Hello(Hello),
    /// A measurement is set up and waits to be armed.
    #[schemars(title = "ReadyReply")]
    Ready(Ready),
    /// How far a measurement is.
    #[schemars(title = "ProgressReply")]
    Progress(Progress),
    /// Times of files of a copy; several such lines may come before its end.
    #[cfg(feature = "services")]
    #[schemars(title = "CopiedFilesReply")]
    CopiedFiles(FileTimes),
    /// Readings of stations; several such lines may come before their end.
    #[cfg(feature = "services")]
    #[schemars(title = "StationReadingsReply")]
    StationReadings(StationReadings),
    /// Sums of stations' operations, where their readings are thinned.
    #[cfg(feature = "services")]
    #[schemars(title = "StationSlicesReply")]
    StationSlices(StationSlices),
    /// A request has ended well.
    #[schemars(title = "ResultReply")]
    Result(Finished),
    /// A request has ended otherwise, or a line could not be read.
    #[schemars(title = "ErrorReply")]
    Error(Failed),
}

/// What the engine is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hello {
    /// Version of the engine.
    pub engine_version: String,
    /// Version of these messages.
    pub schema_version: u32,
    /// Process id.
    pub pid: u32,
    /// What this engine can do on this system.
    pub capabilities: Capabilities,
    /// Time between two `progress` lines of a request.
    pub progress_interval_ns: u64,
    /// Longest line that the engine reads, bytes.
    pub max_line_bytes: u64,
}

/// A request is set up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ready {
    /// The request.
    pub id: u64,
    /// Ports that this end listens on, one for each flow over UDP, one in all over TCP; empty at
    /// the end that connects.
    pub ports: Vec<u16>,
    /// Round trip of the session's set-up, if this end saw one.
    pub setup_round_trip_ns: Option<u64>,
    /// Of a trial's directory: its absolute path.
    #[cfg(feature = "services")]
    pub directory: Option<String>,
    /// Of a server: how it is reached.
    #[cfg(feature = "services")]
    pub served: Option<Served>,
}

/// How far a request is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Progress {
    /// The request.
    pub id: u64,
    /// Time since the start, warm-up included.
    pub elapsed_ns: u64,
    /// Messages sent, received or answered so far, warm-up included.
    pub messages: u64,
    /// The same in octets of payload.
    pub bytes: u64,
}

/// A request has ended well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    /// The request.
    pub id: u64,
    /// What came of it.
    pub result: Outcome,
}

/// A request has ended otherwise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// The request; `null` for a line that names none.
    pub id: Option<u64>,
    /// Stable and dotted; what comes before the first dot says whose fault it is.
    pub code: String,
    /// What was found and what was allowed.
    pub message: String,
    /// What to do, if anything can be done.
    pub hint: Option<String>,
    /// What had been measured until then.
    pub partial: Option<Outcome>,
}

/// What a request came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// Of `describe`.
    #[schemars(title = "DescriptionOutcome")]
    Description(Box<HostFacts>),
    /// Of `ping`.
    #[schemars(title = "PongOutcome")]
    Pong(Pong),
    /// Of `arm`.
    #[schemars(title = "ArmedOutcome")]
    Armed(Armed),
    /// Of `cancel`.
    #[schemars(title = "CancelledOutcome")]
    Cancelled(Cancelled),
    /// Of `stream_receive`.
    #[schemars(title = "StreamReceivedOutcome")]
    StreamReceived(Box<StreamReceived>),
    /// Of `stream_send`.
    #[schemars(title = "StreamSentOutcome")]
    StreamSent(Box<StreamSent>),
    /// Of `echo_respond`.
    #[schemars(title = "EchoRespondedOutcome")]
    EchoResponded(Box<EchoResponded>),
    /// Of `echo_request`.
    #[schemars(title = "EchoRequestedOutcome")]
    EchoRequested(Box<EchoRequested>),
    /// Of `dataset`.
    #[cfg(feature = "services")]
    #[schemars(title = "DatasetMadeOutcome")]
    DatasetMade(DatasetMade),
    /// Of `trial_directory`.
    #[cfg(feature = "services")]
    #[schemars(title = "TrialDirectoryRemovedOutcome")]
    TrialDirectoryRemoved(TrialDirectoryRemoved),
    /// Of `measure_room`.
    #[cfg(feature = "services")]
    #[schemars(title = "RoomMeasuredOutcome")]
    RoomMeasured(RoomMeasured),
    /// Of `ready_memory`.
    #[cfg(feature = "services")]
    #[schemars(title = "MemoryReadyOutcome")]
    MemoryReady(MemoryReady),
    /// Of `resolve`.
    #[cfg(feature = "services")]
    #[schemars(title = "ResolvedOutcome")]
    Resolved(Resolved),
    /// Of `drop_caches`.
    #[cfg(feature = "services")]
    #[schemars(title = "CachesDroppedOutcome")]
    CachesDropped(CachesDropped),
    /// Of `serve`.
    #[cfg(feature = "services")]
    #[schemars(title = "ServeEndedOutcome")]
    ServeEnded(ServeEnded),
    /// Of `copy_prepare`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyPreparedOutcome")]
    CopyPrepared(CopyPrepared),
    /// Of `copy`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopiedOutcome")]
    Copied(Box<Copied>),
    /// Of `copy_check`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyCheckedOutcome")]
    CopyChecked(CopyChecked),
    /// Of `copy_empty`.
    #[cfg(feature = "services")]
    #[schemars(title = "CopyEmptiedOutcome")]
    CopyEmptied(CopyEmptied),
    /// Of `stations_prepare`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationsPreparedOutcome")]
    StationsPrepared(StationsPrepared),
    /// Of `stations`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationedOutcome")]
    Stationed(Box<Stationed>),
    /// Of `stations_empty`.
    #[cfg(feature = "services")]
    #[schemars(title = "StationsEmptiedOutcome")]
    StationsEmptied(StationsEmptied),
}

/// The clocks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pong {
    /// Monotonic clock.
    pub monotonic_ns: u64,
    /// Calendar clock, since 1970.
    pub realtime_ns: u64,
    /// CPU time of the engine so far, all threads; `null` where the system does not tell.
    pub engine_cpu_ns: Option<u64>,
}

/// A request has its start.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Armed {
    /// Time from now to the start.
    pub margin_ns: u64,
}

/// A request is being ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    /// The request.
    pub target: u64,
}

/// CPU time of the threads that moved the data, from the start of the measured part to its end.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// Times a thread gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from a thread.
    pub involuntary_switches: u64,
}

impl CpuTime {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
}

/// Transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// User Datagram Protocol.
    Udp,
    /// Transmission Control Protocol.
    Tcp,
}

/// How a receiver waits for what comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Receive {
    /// In the system's call, until something is there: what a plain program does.
    Block,
    /// Sleeps 200 µs, then takes all that is there: the fewest wake-ups.
    Poll,
    /// Never sleeps: asks again and again, and takes a processor for itself.
    Spin,
    /// The engine chooses by trying them on this system; the result says what and why.
    #[default]
    Auto,
}

/// Which clock readings times are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timestamps {
    /// The program's, when the system's call returns.
    #[default]
    Program,
    /// The kernel's, when it takes a packet from the device or gives it to it (`SO_TIMESTAMPING`).
    Kernel,
}

/// What the engine chose where it was left to it, and why.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Choice {
    /// One sentence.
    pub reason: String,
    /// What was tried, over loopback, before the trial; empty if nothing had to be.
    pub candidates: Vec<Candidate>,
}

/// One way that was tried.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Candidate {
    /// Its name, as in `batch` or `poll`.
    pub name: String,
    /// Messages received per second; the median of its rounds.
    pub messages_per_s: f64,
    /// CPU time of both threads for each message received, nanoseconds; likewise.
    pub cpu_ns_per_message: f64,
}

/// A distribution of times, from a histogram of three significant digits.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Distribution {
    /// Times taken.
    pub samples: u64,
    /// Mean, from the exact times.
    pub mean_ns: i64,
    /// Standard deviation within the trial, from the exact times.
    pub sd_ns: u64,
    /// Least, exact.
    pub min_ns: i64,
    /// First percentile.
    pub p1_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Greatest, exact.
    pub max_ns: i64,
    /// The whole histogram in the `HdrHistogram` V2 format, hexadecimal; it can be merged.
    pub histogram: String,
}

/// What a whole host did in a stretch of time: everybody's doings, not only the engine's.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HostWindow {
    /// Length of the stretch.
    pub elapsed_ns: u64,
    /// CPU time of all processors, by what it went to.
    pub processors: ProcessorTimes,
    /// CPU time of this engine's process, all threads.
    pub engine_cpu_ns: u64,
    /// Packets that the kernel took from its per-processor backlogs.
    pub softnet_processed: u64,
    /// Packets that it dropped because a backlog was full. Of the whole kernel, all namespaces.
    pub softnet_dropped: u64,
    /// Times that it ran out of its time slice for packets.
    pub softnet_squeezed: u64,
    /// By how much UDP counters of this network namespace rose, by the kernel's names.
    pub udp_counters: std::collections::BTreeMap<String, u64>,
    /// By how much the calendar clock was stepped against the monotonic one.
    pub clock_step_ns: i64,
}

/// CPU time of all processors (`/proc/stat`), to the hundredth of a second.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct ProcessorTimes {
    /// Programs, the nice ones included.
    pub user_ns: u64,
    /// The kernel on their behalf.
    pub system_ns: u64,
    /// Interrupts.
    pub interrupt_ns: u64,
    /// Soft interrupts: most of what receiving packets takes.
    pub soft_interrupt_ns: u64,
    /// Taken by the hypervisor for others.
    pub steal_ns: u64,
    /// Nothing, waiting for disks included.
    pub idle_ns: u64,
}

/// Socket options of either end. What is absent stays as the system has it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketOptions {
    /// `TCP_NODELAY`.
    #[serde(default)]
    pub nodelay: bool,
    /// Congestion controls of TCP, by name, given to the flows in turn; empty: the system's.
    #[serde(default)]
    pub congestion_controls: Vec<String>,
    /// `SO_SNDBUF`, bytes. Refused if the system does not grant it.
    #[serde(default)]
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF`, bytes. Refused if the system does not grant it.
    #[serde(default)]
    pub receive_buffer_bytes: Option<u32>,
    /// Differentiated services code point, 0 to 63.
    #[serde(default)]
    pub dscp: u8,
}

/// The schema of both directions, as one document.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "exists for its schema only")]
pub struct Messages {
    /// From the driver.
    command: Command,
    /// From the engine.
    reply: Reply,
}
