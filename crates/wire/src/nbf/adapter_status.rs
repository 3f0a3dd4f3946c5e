//! The data of a STATUS RESPONSE: the state of an adapter with its names. If the names do not fit
//! into one frame, further frames carry only names.
//!
//! Source: IBM, Local Area Network Technical Reference, NCB.STATUS; the same fields as `ADAPTER_STATUS`
//! and `NAME_BUFFER` of Microsoft's `nb30.h`. All fields little-endian.

use super::FORMAT;
use crate::ethernet::Mac;
use crate::fields::{Field, Order};
use crate::netbios_name::{NAME_LEN, Name};
use crate::{Error, take};

pub const FIXED_LEN: usize = 60;
/// Octets of a name with its number and state.
pub const ENTRY_LEN: usize = NAME_LEN + 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameEntry {
    pub name: Name,
    pub number: u8,
    /// Bit 7: a group name. Bits 2 to 0: 4 registered, 5 deregistered, 6 duplicate.
    pub state: u8,
}

impl NameEntry {
    pub const REGISTERED: u8 = 0x04;
    pub const DUPLICATE: u8 = 0x06;
    pub const GROUP: u8 = 0x80;

    /// Read consecutive names. An incomplete last name is omitted.
    pub fn parse_all(data: &[u8]) -> impl Iterator<Item = Self> + '_ {
        data.chunks_exact(ENTRY_LEN).map(|entry| Self {
            name: Name(take(entry, 0..NAME_LEN)),
            number: entry[NAME_LEN],
            state: entry[NAME_LEN + 1],
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name.0);
        out.extend_from_slice(&[self.number, self.state]);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterStatus {
    pub mac: Mac,
    pub version: [u8; 2],
    pub adapter_type: u8,
    pub minutes: u16,
    pub frame_rejects_received: u16,
    pub frame_rejects_sent: u16,
    pub information_receive_errors: u16,
    pub aborted_transmissions: u16,
    pub sent_packets: u32,
    pub received_packets: u32,
    pub information_send_errors: u16,
    pub lost_for_buffers: u16,
    pub t1_expiries: u16,
    pub ti_expiries: u16,
    pub control_blocks: [u16; 3],
    pub send_buffer_shortages: u16,
    pub longest_datagram_bytes: u16,
    pub sessions: [u16; 3],
    pub longest_session_packet_bytes: u16,
    pub name_count: u16,
    pub names: Vec<NameEntry>,
}

impl AdapterStatus {
    /// Read the data of a STATUS RESPONSE. It has only the names that fit into the frame.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is shorter than the part before the names.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        if data.len() < FIXED_LEN {
            return Err(Error::Truncated { format: FORMAT, need: FIXED_LEN, got: data.len() });
        }
        let word = |at: usize| u16::from_le_bytes(take(data, at..at + 2));
        let double = |at: usize| u32::from_le_bytes(take(data, at..at + 4));
        let name_count = word(58);
        let names = NameEntry::parse_all(&data[FIXED_LEN..]).take(usize::from(name_count));
        Ok(Self {
            mac: Mac(take(data, 0..6)),
            version: [data[6], data[9]],
            adapter_type: data[8],
            minutes: word(10),
            frame_rejects_received: word(12),
            frame_rejects_sent: word(14),
            information_receive_errors: word(16),
            aborted_transmissions: word(18),
            sent_packets: double(20),
            received_packets: double(24),
            information_send_errors: word(28),
            lost_for_buffers: word(30),
            t1_expiries: word(32),
            ti_expiries: word(34),
            control_blocks: [word(40), word(42), word(44)],
            send_buffer_shortages: word(46),
            longest_datagram_bytes: word(48),
            sessions: [word(50), word(52), word(54)],
            longest_session_packet_bytes: word(56),
            name_count,
            names: names.collect(),
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let version = self.version;
        (self.mac.0, version[0], 0_u8, self.adapter_type, version[1]).write(Order::Little, out);
        [self.minutes, self.frame_rejects_received, self.frame_rejects_sent]
            .write(Order::Little, out);
        [self.information_receive_errors, self.aborted_transmissions].write(Order::Little, out);
        [self.sent_packets, self.received_packets].write(Order::Little, out);
        [self.information_send_errors, self.lost_for_buffers].write(Order::Little, out);
        [self.t1_expiries, self.ti_expiries, 0, 0].write(Order::Little, out);
        (self.control_blocks, self.send_buffer_shortages, self.longest_datagram_bytes)
            .write(Order::Little, out);
        (self.sessions, self.longest_session_packet_bytes, self.name_count)
            .write(Order::Little, out);
        for entry in &self.names {
            entry.emit(out);
        }
    }
}
