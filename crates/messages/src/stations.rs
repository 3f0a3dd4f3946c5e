use std::collections::BTreeMap;

use lanlab_files::{CarrierCounts, Facts, Target, TransferCapabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, Distribution, HostWindow, LeftBehind};

/// Service and operations of a trial's stations. Equal in all requests of the trial:
/// `stations_prepare`, `stations` and, even if those failed, `stations_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsSpec {
    /// The service and its working directory. A user name with `{station}` gives each station its
    /// own user, by its number from 0.
    pub service: Target,
    /// The directory that `stations_prepare` makes there for this trial: `lanlab-` and up to 80
    /// letters, digits and `-`. Nothing outside it is changed.
    pub working_name: String,
    /// Content of the marker file in that directory: 32 hexadecimal digits. A directory without it
    /// does not belong to lanlab.
    pub token: String,
    /// Stations of the whole trial, over all hosts: 1 to 10,000.
    pub stations: u32,
    pub own: OwnStations,
    pub operation: StationOperation,
    /// For `mix`: the share of reads, 0 to 1.
    pub read_ratio: f64,
    pub access: BlockAccess,
    /// Bytes per operation: 1 to 67,108,864.
    pub message_size_bytes: u32,
    /// Size of each station's file, at least one message; it has as many blocks as whole messages.
    /// If the service transfers only whole files, an operation is a file of the size of a message,
    /// and each station has several of these, at most 8.
    pub file_size_bytes: u64,
    /// Pause of a station between operations, in a closed loop.
    pub think_ns: u64,
    /// When operations are due; absent: a closed loop, in which each station starts the next
    /// operation after the last.
    pub open_loop: Option<OpenLoop>,
    /// Whether a write ends only when the server has it on disk.
    pub sync: StationSync,
    pub until: StationsUntil,
    /// Readings that this host keeps: up to 16,777,216. If there are more, only every second,
    /// fourth … operation of a station is kept. Failed and retried operations are always kept; the
    /// trial ends when they alone fill the room.
    pub most_readings: u32,
    /// Retries per operation after a transient fault: 0 to 100.
    pub retries: u8,
    pub seed: u64,
    /// Whether to compare read data with written data.
    pub verify: bool,
    /// Connections opened at once: 1 to 1,024.
    pub connects_at_once: u16,
    /// Threads for the stations, 1 to 64; absent: one per processor, for NFS and SMB one per two.
    /// For a directory, whose calls block a thread, each station has its own.
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
    /// The block after the last one; after the last block of the file, the first.
    Sequential,
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Operations per second of all stations together: above 0, at most 10,000,000.
    pub rate_per_s: f64,
    pub arrivals: Arrivals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    Fixed,
    /// With exponentially distributed gaps, independently for each station.
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationSync {
    None,
    /// When it has confirmed that the data is on disk, on request.
    Each,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationsUntil {
    /// Readings after which a station stops: 1 to 10,000,000.
    pub readings_per_station: Option<u32>,
    /// Time after which no operation starts, ns.
    pub time_ns: Option<u64>,
    /// All stations stop when half the 95 % interval of the mean response time, from 20 or more
    /// batches, is at most this share of the mean: above 0, below 1.
    pub interval_ratio: Option<f64>,
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
    /// 40 bytes per reading, little-endian. Three of 64 bits, nanoseconds from the start: due time,
    /// start and end (in a closed loop the first two are equal). Three of 32 bits: station, block,
    /// bytes. Four of 8 bits: 0 for a read and 1 for a write, index of the outcome in `outcomes`,
    /// attempt from 0, and thinning level n: the reading remains if one in 2^n is kept (255:
    /// always). Base64 (RFC 4648).
    pub octets: String,
}

/// Sums of operations that succeeded at their first attempt, before the result of a trial with
/// thinned readings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationSlices {
    pub id: u64,
    pub slices: u32,
    /// 48 octets per entry, little-endian: station and slice of the operations' ends (two of 32
    /// bits); number of operations and sum of their response times in nanoseconds (two of 64 bits),
    /// sum of their squares (64-bit float), shortest and longest (two of 64 bits). Base64 (RFC
    /// 4648).
    pub octets: String,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Thinned {
    pub kept: u64,
    /// One in this many operations of a station was kept.
    pub every: u64,
    /// Width of a slice; the first begins at the start.
    pub slice_ns: u64,
}

/// Results. The readings precede it in `station_readings` lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stationed {
    pub stations: u32,
    pub threads: u32,
    /// From the start to the end of the last reading.
    pub elapsed_ns: u64,
    /// Time between the first operations of the first and the last station; in an open loop, the
    /// largest lateness of a station's first operation.
    pub start_skew_ns: i64,
    pub ended_by: StationsEnd,
    pub readings: u64,
    pub thinned: Option<Thinned>,
    pub bytes: u64,
    pub outcomes: Vec<String>,
    /// Number of readings by outcome, without the first outcome, which is success.
    pub errors: BTreeMap<String, u64>,
    pub retries: u64,
    /// Operations of an open loop that were due within the time but not started.
    pub unstarted: u64,
    /// Response times of successful readings, from their due time to their end.
    pub response: Distribution,
    /// Lateness of operations whose station was free: the error of this program.
    pub own_lateness: Distribution,
    pub setup: StationSetup,
    pub checked: BlockCheck,
    /// Reconnections of a station, and failed attempts by class.
    pub reconnects: u64,
    pub reconnect_errors: BTreeMap<String, u64>,
    /// Stations that stopped early, and why; at most 64.
    pub ended: Vec<StationEnded>,
    pub ended_stations: u32,
    pub facts: Facts,
    /// Counts of this host's station from the first connection on, for a carrier on Ethernet.
    pub carrier: Option<CarrierCounts>,
    pub manner: TransferCapabilities,
    pub whole_files: bool,
    pub blocks: u32,
    /// CPU time of the threads, including data checks.
    pub cpu: CpuTime,
    /// Largest share of time that a thread of this host was busy; `null` if the system does not
    /// report it. Near 1, this host limits the response times.
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
    /// Duration of each, including login and opening the file.
    pub connect: Distribution,
    pub elapsed_ns: u64,
    pub errors: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct BlockCheck {
    pub blocks: u64,
    /// Blocks that were read again and compared at the end, from those written last.
    pub read_back: u64,
    pub read_back_wrong: u64,
    /// Wrong blocks with content from before a confirmed write.
    pub stale: u64,
    /// Wrong blocks with content of another place or station.
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
