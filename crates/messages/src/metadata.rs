use lanlab_files::{CarrierCounts, Facts, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, Distribution, Exchanges, HostWindow};

/// Operations on names in a directory tree. The same for all requests of a trial:
/// `metadata_prepare`, `metadata` and, even if those failed, `metadata_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetadataSpec {
    /// The service and its working directory.
    pub service: Target,
    /// As in `CopySpec`.
    pub working_name: String,
    /// As in `CopySpec`.
    pub token: String,
    /// Clients at once, each with its own connection, thread and tree: 1 to 64.
    pub clients: u16,
    /// Empty files of each client, spread over the lowest directories of its tree.
    pub files: u32,
    /// Directories in each directory above the lowest: 1 to 1,000.
    pub width: u16,
    /// Levels of directories below the client's own: 0 to 8.
    pub depth: u16,
    /// Time limit of each request of this trial, nanoseconds. A request that exceeds it ends with
    /// the error `copy.too_long`.
    pub longest_ns: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MetadataPrepared {
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MetadataMeasured {
    /// Sum of the times of all phases.
    pub elapsed_ns: u64,
    /// Time from the requested start to the first operation.
    pub start_skew_ns: i64,
    pub phases: Vec<MetadataPhase>,
    pub not_measured: Vec<NotMeasured>,
    /// Time to open each connection, including login, before the start.
    pub connect_ns: Vec<u64>,
    pub facts: Facts,
    pub carrier: Option<CarrierCounts>,
    /// CPU time of all clients' threads during the phases.
    pub cpu: CpuTime,
    pub host: Option<HostWindow>,
    /// Names compared with directory listings between the phases.
    pub verified_names: u64,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPlaces {
    /// Its share and directory are ignored.
    pub service: Target,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlacesListed {
    pub places: Vec<String>,
}

/// All operations of one kind, started by all clients at once.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MetadataPhase {
    /// `make_directory`, `create`, `stat`, `list`, `open`, `rename`, `remove` or
    /// `remove_directory`.
    pub operation: String,
    pub operations: u64,
    /// From the first client's first operation to the last client's last reply.
    pub elapsed_ns: u64,
    /// From the call to its reply.
    pub time: Distribution,
    /// As of `Copied`.
    pub exchanges: Option<Exchanges>,
}

/// An operation that the service does not support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotMeasured {
    pub operation: String,
    pub reason: String,
}
