use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Medium;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetSpec {
    pub seed: u64,
    /// Files by their sizes, in the order of their numbers; at least one, 100,000 files in all.
    pub groups: Vec<FileGroup>,
    /// Share of every 4096 bytes that is zeros, which any compression finds; 0 to 1. At 0 nothing
    /// can be compressed, and no 8 bytes of a file come twice.
    #[serde(default)]
    pub compressible_ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileGroup {
    pub count: u32,
    pub least_bytes: u64,
    /// Greatest size. Between the two, sizes are drawn so that each doubling is as likely as any
    /// other (log-uniform), as sizes of files are.
    pub most_bytes: u64,
    /// Bytes of all files of the group; absent: what is drawn. Sizes that were drawn are moved
    /// together until their sum is this.
    #[serde(default)]
    pub total_bytes: Option<u64>,
}

/// Make a dataset in a directory of this host, or see that it is there, byte for byte.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    pub spec: DatasetSpec,
    /// Where its files lie. What else lies there is left alone.
    pub place: DatasetPlace,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DatasetPlace {
    /// A directory by its absolute path, made if it is not there.
    Directory(String),
    /// Where this host keeps datasets of this user: on disk from run to run, in memory until the engine
    /// ends.
    Cache {
        medium: Medium,
        /// Identifies the dataset: 1 to 64 ASCII letters, digits, `-` and `_`.
        key: String,
    },
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DatasetMade {
    pub directory: String,
    pub files: u64,
    pub bytes: u64,
    /// Files that had to be written: they were not there, or not as they should be.
    pub written_files: u64,
    /// XXH3 of all files one after the other, 64 bits, hexadecimal.
    pub xxh3: String,
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropCaches {
    /// Whose files are to be forgotten at least: a directory by its absolute path.
    pub directory: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CachesDropped {
    pub of: DroppedOf,
    /// Why not of more; `null` if everything is.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DroppedOf {
    Everything,
    /// Of the content of the files in the directory; not of their names and places.
    Files,
    Nothing,
}
