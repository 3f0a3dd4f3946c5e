//! What carries whole messages between two stations.

/// What a carrier can do for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierFacts {
    /// Octets of the longest message that it carries.
    pub longest_message: u32,
    /// Whether it keeps the length of messages that have no header of their own: raw data.
    pub keeps_raw: bool,
}
