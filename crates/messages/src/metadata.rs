use lanlab_files::{CarrierCounts, Facts, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuTime, Distribution, Exchanges, HostWindow};

/// Operations on names in a tree of directories. The same for the requests of a trial:
/// `metadata_prepare`, `metadata` and, even if those failed, `metadata_empty`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetadataSpec {
    /// The service, and the directory in it that is worked in.
    pub service: Target,
    /// As of `CopySpec`.
    pub working_name: String,
    /// As of `CopySpec`.
    pub token: String,
    /// Clients at once, each with a connection, a thread and a tree of its own: 1 to 64.
    pub clients: u16,
    /// Empty files of each client, spread over the lowest directories of its tree.
    pub files: u32,
    /// Directories in each directory above the lowest: 1 to 1,000.
    pub width: u16,
    /// Levels of directories below the client's own: 0 to 8.
    pub depth: u16,
    /// A request for this trial that takes longer ends in the error `copy.too_long`, nanoseconds.
    pub longest_ns: u64,
}

/// Make the trial's directory at the service, and mark it. Ends in `metadata_prepared`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetadataPrepare {
    pub spec: MetadataSpec,
}

/// Time the operations, one kind after the other. `ready` comes when all clients are connected; ends
/// in `metadata_measured`, or in the error `metadata.wrong` if a name is there that must not be, or
/// not there that must be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    pub spec: MetadataSpec,
}

/// Remove what the trial wrote, and nothing else. Ends in `metadata_emptied`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetadataEmpty {
    pub spec: MetadataSpec,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MetadataPrepared {
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MetadataMeasured {
    /// Sum of the times of all phases.
    pub elapsed_ns: u64,
    /// Time from the start asked for to the first operation.
    pub start_skew_ns: i64,
    pub phases: Vec<MetadataPhase>,
    pub not_measured: Vec<NotMeasured>,
    /// How long each connection took, login included, before the start.
    pub connect_ns: Vec<u64>,
    pub facts: Facts,
    pub carrier: Option<CarrierCounts>,
    /// CPU time of all clients' threads during the phases.
    pub cpu: CpuTime,
    pub host: Option<HostWindow>,
    /// Names that were compared with the listings of their directories, between the phases.
    pub verified_names: u64,
}

/// All operations of one kind, begun by all clients at once.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MetadataPhase {
    /// `make_directory`, `create`, `stat`, `list`, `open`, `rename`, `remove` or
    /// `remove_directory`.
    pub operation: String,
    pub operations: u64,
    /// From the first client's first operation to the last client's last answer.
    pub elapsed_ns: u64,
    /// From the call to its answer.
    pub time: Distribution,
    /// As of `Copied`.
    pub exchanges: Option<Exchanges>,
}

/// An operation that the service does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotMeasured {
    pub operation: String,
    pub reason: String,
}
