use std::collections::BTreeMap;

use lanlab_files::{CarrierCounts, Facts, Target, TransferCapabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, DatasetSpec, Distribution, HostWindow, StackFacts};

/// What a trial copies. The same for all its requests: `copy_prepare`, `copy`, `copy_check` and,
/// even if those failed, `copy_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopySpec {
    /// The service and its working directory.
    pub service: Target,
    /// The directory that `copy_prepare` makes there for this trial: `lanlab-` and up to 80
    /// letters, digits and `-`. Nothing outside it is changed.
    pub working_name: String,
    /// Content of the marker file in that directory: 32 hexadecimal digits. A directory without it
    /// does not belong to lanlab.
    pub token: String,
    pub direction: Direction,
    pub files: CopiedFiles,
    pub client: ClientSide,
    /// Files copied at once, each over its own connection: 1 to 64.
    pub parallel_files: u16,
    /// Bytes per call, 512 to 8,388,608; absent: the service's best value.
    pub block_bytes: Option<u32>,
    /// Calls in flight per file, 1 to 256; absent: the service's best value. A service that streams
    /// files has 1.
    pub depth: Option<u16>,
    /// Whether a file counts as copied only when its receiver has it on disk.
    pub sync: CopySync,
    pub verify: CopyVerify,
    /// Retries per file after a transient fault: 0 to 100.
    pub retries: u8,
    /// Time limit of each request of this trial, nanoseconds. A request that exceeds it ends with
    /// the error `copy.too_long`. Absent: no limit. Does not apply to `copy_empty`.
    pub longest_ns: Option<u64>,
    /// As reported by `copy_prepare`: with other files the request is refused. Absent: no check.
    pub files_digest: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Upload,
    Download,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopiedFiles {
    Dataset(DatasetSpec),
    /// All files below a directory of this host, by its absolute path; at most 100,000. Symbolic
    /// links and special files are skipped and counted.
    Tree(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientSide {
    /// No files: content is generated while sending, and only its hash is kept when receiving.
    Memory,
    /// A directory, by its absolute path. Files to send are in it. Received files are written to a
    /// directory in it named `working_name`, which `copy_empty` removes.
    Directory(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopySync {
    /// When the server, or this host's system, has confirmed the close.
    None,
    /// When it has confirmed that the data is on disk, on request.
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyVerify {
    Content,
    Size,
    None,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CopyPrepared {
    pub files: u64,
    pub bytes: u64,
    pub left_out: LeftOut,
    /// Fingerprint of the files that detects changes: names, sizes, times.
    pub files_digest: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    pub symbolic_links: u64,
    pub special_files: u64,
}

/// Results of a copy. File times precede it in `copied_files` lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Copied {
    /// From opening the first file to the confirmed close of the last, at both ends.
    pub elapsed_ns: u64,
    /// Of all files; absent: this service's client does not count them.
    pub exchanges: Option<Exchanges>,
    /// Time from the start asked for to the first opening.
    pub start_skew_ns: i64,
    pub files: u64,
    pub bytes: u64,
    pub copied_files: u64,
    pub copied_bytes: u64,
    pub retries: u64,
    /// Faults of operations by class, including faults that a retry repaired.
    pub faults: BTreeMap<String, u64>,
    /// Time to open each connection, including login, before the start.
    pub connect_ns: Vec<u64>,
    pub facts: Facts,
    /// Counts of this host's station from the first connection on, for a carrier on Ethernet.
    pub carrier: Option<CarrierCounts>,
    /// Counts of the engine's own TCP so far, if it was used.
    pub stack: Option<StackFacts>,
    pub manner: TransferCapabilities,
    /// From opening a file to its first byte: received in a download, or accepted by the server
    /// with the first call of an upload.
    pub first_byte: Distribution,
    /// From opening a file to its confirmed close.
    pub file_time: Distribution,
    pub operations: OperationTimes,
    /// Calls that wait for a timer, if any.
    pub stalls: Vec<Stall>,
    pub cpu: CpuTime,
    pub host: Option<HostWindow>,
    /// Observations of the copy at this host, once it was timed.
    pub verified: Verified,
    pub left_out: LeftOut,
}

/// Requests of all connections together, and the time in which answers were awaited.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Exchanges {
    /// Requests that were answered.
    pub answered: u64,
    /// Those that a client sent when it waited for no other.
    pub waits: u64,
    /// Mean response time of requests of one segment; absent: there was none.
    pub response_mean_ns: Option<u64>,
    /// Data of the larger ones, the time in which they moved it, and how many of `waits` are in it.
    pub moved_bytes: u64,
    pub moving_ns: u64,
    pub moving_waits: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OperationTimes {
    pub open: Distribution,
    pub read: Distribution,
    pub write: Distribution,
    pub sync: Distribution,
    pub close: Distribution,
}

/// Calls of a kind that take nearly the same time, and much longer than the others, because they
/// wait for a timer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stall {
    /// Kind of call: `open`, `read`, `write` or `close`.
    pub operation: String,
    pub mode_ns: u64,
    pub calls: u64,
    pub calls_ratio: f64,
    /// Share of the time of all calls of the kind.
    pub time_ratio: f64,
    pub likely: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verified {
    pub how: CopyVerify,
    pub files: u64,
    /// Bytes compared; zero if only sizes were compared.
    pub bytes: u64,
}

/// File times, about a thousand per line. All columns have equal length; times count from the
/// start.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct FileTimes {
    pub id: u64,
    /// Number of each file, by connection in order of completion.
    pub number: Vec<u64>,
    pub bytes: Vec<u64>,
    pub opened_ns: Vec<u64>,
    /// Time of its first byte in the successful attempt.
    pub first_byte_ns: Vec<u64>,
    pub closed_ns: Vec<u64>,
    pub retries: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CopyChecked {
    pub verified: Verified,
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CopyEmptied {
    pub removed_files: u64,
    pub is_gone: bool,
    /// Why a directory could not be listed, or what was not understood. Its files were then removed
    /// by name. Absent: everything was listed.
    pub not_listed: Option<String>,
    pub left: Option<LeftBehind>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftBehind {
    /// Remaining files and directories, relative to the service's working directory; on this host
    /// by their paths. The first 20.
    pub names: Vec<String>,
    pub count: u64,
    /// The server's message about the first entry that it did not remove. Absent: it refused
    /// nothing, but another program has added or replaced something, which stays.
    pub refusal: Option<String>,
}
