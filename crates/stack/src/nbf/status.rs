//! The state of our adapter, as STATUS RESPONSE tells it.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{AdapterStatus, NameCommand, NameEntry, NameHeader, value};

use super::names::Names;
use super::output::Output;
use super::{LONGEST_DATAGRAM, LONGEST_PART};
use crate::llc;

/// Ethernet (IBM, NCB.STATUS).
const ETHERNET: u8 = 0xfe;
/// NetBIOS 3.0.
const VERSION: [u8; 2] = [3, 0];
/// Most sessions.
const SESSIONS: u16 = 254;

/// What of the station the answer tells.
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

/// Answer a STATUS QUERY: as much as the buffer of the asker takes.
pub(super) fn answer(facts: &Facts<'_>, from: Mac, query: &NameHeader, output: &mut Output) {
    let short = |count: u64| count.min(u64::from(u16::MAX)) as u16;
    let names = facts.names.iter().enumerate().map(|(index, (name, is_group, is_conflict))| {
        let state = if is_conflict { NameEntry::DUPLICATE } else { NameEntry::REGISTERED };
        let group = if is_group { NameEntry::GROUP } else { 0 };
        // Number 1 is the permanent name.
        NameEntry { name, number: (index + 2).min(254) as u8, state: state | group }
    });
    let names: Vec<NameEntry> = names.collect();
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
        name_count: names.len() as u16,
        names,
    };
    let mut data = Vec::new();
    status.emit(&mut data);
    let room = usize::from(query.data2);
    let frame = LONGEST_PART - 32;
    let mut flags = 0;
    if data.len() > room {
        data.truncate(room);
        flags |= value::STATUS_OVERFLOW;
    }
    if data.len() > frame {
        data.truncate(frame);
        flags |= value::STATUS_FRAME_LIMIT;
    }
    let header = NameHeader {
        command: NameCommand::StatusResponse,
        data1: 1,
        data2: flags | data.len() as u16,
        transmit_correlator: query.response_correlator,
        response_correlator: 0,
        destination: query.source,
        source: query.destination,
    };
    output.push(from, header, &data);
}
