//! Links that an engine can open.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkPlace {
    /// An interface by its name; the engine needs the right to open it (`CAP_NET_RAW`).
    Interface(String),
    /// A packet socket that another process has bound to an interface. It is open in the engine
    /// under this number.
    Descriptor(i32),
    Recorded {
        descriptor: i32,
        /// Absolute path of the file, which must not exist.
        pcap: String,
    },
}
