//! What two stations send to one, and what its program asks of it, for the fuzz target and for the test that
//! feeds it all seeds.
//!
//! Each step is an octet that says what is done, then what that takes. Numbers of I frames, sessions and
//! correlators are right if the octets leave them so: otherwise the machines would see nothing but nonsense.

use std::collections::BTreeSet;

use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, Peer, SessionId};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{self, Frame, Framing, Mac};
use lanlab_wire::llc::{Control, Header, Supervisory, Unnumbered};
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, SessionCommand, SessionHeader};
use lanlab_wire::netbios_name::Name;

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// Frames and events that one step may lead to at most.
const MOST_EACH: usize = 2_000;
const STEPS: usize = 400;

/// A station that gets these steps.
pub fn nbf_station(octets: &[u8]) {
    let Some((choice, rest)) = octets.split_first() else { return };
    let mut harness = Harness::new(*choice);
    let mut octets = Octets { rest };
    for _ in 0..STEPS {
        let Some(step) = octets.take() else { break };
        harness.step(step, &mut octets);
        harness.drain();
    }
    // Whatever came: with nothing more, timers come to an end or lie apart.
    for _ in 0..50 {
        let Some(at) = harness.node.poll_timeout() else { break };
        harness.now = harness.now.max(at);
        harness.node.handle_timeout(harness.now);
        harness.drain();
    }
}

struct Octets<'a> {
    rest: &'a [u8],
}

impl Octets<'_> {
    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn octet(&mut self) -> u8 {
        self.take().unwrap_or(0)
    }

    fn some(&mut self, len: usize) -> &[u8] {
        let (some, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        some
    }
}

/// What one of the other stations knows of its link.
#[derive(Default)]
struct Other {
    next: u8,
    expected: u8,
    session: u8,
    correlator: u16,
}

struct Harness {
    node: Node,
    now: Instant,
    others: [Other; 2],
    open: BTreeSet<SessionId>,
    ended: BTreeSet<SessionId>,
    last: SessionId,
    frame: Vec<u8>,
    message: Vec<u8>,
}

fn name(choice: u8) -> Name {
    match choice % 5 {
        0 => Name::new("OWN", 0x20).unwrap_or(NO_NAME),
        1 => Name::new("OTHER", 0).unwrap_or(NO_NAME),
        2 => Name::new("GROUP", 0).unwrap_or(NO_NAME),
        3 => Name::ANY,
        _ => NO_NAME,
    }
}

fn mac(choice: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, 2 + (choice & 1)])
}

impl Harness {
    fn new(choice: u8) -> Self {
        let profile = profile::ALL[usize::from(choice) % profile::ALL.len()];
        let config = NodeConfig::new(OWN, name(0), profile, CarrierKind::Nbf);
        let mut harness = Self {
            node: Node::new(&config, Instant::ZERO),
            now: Instant::ZERO,
            others: Default::default(),
            open: BTreeSet::new(),
            ended: BTreeSet::new(),
            last: SessionId(0),
            frame: Vec::new(),
            message: Vec::new(),
        };
        if choice & 0x40 == 0 {
            harness.node.listen();
        }
        if choice & 0x80 == 0 {
            for _ in 0..8 {
                harness.now = harness.now.plus_nanos(500_000_000);
                harness.node.handle_timeout(harness.now);
                harness.drain();
            }
        }
        harness
    }

    fn step(&mut self, step: u8, octets: &mut Octets<'_>) {
        let who = step >> 7;
        match step & 0x0f {
            0 => {
                let len = usize::from(octets.octet());
                let frame = octets.some(len).to_vec();
                self.node.handle_frame(self.now, &frame);
            }
            1 => {
                let [first, second, flags, len] = [0; 4].map(|_| octets.octet());
                let information = octets.some(usize::from(len)).to_vec();
                let pdu = [&[0xf0, 0xf0 | flags & 1, first, second][..], &information].concat();
                self.give(who, OWN, &pdu);
            }
            2 | 3 => self.name_frame(who, octets),
            4..=6 => self.session_frame(who, octets),
            7 => {
                let kind =
                    [Unnumbered::Connect, Unnumbered::Acknowledgement][usize::from(step >> 4 & 1)];
                self.unnumbered(who, kind, octets.octet());
            }
            8 => {
                let kinds = [
                    Unnumbered::Disconnect,
                    Unnumbered::Disconnected,
                    Unnumbered::FrameReject,
                    Unnumbered::Test,
                ];
                self.unnumbered(who, kinds[usize::from(step >> 4 & 3)], octets.octet());
            }
            9 | 10 => {
                let flags = octets.octet();
                let kind = match flags >> 4 & 3 {
                    0 | 1 => Supervisory::ReceiveReady,
                    2 => Supervisory::ReceiveNotReady,
                    _ => Supervisory::Reject,
                };
                let receive_number = self.receive_number(who, flags);
                let control = Control::Supervisory { kind, receive_number, poll: flags & 1 != 0 };
                self.link_frame(who, control, flags & 2 != 0, &[]);
            }
            11 | 12 => {
                let ms = 1_u64 << (octets.octet() % 16);
                self.now = self.now.plus_nanos(ms * 1_000_000);
                self.node.handle_timeout(self.now);
            }
            _ => self.program(octets),
        }
    }

    fn program(&mut self, octets: &mut Octets<'_>) {
        let choice = octets.octet();
        let (now, last, node) = (self.now, self.last, &mut self.node);
        match choice & 0x0f {
            0 | 1 => {
                self.last = node.open(now, Peer::Name(name(choice >> 4)));
            }
            2 => node.close(now, last),
            3..=6 => {
                let len = usize::from(octets.octet()) * 40;
                let _ = node.send(now, last, &vec![choice; len]);
            }
            7 => node.pause(last),
            8 => node.resume(last),
            _ => {}
        }
    }

    fn give(&mut self, who: u8, to: Mac, pdu: &[u8]) {
        let header = ethernet::Header { destination: to, source: mac(who), framing: Framing::Llc };
        let mut frame = Vec::new();
        if header.emit(pdu.len(), &mut frame).is_ok() {
            frame.extend_from_slice(pdu);
            ethernet::pad(0, &mut frame);
            self.node.handle_frame(self.now, &frame);
        }
    }

    fn link_frame(&mut self, who: u8, control: Control, is_response: bool, information: &[u8]) {
        let header = Header { destination_sap: 0xf0, source_sap: 0xf0, is_response, control };
        let mut pdu = Vec::new();
        header.emit(&mut pdu);
        pdu.extend_from_slice(information);
        self.give(who, OWN, &pdu);
    }

    fn unnumbered(&mut self, who: u8, kind: Unnumbered, flags: u8) {
        if kind == Unnumbered::Connect {
            let other = &mut self.others[usize::from(who)];
            (other.next, other.expected) = (0, 0);
        }
        let is_response = match kind {
            Unnumbered::Connect | Unnumbered::Disconnect | Unnumbered::Test => flags & 0x80 != 0,
            _ => flags & 0x80 == 0,
        };
        let control = Control::Unnumbered { kind, poll: flags & 1 == 0 };
        self.link_frame(who, control, is_response, &[flags; 5][..usize::from(flags % 6)]);
    }

    fn receive_number(&self, who: u8, flags: u8) -> u8 {
        let right = self.others[usize::from(who)].expected;
        if flags & 0xc0 == 0xc0 { flags & 0x7f } else { right }
    }

    fn name_frame(&mut self, who: u8, octets: &mut Octets<'_>) {
        let [command, data1, low, high, names, flags] = [0; 6].map(|_| octets.octet());
        let other = &self.others[usize::from(who)];
        let header = NameHeader {
            command: NameCommand::ALL[usize::from(command) % NameCommand::ALL.len()],
            data1,
            data2: u16::from_le_bytes([low, high]),
            transmit_correlator: if flags & 1 == 0 { other.correlator } else { u16::from(flags) },
            response_correlator: u16::from(flags >> 4),
            destination: name(names),
            source: name(names >> 4),
        };
        let ui = Header {
            destination_sap: 0xf0,
            source_sap: 0xf0,
            is_response: false,
            control: Control::Unnumbered { kind: Unnumbered::Information, poll: false },
        };
        let mut pdu = Vec::new();
        ui.emit(&mut pdu);
        header.emit(&mut pdu);
        pdu.extend_from_slice(octets.some(usize::from(flags >> 2)));
        self.give(who, if flags & 2 == 0 { Mac::NETBIOS_GROUP } else { OWN }, &pdu);
    }

    fn session_frame(&mut self, who: u8, octets: &mut Octets<'_>) {
        let [command, data1, data2, flags, len] = [0; 5].map(|_| octets.octet());
        let receive_number = self.receive_number(who, flags);
        let other = &mut self.others[usize::from(who)];
        let header = SessionHeader {
            command: SessionCommand::ALL[usize::from(command) % SessionCommand::ALL.len()],
            data1,
            data2: u16::from(data2),
            transmit_correlator: other.correlator,
            response_correlator: u16::from(command),
            destination_number: if flags & 4 == 0 { other.session } else { flags },
            source_number: 1 + (flags >> 3 & 1),
        };
        let mut information = Vec::new();
        header.emit(&mut information);
        information.resize(information.len() + usize::from(len) * 5, data1);
        let send_number = if flags & 0x30 == 0x30 { data2 & 0x7f } else { other.next };
        other.next = (send_number + 1) & 0x7f;
        let control = Control::Information { send_number, receive_number, poll: flags & 1 != 0 };
        self.link_frame(who, control, false, &information);
    }

    /// What the station sends and says.
    fn drain(&mut self) {
        for _ in 0..MOST_EACH {
            let mut is_quiet = true;
            while let Some(event) = self.node.poll_event(&mut self.message) {
                is_quiet = false;
                self.handle(&event);
            }
            let mut frame = std::mem::take(&mut self.frame);
            if self.node.poll_transmit(self.now, &mut frame) {
                is_quiet = false;
                self.see(&frame);
            }
            self.frame = frame;
            if is_quiet {
                self.check_time();
                return;
            }
        }
        panic!("more than {MOST_EACH} frames at one time");
    }

    /// What is due is done: a driver that waits for the next time does not spin.
    fn check_time(&mut self) {
        if self.node.poll_timeout().is_some_and(|at| at <= self.now) {
            self.node.handle_timeout(self.now);
            let due = self.node.poll_timeout();
            assert!(due.is_none_or(|at| at > self.now), "due at {due:?}, now {}", self.now);
        }
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Opened(id, _) | Event::Accepted { session: id, .. } => {
                assert!(self.open.insert(*id) && !self.ended.contains(id), "{event:?}");
                self.last = *id;
            }
            Event::Message(id) => {
                assert!(self.open.contains(id) && !self.ended.contains(id), "{event:?}");
                assert!(self.message.len() <= lanlab_stack::nbf::LONGEST_MESSAGE);
            }
            Event::Room(id) => assert!(self.open.contains(id), "{event:?}"),
            Event::Ended(id, _) => assert!(self.ended.insert(*id), "{event:?} twice"),
            Event::Name(_) => {}
        }
    }

    fn see(&mut self, octets: &[u8]) {
        assert!((60..=1514).contains(&octets.len()), "{} octets", octets.len());
        let frame = Frame::parse(octets).unwrap();
        assert_eq!(frame.header.source, OWN);
        let (header, information) = Header::parse(frame.payload).unwrap();
        let who = frame.header.destination.0[5].wrapping_sub(2);
        let Some(other) = self.others.get_mut(usize::from(who)) else {
            if let Ok((name, _)) = NameHeader::parse(information) {
                // A query for all stations: both know how to answer.
                for other in &mut self.others {
                    other.correlator = name.response_correlator;
                }
            }
            return;
        };
        match header.control {
            Control::Information { send_number, .. } => {
                if send_number == other.expected {
                    other.expected = (other.expected + 1) & 0x7f;
                }
                let (session, _) = SessionHeader::parse(information).unwrap();
                if session.response_correlator != 0 {
                    other.correlator = session.response_correlator;
                }
                other.session = session.source_number;
            }
            Control::Unnumbered { kind: Unnumbered::Information, .. } => {
                let (name, _) = NameHeader::parse(information).unwrap();
                other.correlator = name.response_correlator;
                if name.command == NameCommand::NameRecognized {
                    other.session = name.data2.to_le_bytes()[0];
                }
            }
            Control::Unnumbered { kind: Unnumbered::Connect, .. } => {
                (other.next, other.expected) = (0, 0);
            }
            _ => {}
        }
    }
}
