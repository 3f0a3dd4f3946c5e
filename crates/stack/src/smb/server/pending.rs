//! Requests of transactions, and what answers them.

/// A request of which not all has come.
#[derive(Debug, Clone)]
pub struct Pending {
    pub mid: u16,
    pub whole: Whole,
    /// Octets that have come.
    pub parameters: usize,
    pub data: usize,
}

/// A whole request.
#[derive(Debug, Clone, Default)]
pub struct Whole {
    pub subcommand: u16,
    pub is_unicode: bool,
    /// Most octets of data in the response.
    pub max_data: usize,
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}

/// Parameters and data of a response.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}
