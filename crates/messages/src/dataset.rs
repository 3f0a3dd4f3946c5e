use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Medium;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetSpec {
    pub seed: u64,
    /// Files by size, in the order of their numbers; at least one, at most 100,000 in total.
    pub groups: Vec<FileGroup>,
    /// Share of zeros in every 4096 bytes, which any compression finds; 0 to 1. At 0 nothing can be
    /// compressed, and no 8 bytes of a file occur twice.
    #[serde(default)]
    pub compressible_ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileGroup {
    pub count: u32,
    pub least_bytes: u64,
    /// Maximum size. Sizes are drawn log-uniformly between the two, like sizes of real files.
    pub most_bytes: u64,
    /// Bytes of all files of the group; absent: as drawn. Drawn sizes are scaled to this sum.
    pub total_bytes: Option<u64>,
}

/// Create a dataset in a directory of this host, or verify an existing one byte for byte.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    pub spec: DatasetSpec,
    /// Directory of its files. Other entries there are left alone.
    pub place: DatasetPlace,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DatasetPlace {
    /// A directory by its absolute path, created if missing.
    Directory(String),
    /// This host's cache of datasets for this user: kept on disk between runs, or in memory until
    /// the engine ends.
    Cache {
        medium: Medium,
        /// Identifies the dataset: 1 to 64 ASCII letters, digits, `-` and `_`.
        key: String,
    },
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct DatasetMade {
    pub directory: String,
    pub files: u64,
    pub bytes: u64,
    /// Files that were written because they were missing or wrong.
    pub written_files: u64,
    /// XXH3 (64 bits, hexadecimal) of all files in order.
    pub xxh3: String,
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropCaches {
    /// The directory, by its absolute path, whose files must at least be dropped.
    pub directory: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CachesDropped {
    pub of: DroppedOf,
    /// Why the other caches were not dropped; `null` if all were.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DroppedOf {
    Everything,
    /// Content of the files in the directory; without names and other metadata.
    Files,
    Nothing,
}
