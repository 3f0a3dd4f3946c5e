use std::collections::BTreeMap;

use lanlab_files::{CarrierCounts, Facts, Target, TransferCapabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, DatasetSpec, Distribution, HostWindow, StackFacts};

/// What a trial copies, from where to where. The same for its requests: `copy_prepare`, `copy`,
/// `copy_check` and, even if those failed, `copy_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopySpec {
    /// The service, and the directory in it that is worked in.
    pub service: Target,
    /// The directory that `copy_prepare` makes there, for this trial alone: `lanlab-` and up to 80
    /// letters, digits and `-`. Nothing outside of it is touched.
    pub working_name: String,
    /// What stands in the mark file in that directory: 32 hexadecimal digits. A directory without it
    /// is not ours.
    pub token: String,
    pub direction: Direction,
    pub files: CopiedFiles,
    pub client: ClientSide,
    /// Files under way at once, each over a connection of its own: 1 to 64.
    pub parallel_files: u16,
    /// Bytes of a call, 512 to 8,388,608; absent: as the service is best used.
    #[serde(default)]
    pub block_bytes: Option<u32>,
    /// Calls under way at once for each file, 1 to 256; absent: likewise. A service that moves a
    /// file as one stream has 1.
    #[serde(default)]
    pub depth: Option<u16>,
    /// Whether a file counts as copied only when its receiver has it on its disk.
    pub sync: CopySync,
    pub verify: CopyVerify,
    /// How often a file is tried again after a fault that may pass: 0 to 100.
    pub retries: u8,
    /// A request for this trial that takes longer ends in the error `copy.too_long`, nanoseconds;
    /// absent: it may take any time. `copy_empty` may.
    #[serde(default)]
    pub longest_ns: Option<u64>,
    /// As `copy_prepare` reported it: with other files the request is refused. Absent: with any.
    #[serde(default)]
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
    #[schemars(title = "CopiedDataset")]
    Dataset(DatasetSpec),
    /// What lies in and below a directory of this host, by its absolute path, at most 100,000 files.
    /// Symbolic links and what is neither file nor directory are left out, and counted.
    #[schemars(title = "CopiedTree")]
    Tree(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientSide {
    /// Nowhere: content is made when it is sent, and only its hash is kept when it is received.
    Memory,
    /// In a directory, by its absolute path. To be sent, the files lie there; received, they go to a
    /// directory of the trial's `working_name` in it, which `copy_empty` removes.
    #[schemars(title = "ClientDirectory")]
    Directory(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopySync {
    /// When the server, or this host's system, has confirmed its close.
    None,
    /// When it has been asked to bring it to its disk, and has confirmed that.
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyVerify {
    Content,
    Size,
    None,
}

/// Prepare a trial: make its directory at the service and mark it; of a download, put the files
/// there. Ends in `copy_prepared`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyPrepare {
    pub spec: CopySpec,
}

/// Copy the files. `ready` comes when all connections are there; ends in `copied`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    pub spec: CopySpec,
}

/// See that what was uploaded is at the service, over a new connection. Ends in `copy_checked`, or
/// in the error `copy.wrong`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyCheck {
    pub spec: CopySpec,
}

/// Remove what the trial wrote, and nothing else. Ends in `copy_emptied`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyEmpty {
    pub spec: CopySpec,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CopyPrepared {
    pub files: u64,
    pub bytes: u64,
    pub left_out: LeftOut,
    /// What tells the files from others, or from what they were before: names, sizes, times.
    pub files_digest: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    pub symbolic_links: u64,
    pub special_files: u64,
}

/// What was measured. Times of files follow in `copied_files` lines before it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Copied {
    /// From the opening of the first file to the confirmed closing of the last, at both sides.
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
    /// Faults of operations by their class, those that a retry mended included.
    pub faults: BTreeMap<String, u64>,
    /// How long each connection took, login included, before the start.
    pub connect_ns: Vec<u64>,
    pub facts: Facts,
    /// What this host's station counted from the first connection on, of a carrier on Ethernet.
    pub carrier: Option<CarrierCounts>,
    /// What the engine's own TCP has counted until now, where the server was reached by that.
    pub stack: Option<StackFacts>,
    pub manner: TransferCapabilities,
    /// From the opening of a file to its first byte: received of a download, taken by the server
    /// with the first call of an upload.
    pub first_byte: Distribution,
    /// From the opening of a file to its confirmed closing.
    pub file_time: Distribution,
    pub operations: OperationTimes,
    /// Calls that wait for a timer, if there are such.
    pub stalls: Vec<Stall>,
    pub cpu: CpuTime,
    pub host: Option<HostWindow>,
    /// What was seen of the copy at this host, once it was timed.
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
    /// Median response time of requests of one segment; absent: there was none.
    pub response_p50_ns: Option<u64>,
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

/// Calls of a kind that take nearly the same time, and far longer than the others, because they wait
/// for a timer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stall {
    /// Their kind: `open`, `read`, `write` or `close`.
    pub operation: String,
    pub mode_ns: u64,
    pub calls: u64,
    pub calls_ratio: f64,
    /// Their share of the time of all calls of the kind.
    pub time_ratio: f64,
    pub likely: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verified {
    pub how: CopyVerify,
    pub files: u64,
    /// Bytes compared; zero where only sizes were.
    pub bytes: u64,
}

/// Times of files, some thousand a line. The columns are of one length; all times from the start.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct FileTimes {
    pub id: u64,
    /// Number of each file, in the order of their ends for each connection.
    pub number: Vec<u64>,
    pub bytes: Vec<u64>,
    pub opened_ns: Vec<u64>,
    /// When its first byte was there or taken, in the attempt that succeeded.
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
    /// Why a directory could not be listed, or what in its listing was not understood: then what was
    /// written in it was removed by its names. Absent: all was listed.
    pub not_listed: Option<String>,
    pub left: Option<LeftBehind>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftBehind {
    /// Files and directories that are still there, from the directory that the service works in;
    /// those of this host by their paths. The first 20.
    pub names: Vec<String>,
    pub count: u64,
    /// What the server said to the first that it did not remove. Absent: it has refused nothing, but
    /// somebody else has put something into a directory or in its place, which is left.
    pub refusal: Option<String>,
}
