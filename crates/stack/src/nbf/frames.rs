//! How a station handles a frame.

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::llc::{Control, Header, IDENTIFICATION_LEN, Unnumbered, sap};
use lanlab_wire::nbf::{NameCommand, NameHeader, SessionHeader, permanent_name, value};

use super::session::{Phase, Step};
use super::station::Station;
use super::status;
use crate::carrier::{Event, Stray, Why};
use crate::llc;
use crate::netbios::QueryPace;

impl Station {
    /// Implements [`Carrier::handle_frame`](crate::carrier::Carrier::handle_frame).
    pub(super) fn take_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        let (to, from) = (frame.header.destination, frame.header.source);
        let is_ours = [self.mac, Mac::NETBIOS_GROUP, Mac::BROADCAST].contains(&to);
        let is_llc = frame.header.framing == Framing::Llc;
        if !is_ours || !is_llc || from.is_group() || from == self.mac {
            return Err(Stray::Foreign);
        }
        let pdu = frame.payload;
        let (Some(&destination_sap), Some(&source_sap)) = (pdu.first(), pdu.get(1)) else {
            return Err(Stray::Malformed);
        };
        let header = Header::parse(pdu);
        if let Ok((header, information)) = &header
            && [sap::NULL, sap::GLOBAL, sap::NETBIOS].contains(&destination_sap)
            && self.answer_type_1(from, *header, information)
        {
            return Ok(());
        }
        if destination_sap != sap::NETBIOS {
            return Err(Stray::UnknownSap);
        }
        self.common.counts.received_frames += 1;
        let mut taken = Ok(());
        if let Ok((Header { control: Control::Unnumbered { kind, .. }, .. }, information)) = header
            && kind == Unnumbered::Information
        {
            self.handle_name_frame(now, from, information);
        } else if to != self.mac || source_sap & 0xfe != sap::NETBIOS {
            // A link joins one station and one SAP at each end.
            taken = Err(Stray::UnknownSap);
        } else {
            taken = self.handle_link_frame(now, from, pdu);
        }
        self.settle(now);
        taken
    }

    /// Answer XID and TEST. Returns whether the frame was one of them.
    fn answer_type_1(&mut self, from: Mac, header: Header, information: &[u8]) -> bool {
        let window = self.profile.link.window;
        let Some((mut answer, identification)) = llc::answer_type_1(header, window) else {
            return false;
        };
        if answer.source_sap == sap::GLOBAL {
            answer.source_sap = sap::NULL;
        }
        self.common.counts.received_frames += 1;
        let information = match identification {
            Some(octets) => octets[..IDENTIFICATION_LEN].to_vec(),
            None => information.to_vec(),
        };
        self.common.interface.push_pdu(from, answer, information);
        true
    }

    fn handle_link_frame(&mut self, now: Instant, from: Mac, pdu: &[u8]) -> Result<(), Stray> {
        let header = Header::parse(pdu).map(|(header, _)| header);
        let connect = match &header {
            Ok(Header {
                is_response: false,
                control: Control::Unnumbered { kind: Unnumbered::Connect, poll },
                ..
            }) => Some(*poll),
            _ => None,
        };
        let known = self.peers.all.iter().position(|peer| {
            peer.mac == from && (peer.link.state() != llc::State::Disconnected || connect.is_none())
        });
        if let Some(index) = known {
            let information = self.peers.all[index].link.handle_frame(now, pdu);
            self.handle_link_events(now, index);
            return information
                .map_or(Ok(()), |information| self.handle_session_frame(now, from, information));
        }
        if connect.is_some() {
            self.make_room_for_link(from);
        }
        if let Some(poll) = connect
            && let Some(peer) = self.peers.get(from, &self.profile.link)
        {
            peer.link.accept(now, poll);
            self.leave_link(now, from);
            let index = self.peers.all.iter().position(|peer| peer.mac == from);
            if let Some(index) = index {
                self.handle_link_events(now, index);
            }
            return Ok(());
        }
        if let Some(answer) = header.ok().and_then(llc::answer_without_link) {
            self.common.interface.push_pdu(from, answer, Vec::new());
        } else {
            self.common.counts.unknown_frames += 1;
        }
        Ok(())
    }

    fn session_of(&self, station: Mac, [local, remote]: [u8; 2]) -> Option<usize> {
        self.sessions.iter().position(|session| {
            session.station == station
                && session.phase.uses_link()
                && [session.local_number, session.remote_number] == [local, remote]
        })
    }

    /// A link delivers each frame once, so the message of a malformed frame can never complete.
    fn handle_malformed(&mut self, from: Mac, numbers: [u8; 2]) -> Result<(), Stray> {
        if let Some(index) = self.session_of(from, numbers)
            && self.sessions[index].phase != Phase::Ending
        {
            self.finish(index, value::ABNORMAL_END, Why::MalformedFrame);
        }
        Err(Stray::Malformed)
    }

    fn handle_session_frame(
        &mut self,
        now: Instant,
        from: Mac,
        information: &[u8],
    ) -> Result<(), Stray> {
        let Ok((header, data)) = SessionHeader::parse(information) else {
            if let Some(numbers) = SessionHeader::numbers_of_malformed(information) {
                return self.handle_malformed(from, numbers);
            }
            self.common.counts.unknown_frames += 1;
            return Ok(());
        };
        let numbers = [header.destination_number, header.source_number];
        let Some(index) = self.session_of(from, numbers) else {
            self.common.counts.unknown_session_frames += 1;
            return Ok(());
        };
        let session = &mut self.sessions[index];
        let id = session.id;
        if session.phase == Phase::Ending {
            return Ok(());
        }
        match session.handle_frame(now, &self.profile, &header, data) {
            Step::Nothing => {}
            Step::Opened => {
                if let Some(peer) = self.peers.find(from) {
                    peer.idle_until = None;
                }
                self.announce(index);
            }
            Step::Room => self.common.event(Event::Room(id)),
            Step::Message { is_room } => {
                let mut memory = self.common.memory();
                std::mem::swap(&mut memory, &mut self.sessions[index].receiving.buffer);
                if is_room {
                    self.common.event(Event::Room(id));
                }
                self.common.message(id, memory);
            }
            Step::Ended(Why::Protocol) => {
                self.finish(index, value::ABNORMAL_END, Why::Protocol);
            }
            Step::Ended(why) => self.drop_session(now, id, why),
        }
        Ok(())
    }

    fn handle_name_frame(&mut self, now: Instant, from: Mac, information: &[u8]) {
        let Ok((header, _)) = NameHeader::parse(information) else {
            self.common.counts.unknown_frames += 1;
            return;
        };
        let mut outcomes = Vec::new();
        match header.command {
            NameCommand::AddNameQuery | NameCommand::AddGroupNameQuery => {
                let (claim, output) =
                    ((header.source, header.response_correlator), &mut self.common.interface);
                self.own_name.handle_claim(now, from, claim, output, &mut outcomes);
            }
            NameCommand::AddNameResponse => {
                let claim = (header.source, header.transmit_correlator);
                self.own_name.handle_objection(now, from, claim, &mut outcomes);
            }
            NameCommand::NameInConflict => {
                let (name, correlators) = (header.destination, &mut self.correlators);
                self.own_name.handle_conflict(now, from, name, correlators, &mut outcomes);
                let output = (&mut self.common.interface, &mut self.correlators);
                // Send the repeated claim at once.
                let pace = QueryPace::of(&self.profile);
                self.own_name.handle_timeout(now, pace, output, &mut outcomes);
            }
            NameCommand::NameQuery => self.handle_name_query(now, from, &header),
            NameCommand::NameRecognized => self.handle_recognized(now, from, &header),
            NameCommand::StatusQuery => self.handle_status_query(now, from, &header),
            // We never query the status of other stations.
            NameCommand::StatusResponse => self.common.counts.unknown_frames += 1,
            // Datagrams and the trace commands of IBM's adapters: not supported.
            NameCommand::Datagram
            | NameCommand::DatagramBroadcast
            | NameCommand::TerminateTrace
            | NameCommand::TerminateTraces => {}
        }
        self.report(&outcomes);
    }

    fn handle_name_query(&mut self, now: Instant, from: Mac, header: &NameHeader) {
        if !self.own_name.is(header.destination) {
            return;
        }
        let [number, _] = header.data2.to_le_bytes();
        if number == 0 || number == value::NO_RESOURCES {
            self.recognize(from, header, 0, 0);
        } else {
            self.handle_call(now, from, header);
        }
    }

    fn handle_status_query(&mut self, now: Instant, from: Mac, query: &NameHeader) {
        let is_meant = query.destination == permanent_name(self.mac)
            || query.destination == lanlab_wire::netbios_name::Name::ANY
            || self.own_name.is(query.destination);
        if !is_meant {
            return;
        }
        let facts = status::Facts {
            mac: self.mac,
            minutes: (now.nanos_since(self.started) / 60_000_000_000) as u16,
            name: self.own_name.is_in_conflict().map(|is_in_conflict| (self.name, is_in_conflict)),
            links: self.link_counts(),
            sent_frames: self.common.counts.sent_frames,
            received_frames: self.common.counts.received_frames,
            sessions: self.sessions.len(),
        };
        status::answer(&facts, from, query, &mut self.common.interface);
    }
}
