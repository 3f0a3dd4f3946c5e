//! A minimal carrier: a new one needs only one file and a row of the table. Each message is one
//! frame, in the node's framing, between IPX addresses; any other station's frame shows the
//! network.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{self, Frame, Framing, Mac};
use lanlab_wire::ipx;

use crate::carrier::{
    BadPeer, Carrier, CarrierFacts, Count, Event, NotSent, Peer, Readiness, SessionId, SessionIds,
    StationConfig, Stray, Why,
};

const FACTS: CarrierFacts =
    CarrierFacts { longest_message: 1400, keeps_raw: true, is_one_at_a_time: false };
const SOCKET: u16 = 0x4000;

const OPEN: u8 = 1;
const ACCEPT: u8 = 2;
const DATA: u8 = 3;
const CLOSE: u8 = 4;

#[derive(Debug)]
struct Session {
    id: SessionId,
    station: Mac,
    is_open: bool,
    is_paused: bool,
    waiting: VecDeque<Vec<u8>>,
}

#[derive(Debug)]
pub struct Toy {
    mac: Mac,
    framing: Framing,
    network: Option<u32>,
    ids: SessionIds,
    is_listening: bool,
    sessions: Vec<Session>,
    frames: VecDeque<Vec<u8>>,
    events: VecDeque<(Event, Vec<u8>)>,
    messages: u64,
}

impl Toy {
    fn push(&mut self, to: Mac, kind: u8, data: &[u8]) {
        let header = ethernet::Header { destination: to, source: self.mac, framing: self.framing };
        let network = self.network.unwrap_or(0).to_be_bytes();
        let payload = [&[kind][..], &network, data].concat();
        let mut frame = Vec::new();
        Frame { header, payload: &payload }.emit(&mut frame).unwrap();
        self.frames.push_back(frame);
    }

    fn event(&mut self, event: Event) {
        self.events.push_back((event, Vec::new()));
    }

    fn address(&self, Mac(node): Mac) -> Peer {
        Peer::Ipx(ipx::Address { network: self.network.unwrap_or(0), node, socket: SOCKET })
    }

    fn begin(&mut self, station: Mac, is_open: bool) -> SessionId {
        let id = self.ids.next();
        let waiting = VecDeque::new();
        self.sessions.push(Session { id, station, is_open, is_paused: false, waiting });
        id
    }

    fn end(&mut self, id: SessionId, why: Why) -> Option<Mac> {
        let index = self.sessions.iter().position(|session| session.id == id)?;
        self.event(Event::Ended(id, why));
        Some(self.sessions.remove(index).station)
    }
}

impl Carrier for Toy {
    fn new(config: &StationConfig, _: Instant) -> Self {
        Self {
            mac: config.mac,
            framing: config.framing.unwrap_or(Framing::Llc),
            network: config.network,
            ids: SessionIds::default(),
            is_listening: false,
            sessions: Vec::new(),
            frames: VecDeque::new(),
            events: VecDeque::new(),
            messages: 0,
        }
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        match hex::decode(name).ok().and_then(|octets| octets.try_into().ok()) {
            Some(node) => Ok(Peer::Ipx(ipx::Address { network: 0, node, socket: SOCKET })),
            None => Err(BadPeer { message: format!("`{name}` is no node"), hint: "12 digits" }),
        }
    }

    fn readiness(&self) -> Readiness {
        if self.network.is_some() { Readiness::Ready } else { Readiness::Waiting }
    }

    fn open(&mut self, _: Instant, to: Peer) -> SessionId {
        let Peer::Ipx(ipx::Address { node, .. }) = to else {
            let id = self.ids.next();
            self.event(Event::Ended(id, Why::AddressFamily));
            return id;
        };
        self.push(Mac(node), OPEN, &[]);
        self.begin(Mac(node), false)
    }

    fn listen(&mut self) {
        self.is_listening = true;
    }

    fn send(&mut self, _: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        let session = self.sessions.iter().find(|session| session.id == to && session.is_open);
        let station = session.ok_or(NotSent::NoSession)?.station;
        if message.len() > FACTS.longest_message as usize {
            return Err(NotSent::TooLong);
        }
        let length = (message.len() as u16).to_be_bytes();
        self.push(station, DATA, &[&length, message].concat());
        self.event(Event::Room(to));
        Ok(())
    }

    fn close(&mut self, _: Instant, session: SessionId) {
        if let Some(station) = self.end(session, Why::Closed) {
            self.push(station, CLOSE, &[]);
        }
    }

    fn pause(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.iter_mut().find(|one| one.id == session) {
            session.is_paused = true;
        }
    }

    fn resume(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.iter_mut().find(|one| one.id == id) {
            session.is_paused = false;
            let waiting = session.waiting.drain(..);
            self.events.extend(waiting.map(|message| (Event::Message(id), message)));
        }
    }

    fn counts(&self) -> Vec<Count> {
        vec![("toy_messages", self.messages)]
    }

    fn handle_frame(&mut self, _: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        let (header, from) = (frame.header, frame.header.source);
        if header.framing != self.framing
            || ![self.mac, Mac::BROADCAST].contains(&header.destination)
        {
            return Err(Stray::Foreign);
        }
        let Some((&[kind, a, b, c, d], data)) = frame.payload.split_first_chunk() else {
            return Err(Stray::Malformed);
        };
        if !(OPEN..=CLOSE).contains(&kind) {
            return Err(Stray::Foreign);
        }
        self.network = self.network.or(Some(u32::from_be_bytes([a, b, c, d])));
        let known = self.sessions.iter_mut().find(|session| session.station == from);
        match (kind, known) {
            (OPEN, None) if self.is_listening => {
                let session = self.begin(from, true);
                let (called, calling) = (self.address(self.mac), self.address(from));
                self.event(Event::Accepted {
                    session,
                    facts: FACTS,
                    station: from,
                    called,
                    calling,
                });
                self.push(from, ACCEPT, &[]);
            }
            (ACCEPT, Some(session)) => {
                session.is_open = true;
                let id = session.id;
                self.event(Event::Opened(id, FACTS));
            }
            (DATA, Some(session)) => {
                // Padding of a short frame looks like data.
                let (length, message) = data.split_first_chunk::<2>().ok_or(Stray::Malformed)?;
                let length = usize::from(u16::from_be_bytes(*length));
                let message = message.get(..length).ok_or(Stray::Malformed)?.to_vec();
                self.messages += 1;
                if session.is_paused {
                    session.waiting.push_back(message);
                } else {
                    self.events.push_back((Event::Message(session.id), message));
                }
            }
            (CLOSE, Some(session)) => {
                let id = session.id;
                self.end(id, Why::ByPeer);
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        let Some(frame) = self.frames.pop_front() else { return false };
        *into = frame;
        true
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        let (event, octets) = self.events.pop_front()?;
        if matches!(event, Event::Message(_)) {
            *message = octets;
        }
        Some(event)
    }
}

#[path = "toy_tests.rs"]
mod tests;
