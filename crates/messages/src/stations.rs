use std::collections::BTreeMap;

use lanlab_files::{CarrierCounts, Facts, Target, TransferCapabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, Distribution, HostWindow, LeftBehind};

/// What the stations of a trial do, and to which service. The same for its requests:
/// `stations_prepare`, `stations` and, even if those failed, `stations_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsSpec {
    /// The service, and the directory in it that is worked in. A user whose name has `{station}` in
    /// it is one for each station, by its number from 0.
    pub service: Target,
    /// The directory that `stations_prepare` makes there, for this trial alone: `lanlab-` and up to
    /// 80 letters, digits and `-`. Nothing outside of it is touched.
    pub working_name: String,
    /// What stands in the mark file in that directory: 32 hexadecimal digits. A directory without it
    /// is not ours.
    pub token: String,
    /// Stations of the whole trial, on all hosts: 1 to 10,000.
    pub stations: u32,
    pub own: OwnStations,
    pub operation: StationOperation,
    /// Of `mix`: the share of reads, 0 to 1.
    pub read_ratio: f64,
    pub access: BlockAccess,
    /// Bytes that an operation moves: 1 to 67,108,864.
    pub message_size_bytes: u32,
    /// Bytes of the file of each station, at least a message; it has as many blocks as whole
    /// messages fit in. Of a service that moves whole files only, an operation is a file of the size
    /// of a message, and each station has as many of these, 8 at most.
    pub file_size_bytes: u64,
    /// From the end of an operation to the next of its station, in a closed loop.
    pub think_ns: u64,
    /// When operations are due; absent: a closed loop, each as its station is done with the last.
    #[serde(default)]
    pub open_loop: Option<OpenLoop>,
    /// Whether a write is done only when its server has brought it to its disk.
    pub sync: StationSync,
    pub until: StationsUntil,
    /// Readings that this host keeps: up to 16,777,216. Of more every second operation of a station is
    /// kept, or every fourth, and so on; operations that failed or were retried are always kept, and the
    /// trial ends when they alone fill the room.
    pub most_readings: u32,
    /// How often an operation is tried again after a fault that may pass: 0 to 100.
    pub retries: u8,
    pub seed: u64,
    /// Whether what is read is compared with what was written there.
    pub verify: bool,
    /// Connections that are being made at once: 1 to 1,024.
    pub connects_at_once: u16,
    /// Threads that stations are spread over, 1 to 64; absent: one for each processor, of NFS and SMB
    /// for every second. Of a directory, whose calls keep a thread, each station has one of its own.
    #[serde(default)]
    pub threads: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnStations {
    pub first: u32,
    pub count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationOperation {
    Read,
    Write,
    Mix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockAccess {
    /// The one behind the last, and after the last of the file its first.
    Sequential,
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Of all stations together, operations a second: above 0, at most 10,000,000.
    pub rate_per_s: f64,
    pub arrivals: Arrivals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    Fixed,
    /// With gaps that are distributed exponentially, each station by itself.
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationSync {
    None,
    /// When it has been asked to bring it to its disk, and has confirmed that.
    Each,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsUntil {
    /// Readings after which a station ends: 1 to 10,000,000.
    #[serde(default)]
    pub readings_per_station: Option<u32>,
    /// Time after which no operation begins, ns.
    #[serde(default)]
    pub time_ns: Option<u64>,
    /// All end when the 95 % interval of the mean response time, from 20 and more batches, is no
    /// wider to either side than this share of it: above 0, below 1.
    #[serde(default)]
    pub interval_ratio: Option<f64>,
}

/// Prepare a trial: make its directory at the service, mark it, and write the files of all stations.
/// Ends in `stations_prepared`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsPrepare {
    pub spec: StationsSpec,
}

/// Have this host's stations work. `ready` comes when all are connected; ends in `stationed`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stations {
    pub spec: StationsSpec,
}

/// Remove what the trial wrote, and nothing else. Ends in `stations_emptied`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsEmpty {
    pub spec: StationsSpec,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct StationsPrepared {
    pub files: u64,
    pub bytes: u64,
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationReadings {
    pub id: u64,
    pub readings: u32,
    /// Each 40 bytes, little-endian: when it should have begun, began and ended (three of 64 bits,
    /// nanoseconds from the start; in a closed loop the first two are one); station, block, bytes
    /// moved (three of 32 bits); 0 for a read and 1 for a write, place of its outcome in
    /// `outcomes`, attempt from 0, and how far it may be thinned (four of 8 bits): it is among every
    /// two to the power of that, and always there if that is 255. In Base64 (RFC 4648).
    pub octets: String,
}

/// Sums of operations that went well at their first attempt, before the result of a trial whose
/// readings were thinned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationSlices {
    pub id: u64,
    pub slices: u32,
    /// Each 48 octets, little-endian: station and slice, by which an operation ended (two of 32 bits);
    /// operations, the sum of their response times in nanoseconds (two of 64 bits), the sum of their
    /// squares (a floating number of 64 bits), the shortest and the longest (two of 64 bits). In Base64
    /// (RFC 4648).
    pub octets: String,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Thinned {
    pub kept: u64,
    /// One of this many operations of a station was kept.
    pub every: u64,
    /// Width of a slice; the first begins at the start.
    pub slice_ns: u64,
}

/// What was measured. The readings are in `station_readings` lines before it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stationed {
    pub stations: u32,
    pub threads: u32,
    /// From the start to the end of the last reading.
    pub elapsed_ns: u64,
    /// Time between the first operations of the first and the last station to begin; in an open loop,
    /// the longest time by which a station began its first one late.
    pub start_skew_ns: i64,
    pub ended_by: StationsEnd,
    pub readings: u64,
    pub thinned: Option<Thinned>,
    pub bytes: u64,
    pub outcomes: Vec<String>,
    /// How many readings of each outcome but the first, which is that it went well.
    pub errors: BTreeMap<String, u64>,
    pub retries: u64,
    /// Operations of an open loop that were due within the time and were not begun.
    pub unstarted: u64,
    /// Response times of the readings that went well: from when they should have begun to their end.
    pub response: Distribution,
    /// By how much operations began late that their station was free for: this program's own error.
    pub own_lateness: Distribution,
    pub setup: StationSetup,
    pub checked: BlockCheck,
    /// How often a station had to connect anew, and why it could not, by class.
    pub reconnects: u64,
    pub reconnect_errors: BTreeMap<String, u64>,
    /// Stations that ended before the others, and why; 64 of them at most.
    pub ended: Vec<StationEnded>,
    pub ended_stations: u32,
    pub facts: Facts,
    /// What this host's station of the carrier counted from the first connection on, of one on Ethernet.
    pub carrier: Option<CarrierCounts>,
    pub manner: TransferCapabilities,
    pub whole_files: bool,
    pub blocks: u32,
    /// CPU time of the threads, checking what was read included.
    pub cpu: CpuTime,
    /// The largest share of the time that a thread of this host was at work; `null` where the system
    /// does not tell. Near 1, response times are those of this host.
    pub busiest_thread_ratio: Option<f64>,
    pub host: Option<HostWindow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationsEnd {
    Readings,
    Time,
    Interval,
    Full,
    NoStation,
    Cancelled,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationSetup {
    /// How long each took, login and opening its file included.
    pub connect: Distribution,
    pub elapsed_ns: u64,
    pub errors: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct BlockCheck {
    pub blocks: u64,
    /// Blocks read again and compared after the end, of those written last.
    pub read_back: u64,
    pub read_back_wrong: u64,
    /// Wrong blocks that had been right once, before a write that was confirmed.
    pub stale: u64,
    /// Wrong blocks that were those of another place or station.
    pub misplaced: u64,
    pub corrupt: u64,
    pub first_wrong: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationEnded {
    pub station: u32,
    pub at_ns: u64,
    pub readings: u64,
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationsEmptied {
    pub removed_files: u64,
    pub is_gone: bool,
    pub left: Option<LeftBehind>,
}
