//! What carries whole messages between two stations.

/// A session of a carrier, by its number. Numbers are not given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// What a carrier can do for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierFacts {
    /// Octets of the longest message that it carries.
    pub longest_message: u32,
    /// Whether it keeps the length of messages that have no header of their own, so that `READ_RAW`
    /// and `WRITE_RAW` are possible.
    pub keeps_raw: bool,
}
