//! The data of a STATUS RESPONSE: the state of an adapter with its names. If the names do not fit
//! into one frame, further frames carry only names.
//!
//! Source: IBM, Local Area Network Technical Reference, NCB.STATUS; the same fields as `ADAPTER_STATUS`
//! and `NAME_BUFFER` of Microsoft's `nb30.h`. All fields little-endian.

use super::FORMAT;
use crate::ethernet::Mac;
use crate::fields::{Field, fields};
use crate::netbios_name::Name;

pub const FIXED_LEN: usize = AdapterStatus::LEN;
/// Octets of a name with its number and state.
pub const ENTRY_LEN: usize = NameEntry::LEN;

fields! {
    NameEntry, Little, FORMAT => {
        name: Name,
        number: u8,
        /// Bit 7: a group name. Bits 2 to 0: 4 registered, 5 deregistered, 6 duplicate.
        state: u8,
    }
}

impl NameEntry {
    pub const REGISTERED: u8 = 0x04;
    pub const DUPLICATE: u8 = 0x06;
}

fields! {
    /// The part before the names.
    AdapterStatus, Little, FORMAT => {
        mac: Mac,
        major_version: u8,
        reserved: u8,
        adapter_type: u8,
        minor_version: u8,
        minutes: u16,
        frame_rejects_received: u16,
        frame_rejects_sent: u16,
        information_receive_errors: u16,
        aborted_transmissions: u16,
        sent_packets: u32,
        received_packets: u32,
        information_send_errors: u16,
        lost_for_buffers: u16,
        t1_expiries: u16,
        ti_expiries: u16,
        reserved_words: [u16; 2],
        control_blocks: [u16; 3],
        send_buffer_shortages: u16,
        longest_datagram_bytes: u16,
        sessions: [u16; 3],
        longest_session_packet_bytes: u16,
        name_count: u16,
    }
}
