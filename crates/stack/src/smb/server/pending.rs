//! Pending requests: incomplete transactions, their replies, and waiting locks.

use std::sync::Arc;

use lanlab_units::Instant;
use lanlab_wire::smb1::header::Header;

use crate::file_server::waiting::Ticket;

#[derive(Debug, Clone)]
pub struct Pending {
    pub mid: u16,
    pub whole: Whole,
    pub parameters: usize,
    pub data: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Whole {
    pub subcommand: u16,
    pub is_unicode: bool,
    pub max_data: usize,
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}

#[derive(Debug)]
pub struct Wait {
    pub request: Header,
    pub answer_number: u32,
    pub fid: u16,
    pub offset: u64,
    /// Whether its ranges were encoded with 64 bits.
    pub is_large: bool,
    pub ticket: Arc<Ticket>,
    pub ends_at: Option<Instant>,
}
