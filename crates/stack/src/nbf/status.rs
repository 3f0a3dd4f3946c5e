//! Our adapter status in STATUS RESPONSE.

use lanlab_wire::ethernet::MAX_PAYLOAD_LEN;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::llc::UNNUMBERED_LEN;
use lanlab_wire::nbf::{
    AdapterStatus, ENTRY_LEN, NAME_HEADER_LEN, NameCommand, NameEntry, NameHeader, value,
};

use super::output::Output;
use super::{LONGEST_DATAGRAM, LONGEST_PART};
use crate::llc;
use crate::netbios::Names;

const ETHERNET: u8 = 0xfe;
/// NetBIOS 3.0.
const VERSION: [u8; 2] = [3, 0];
const LONGEST_STATUS: usize = MAX_PAYLOAD_LEN - UNNUMBERED_LEN - NAME_HEADER_LEN;
const SESSIONS: u16 = 254;

#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) mac: Mac,
    pub(super) minutes: u16,
    pub(super) names: &'a Names,
    pub(super) links: llc::Counts,
    pub(super) sent_frames: u64,
    pub(super) received_frames: u64,
    pub(super) sessions: usize,
}

/// Answer a STATUS QUERY as far as the asker's buffer and a frame allow. A station that asks for more sends the
/// number of names it has, and gets the rest.
pub(super) fn answer(facts: &Facts<'_>, from: Mac, query: &NameHeader, output: &mut Output) {
    let names = entries(facts.names);
    let is_first = query.data1 <= value::STATUS_FIRST;
    let (head, rest) = if is_first {
        (state(facts, names.len()), &names[..])
    } else {
        (Vec::new(), &names[names.len().min(usize::from(query.data1))..])
    };
    let (mut data, room) = (head, usize::from(query.data2));
    let whole = data.len() + rest.len() * ENTRY_LEN;
    let names_fit = room.min(LONGEST_STATUS).saturating_sub(data.len()) / ENTRY_LEN;
    let sent = &rest[..rest.len().min(names_fit)];
    for entry in sent {
        entry.emit(&mut data);
    }
    data.truncate(room);
    let mut flags = 0;
    if whole > room {
        flags |= value::STATUS_OVERFLOW;
    }
    if whole.min(room) > LONGEST_STATUS {
        flags |= value::STATUS_FRAME_LIMIT;
    }
    let sent_before = if is_first { 0 } else { names.len() - rest.len() };
    let data1 = match query.data1 {
        value::STATUS_IN_ONE_FRAME => value::STATUS_IN_ONE_FRAME,
        // At least 1, which marks version 2.1. There are at most 254 names.
        _ => (sent_before + sent.len()).max(1) as u8,
    };
    let header = NameHeader {
        command: NameCommand::StatusResponse,
        data1,
        data2: flags | data.len() as u16,
        transmit_correlator: query.response_correlator,
        response_correlator: 0,
        destination: query.source,
        source: query.destination,
    };
    output.push(from, header, &data);
}

fn entries(names: &Names) -> Vec<NameEntry> {
    let entries = names.iter().enumerate().map(|(index, (name, is_group, is_conflict))| {
        let state = if is_conflict { NameEntry::DUPLICATE } else { NameEntry::REGISTERED };
        let group = if is_group { NameEntry::GROUP } else { 0 };
        // Number 1 is the permanent name.
        NameEntry { name, number: (index + 2).min(254) as u8, state: state | group }
    });
    entries.collect()
}

fn state(facts: &Facts<'_>, name_count: usize) -> Vec<u8> {
    let short = |count: u64| count.min(u64::from(u16::MAX)) as u16;
    let sessions = facts.sessions.min(usize::from(SESSIONS)) as u16;
    let status = AdapterStatus {
        mac: facts.mac,
        version: VERSION,
        adapter_type: ETHERNET,
        minutes: facts.minutes,
        frame_rejects_received: short(facts.links.frame_rejects_received),
        frame_rejects_sent: short(facts.links.frame_rejects_sent),
        information_receive_errors: short(facts.links.information_discarded),
        aborted_transmissions: 0,
        sent_packets: facts.sent_frames.min(u64::from(u32::MAX)) as u32,
        received_packets: facts.received_frames.min(u64::from(u32::MAX)) as u32,
        information_send_errors: short(facts.links.information_sent_again),
        lost_for_buffers: 0,
        t1_expiries: short(facts.links.t1_expiries),
        ti_expiries: short(facts.links.ti_expiries),
        control_blocks: [255, 255, 255],
        send_buffer_shortages: 0,
        longest_datagram_bytes: LONGEST_DATAGRAM as u16,
        sessions: [sessions, SESSIONS, SESSIONS],
        longest_session_packet_bytes: LONGEST_PART as u16,
        name_count: name_count as u16,
        names: Vec::new(),
    };
    let mut data = Vec::new();
    status.emit(&mut data);
    data
}
