//! Requests that wait: transactions of which not all has come, with what answers them, and locks.

use std::sync::Arc;

use lanlab_units::Instant;
use lanlab_wire::smb1::header::Header;

use crate::file_server::waiting::Ticket;

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

/// A request for locks that waits.
#[derive(Debug)]
pub struct Wait {
    /// Its header, for the answer.
    pub request: Header,
    /// Number of its answer in signatures.
    pub answer_number: u32,
    pub fid: u16,
    /// Where the range begins that was not free.
    pub offset: u64,
    /// Whether its ranges were written with 64 bits.
    pub is_large: bool,
    pub ticket: Arc<Ticket>,
    /// When it gives up.
    pub ends_at: Option<Instant>,
}
