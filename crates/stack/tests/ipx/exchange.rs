//! Programs of the tests: a client that asks, and a server that counts what it has carried out.

use std::collections::{BTreeMap, VecDeque};

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Event, Node, NotSent, Peer as Called, SessionId, Why};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::Status;

use crate::segment::{Program, Segment, name};

fn message(header: &Header, value: u32) -> Vec<u8> {
    // Two words, and no octets.
    [&header.emit()[..], &[2], &value.to_le_bytes(), &[0, 0]].concat()
}

pub fn request(command: u8, number: u16) -> Vec<u8> {
    let header = Header { pid: 1, mid: number, ..Header::request(command, 0, 0) };
    message(&header, u32::from(number) * 7)
}

/// Requests of a session: the first one asks for a dialect.
pub fn requests(commands: impl IntoIterator<Item = u8>) -> VecDeque<Vec<u8>> {
    let all = std::iter::once(command::NEGOTIATE).chain(commands);
    all.zip(1..).map(|(command, number)| request(command, number)).collect()
}

fn value(message: &[u8]) -> u32 {
    u32::from_le_bytes(message[33..37].try_into().unwrap())
}

#[derive(Debug, Default)]
pub struct Peer {
    pub to_ask: VecDeque<Vec<u8>>,
    pub answers: Vec<u32>,
    /// What was carried out of each session, in order: writes, and all.
    pub writes: BTreeMap<SessionId, Vec<u32>>,
    pub carried_out: u32,
    pub opened: Option<SessionId>,
    pub accepted: Vec<SessionId>,
    pub ended: BTreeMap<SessionId, (Instant, Why)>,
    pub events: Vec<Event>,
    /// A server that does not answer.
    pub is_slow: bool,
    pub unanswered: Vec<(SessionId, Vec<u8>)>,
}

impl Peer {
    pub fn asking(to_ask: VecDeque<Vec<u8>>) -> Self {
        Self { to_ask, ..Self::default() }
    }

    pub fn pump(&mut self, now: Instant, node: &mut Node) {
        let Some(session) = self.opened else { return };
        while let Some(message) = self.to_ask.front() {
            match node.send(now, session, message) {
                Ok(()) => drop(self.to_ask.pop_front()),
                Err(NotSent::Full | NotSent::NoSession) => return,
                Err(NotSent::TooLong) => panic!("{} octets", message.len()),
            }
        }
    }

    pub fn answer(&mut self, now: Instant, node: &mut Node) {
        for (session, message) in std::mem::take(&mut self.unanswered) {
            let _ = node.send(now, session, &message);
        }
    }
}

impl Program for Peer {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, octets: &mut Vec<u8>) {
        match event {
            Event::Opened(session, _) => self.opened = Some(session),
            Event::Accepted { session, .. } => self.accepted.push(session),
            Event::Ended(session, why) => drop(self.ended.insert(session, (now, why))),
            Event::Message(session) => {
                let header = Header::parse(octets).unwrap();
                assert_eq!(header.signature, [0; 8], "numbers of the carrier are its own");
                if header.is_response() {
                    self.answers.push(value(octets));
                } else {
                    self.carried_out += 1;
                    if header.command == command::WRITE {
                        self.writes.entry(session).or_default().push(value(octets));
                    }
                    let answer = header.response(Status::success(0));
                    self.unanswered.push((session, message(&answer, value(octets))));
                    if !self.is_slow {
                        self.answer(now, node);
                    }
                }
            }
            ref event => self.events.push(event.clone()),
        }
        self.pump(now, node);
    }
}

/// Time until every station has its name.
pub const READY: Instant = Instant::from_nanos(3_000_000_000);

pub fn pair(client: Peer, server: Peer, seed: u64) -> Segment<Peer> {
    let nt = profile::WINDOWS_NT;
    let programs = vec![(nt, client), (nt, server)];
    let mut segment = Segment::over(CarrierKind::Ipx, Topology::Cable, programs, seed);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(READY);
    segment
}

pub fn open(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    segment.with(from, |now, node, _| node.open(now, Called::Name(name(to))))
}
