//! Our adapter status in STATUS RESPONSE.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{AdapterStatus, ENTRY_LEN, NameCommand, NameEntry, NameHeader, value};
use lanlab_wire::netbios_name::Name;

use super::output::Output;
use super::{LONGEST_DATAGRAM, LONGEST_PART};
use crate::llc;

const ETHERNET: u8 = 0xfe;
/// NetBIOS 3.0.
const MAJOR_VERSION: u8 = 3;
const SESSIONS: u16 = 254;

#[derive(Debug)]
pub(super) struct Facts {
    pub(super) mac: Mac,
    pub(super) minutes: u16,
    /// Our name, and whether it is in conflict.
    pub(super) name: Option<(Name, bool)>,
    pub(super) links: llc::Counts,
    pub(super) sent_frames: u64,
    pub(super) received_frames: u64,
    pub(super) sessions: usize,
}

/// Answer a STATUS QUERY as far as the asker's buffer allows. A station that asks for more sends the number of names
/// it has; there are no more.
pub(super) fn answer(facts: &Facts, from: Mac, query: &NameHeader, output: &mut Output) {
    let room = usize::from(query.data2);
    let mut data = Vec::new();
    if query.data1 <= value::STATUS_FIRST {
        state(facts).emit(&mut data);
    }
    let name = facts.name.filter(|_| !data.is_empty()).map(|(name, is_in_conflict)| {
        let state = if is_in_conflict { NameEntry::DUPLICATE } else { NameEntry::REGISTERED };
        // Number 1 is the permanent name.
        NameEntry { name, number: 2, state }
    });
    let whole = data.len() + name.map_or(0, |_| ENTRY_LEN);
    if let Some(name) = name.filter(|_| whole <= room) {
        name.emit(&mut data);
    }
    data.truncate(room);
    let flags = if whole > room { value::STATUS_OVERFLOW } else { 0 };
    let header = NameHeader {
        // 1 marks version 2.1.
        data1: query.data1.min(1),
        data2: flags | data.len() as u16,
        transmit_correlator: query.response_correlator,
        ..NameHeader::new(NameCommand::StatusResponse, query.source, query.destination)
    };
    output.push(from, header, &data);
}

fn state(facts: &Facts) -> AdapterStatus {
    let short = |count: u64| count.min(u64::from(u16::MAX)) as u16;
    let sessions = facts.sessions.min(usize::from(SESSIONS)) as u16;
    AdapterStatus {
        mac: facts.mac,
        major_version: MAJOR_VERSION,
        adapter_type: ETHERNET,
        minutes: facts.minutes,
        frame_rejects_received: short(facts.links.frame_rejects_received),
        frame_rejects_sent: short(facts.links.frame_rejects_sent),
        information_receive_errors: short(facts.links.information_discarded),
        sent_packets: facts.sent_frames.min(u64::from(u32::MAX)) as u32,
        received_packets: facts.received_frames.min(u64::from(u32::MAX)) as u32,
        information_send_errors: short(facts.links.information_sent_again),
        t1_expiries: short(facts.links.t1_expiries),
        ti_expiries: short(facts.links.ti_expiries),
        control_blocks: [255, 255, 255],
        longest_datagram_bytes: LONGEST_DATAGRAM as u16,
        sessions: [sessions, SESSIONS, SESSIONS],
        longest_session_packet_bytes: LONGEST_PART as u16,
        name_count: u16::from(facts.name.is_some()),
        ..AdapterStatus::default()
    }
}
