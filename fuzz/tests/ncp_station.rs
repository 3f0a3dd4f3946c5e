//! Any octets as packets for a station with NetWare's core protocol, whose server and client carry out what they hold,
//! for the fuzz target and for the test that feeds it all seeds: it sends only packets of its own, does what is due,
//! ends no session twice, and leaves no file open.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::files::FileStore;
use lanlab_stack::ncp::client::{Client, Plan, User};
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, Peer, SessionId, StationConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_stack::profile::netware;
use lanlab_stack::redirector::{Access, Call, Done, FileId, Redirector};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx::{Address, Header, NO_CHECKSUM, framing, packet_type, socket};
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind};
use lanlab_wire::ncp::{bindery, burst, directories, files, negotiation, search, watchdog};
use lanlab_wire::netbios_name::{Name, suffix};

use crate::memory_files::MemoryFiles;

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// Packets of one conversation, and frames that a station may send at one time.
const MOST: usize = 64;
const MOST_FRAMES: usize = 1_000;
/// Where the first session of the station's client gets its replies.
const CLIENT: u16 = socket::FIRST_DYNAMIC + 2;

struct Station {
    node: Node,
    now: Instant,
    server: Server,
    sessions: BTreeMap<SessionId, Session>,
    files: MemoryFiles,
    client: Option<(SessionId, Client)>,
    ended: BTreeSet<SessionId>,
    /// The next number of each client, and what the station's client has sent last.
    sequences: [u8; 4],
    asked: Envelope,
    reached: Reached,
}

/// How far a conversation came, for the test that holds the seeds against it.
#[derive(Debug, Clone, Copy, Default)]
#[allow(dead_code, reason = "the fuzz target does not look")]
pub struct Reached {
    /// A client of others had a file opened.
    pub opens: bool,
    /// The station's own client had a file opened.
    pub is_served: bool,
    /// A burst of a client of others was carried out; the station's own client has read by one.
    pub bursts: [bool; 2],
}

/// One conversation: each packet is a kind, two octets, a length, and its data.
pub fn ncp_station(octets: &[u8]) -> Reached {
    parsers(octets);
    let Some((&choice, mut rest)) = octets.split_first() else { return Reached::default() };
    let netware = netware::ALL[usize::from(choice) % 2];
    let name = Name::new("STATION", suffix::SERVER).unwrap();
    let config = NodeConfig::new(OWN, name, WINDOWS_NT, CarrierKind::Ncp);
    let framing = Some(framing::ALL[usize::from(choice >> 1) % 4]);
    let station = StationConfig { netware, framing, network: Some(7), ..config.station };
    let user = User { name: "u".into(), password: "p".into() };
    let server = Server::new(Offer {
        name: "STATION".into(),
        volume: "SYS".into(),
        user: (choice & 8 != 0).then_some(user),
        read_only: choice & 16 != 0,
        netware,
    });
    let mut station = Station {
        node: Node::new(&NodeConfig { station, ..config }, Instant::ZERO),
        now: Instant::ZERO,
        server,
        sessions: BTreeMap::new(),
        files: MemoryFiles::default(),
        client: None,
        ended: BTreeSet::new(),
        sequences: [0; 4],
        asked: Envelope { kind: 0, sequence: 0, connection: 0, task: 0 },
        reached: Reached::default(),
    };
    for _ in 0..MOST {
        let Some((&[kind, who, value, length], data)) = rest.split_first_chunk() else { break };
        let (data, after) = data.split_at(data.len().min(usize::from(length)));
        rest = after;
        station.step(kind, who, value, data);
        station.drain();
    }
    for session in station.sessions.values_mut() {
        session.end();
    }
    station.serve();
    assert_eq!((station.files.open(), station.server.open_files()), (0, 0));
    station.reached
}

/// Each message alone: what is read is written the same.
fn parsers(octets: &[u8]) {
    let mut again = Vec::new();
    macro_rules! check {
        ($($type:path),*) => {$(
            if let Ok(message) = <$type>::parse(octets) {
                again.clear();
                message.emit(&mut again);
                assert!(octets.starts_with(&again), stringify!($type));
            }
        )*};
    }
    check!(
        bindery::PlainLogin,
        bindery::KeyedLogin,
        bindery::Named,
        bindery::Scan,
        bindery::Object
    );
    check!(directories::Allocate, directories::Rename, directories::Volume, directories::Whole);
    check!(files::Open, files::OfPath, files::Rename, files::Read, files::Write, files::Opened);
    check!(search::Search, search::Continue, search::Found, search::Begun);
    check!(negotiation::ServerInformation, negotiation::Moment, watchdog::Watchdog);
    check!(burst::Operation, burst::ReadReply, burst::WriteReply, burst::Offer, burst::Accepted);
    if let Ok(packet) = burst::Packet::parse(octets) {
        again.clear();
        packet.header.emit(&packet.missing().collect::<Vec<_>>(), packet.data, &mut again);
        assert!(octets.starts_with(&again), "burst");
    }
    let _ = (burst::parse_data(octets), burst::parse_result(octets));
    let _ = (files::parse_data(1, octets), search::plain_pattern(octets));
}

impl Station {
    fn step(&mut self, kind: u8, who: u8, value: u8, data: &[u8]) {
        match kind % 8 {
            0 => self.node.listen(),
            1 => {
                let node = [2, 0, 0, 0, 1, who % 4];
                let peer = match value % 3 {
                    0 => Peer::Ipx(Address { network: 0, node, socket: socket::NCP }),
                    1 => Peer::Nearest,
                    _ => Peer::Name(Name::new("SERVER", suffix::SERVER).unwrap()),
                };
                self.node.open(self.now, peer);
            }
            2 => {
                let until = self.now.plus_nanos(u64::from(value) * u64::from(who) * 10_000_000);
                while let Some(at) = self.node.poll_timeout().filter(|at| *at <= until) {
                    self.now = at.max(self.now);
                    self.node.handle_timeout(self.now);
                    let due = self.node.poll_timeout();
                    assert!(due.is_none_or(|due| due > self.now), "due at {due:?}");
                    self.drain();
                }
                self.now = until;
            }
            3 => self.call(value, &data[..data.len().min(8)]),
            4 => {
                let last = self.sessions.last_key_value().map(|one| *one.0);
                let Some(id) = self.client.as_ref().map(|one| one.0).or(last) else { return };
                match value % 3 {
                    0 => self.node.close(self.now, id),
                    1 => self.node.pause(id),
                    _ => self.node.resume(id),
                }
            }
            5 => self.node.handle_frame(self.now, data),
            7 => self.burst(who, value, data),
            _ => self.packet(who, value, data),
        }
    }

    /// Have the client make a call, of a path made of the data.
    fn call(&mut self, value: u8, data: &[u8]) {
        let Some((_, client)) = &mut self.client else { return };
        let path: String = data.iter().map(|octet| char::from(octet % 26 + b'a')).collect();
        let path = path.as_str();
        let (file, offset) = (FileId(u32::from(value >> 4)), u64::from(value));
        client.call(match value % 8 {
            0 => Call::Open { path, access: Access::Read },
            1 => Call::Open { path, access: Access::Create },
            2 => Call::Read { file, offset, count: 100 },
            3 => Call::Write { file, offset, parts: [data, data] },
            4 => Call::List { path },
            5 => Call::Rename { from: path, to: "other" },
            6 => Call::CheckDirectory { path },
            _ => Call::Close { file },
        });
    }

    /// A packet of a burst of another station, whose total and offset are before what it has.
    fn burst(&mut self, who: u8, value: u8, data: &[u8]) {
        let Some((&[total_high, total, offset_high, offset], data)) = data.split_first_chunk()
        else {
            return;
        };
        let numbers = [[total_high, total], [offset_high, offset]].map(u16::from_be_bytes);
        let ([total, offset], burst) = (numbers.map(u32::from), u16::from(value >> 4));
        let is_reply = value & 4 != 0;
        let own = if is_reply { CLIENT } else { socket::NCP };
        let who = u32::from(who % 4);
        // What the client has said of itself, once the server has given it this connection.
        let client = u32::from(CLIENT) << 16 | 9;
        let (source, destination) = if is_reply { (9, client) } else { (who, who + 1) };
        let ack = burst + u16::from(is_reply);
        let flags = match value & 3 {
            0 => 0,
            1 => burst::flag::END,
            2 => burst::flag::SYSTEM | burst::flag::MISSING,
            _ => burst::flag::SYSTEM | burst::flag::BUSY,
        };
        let header = burst::Header {
            flags,
            source,
            destination,
            burst,
            ack,
            total,
            offset,
            ..burst::Header::default()
        };
        let mut message = Vec::new();
        if value & 3 == 2 {
            header.emit(&[burst::Fragment { offset, length: total as u16 }], &[], &mut message);
        } else {
            header.emit(&[], data, &mut message);
        }
        let other = if is_reply { socket::NCP } else { 0x4003 };
        self.send(who as u8, (own, other), framing::ALL[0], &message);
    }

    /// A packet of another station, with the numbers that make sense if `value` says so.
    fn packet(&mut self, who: u8, value: u8, data: &[u8]) {
        let who = usize::from(who % 4);
        let what =
            [kind::CREATE, kind::REQUEST, kind::REQUEST, kind::DESTROY][usize::from(value) % 4];
        let is_reply = value & 4 != 0;
        let mut message = Vec::new();
        let (mut own, mut other) = (socket::NCP, 0x4003);
        if is_reply {
            (own, other) = (CLIENT, socket::NCP);
            let what = if value & 1 == 0 { kind::REPLY } else { kind::BUSY };
            let (completion, status) = if value & 2 == 0 { (0, 0) } else { (value, 0) };
            let connection =
                if self.asked.kind == kind::CREATE { 9 } else { self.asked.connection };
            let envelope = Envelope { kind: what, connection, ..self.asked };
            Reply { envelope, completion, status }.emit(&mut message);
        } else if value & 8 == 0 {
            match what {
                kind::CREATE => self.sequences[who] = 0,
                _ => self.sequences[who] = self.sequences[who].wrapping_add(1),
            }
            let sequence = self.sequences[who];
            let connection = if value & 32 == 0 { who as u16 + 1 } else { u16::from(value) };
            Envelope { kind: what, sequence, connection, task: 1 }.emit(&mut message);
        } else {
            let sockets = [watchdog::SERVER_SOCKET, CLIENT + 1, socket::SAP, socket::RIP];
            own = sockets[usize::from(value >> 4) % 4];
            other = if own == CLIENT + 1 { watchdog::SERVER_SOCKET } else { 0x4004 };
        }
        message.extend_from_slice(data);
        self.send(who as u8, (own, other), framing::ALL[usize::from(value >> 6)], &message);
    }

    fn send(&mut self, who: u8, (own, other): (u16, u16), framing: Framing, message: &[u8]) {
        let from = Mac([2, 0, 0, 0, 1, who]);
        let source = Address { network: 7, node: from.0, socket: other };
        let destination = Address { network: 7, node: OWN.0, socket: own };
        let (kind, hops) = (packet_type::NCP, 0);
        let header = Header { checksum: NO_CHECKSUM, hops, kind, destination, source };
        let mut frame = Vec::new();
        if framing::emit((OWN, from), framing, &header, message, &mut frame).is_ok() {
            self.node.handle_frame(self.now, &frame);
        }
    }

    /// Carry out what the sessions ask of files, and send what they answer.
    fn serve(&mut self) {
        for (id, session) in &mut self.sessions {
            let (mut head, mut data) = (Vec::new(), Vec::new());
            for calls in 0.. {
                assert!(calls < 10_000, "more than {calls} calls for files at one time");
                if let Some(call) = session.poll_file_call(&mut data) {
                    let answer = self.files.carry_out(call, &mut data);
                    session.handle_file_answer(answer, &mut data);
                } else if session.poll_message(&mut head, &mut data) {
                    let _ = self.node.send(self.now, *id, &[&head[..], &data[..]].concat());
                } else {
                    break;
                }
            }
        }
    }

    fn drain(&mut self) {
        let (mut message, mut frame) = (Vec::new(), Vec::new());
        while let Some(event) = self.node.poll_event(&mut message) {
            match event {
                Event::Opened(id, carrier) => self.client = Some((id, new_client(carrier))),
                Event::Accepted { session: id, facts, .. } => {
                    let new = self.server.session(facts, [7; 8], 0x01d0_0000_0000_0000);
                    assert!(self.sessions.insert(id, new).is_none(), "{id:?} twice");
                }
                Event::Message(id) => {
                    let longest = if message.len() <= 1_470 { 1_470 } else { 1 + (1 << 16) };
                    assert!(!self.ended.contains(&id) && message.len() <= longest);
                    match (self.sessions.get_mut(&id), &mut self.client) {
                        (Some(session), _) => {
                            self.reached.bursts[0] |= message.first() == Some(&0);
                            session.handle_message(&mut message);
                        }
                        (None, Some((_, client))) => client.handle_message(&mut message),
                        (None, None) => panic!("a message of no session"),
                    }
                }
                Event::Ended(id, why) => {
                    assert!(self.ended.insert(id), "{id:?} twice: {why:?}");
                    if let Some(session) = self.sessions.get_mut(&id) {
                        session.end();
                    }
                    self.client.take_if(|client| client.0 == id);
                }
                _ => {}
            }
            self.serve();
            self.talk();
        }
        self.reached.opens |= self.files.open() > 0;
        self.talk();
        for _ in 0..MOST_FRAMES {
            if !self.node.poll_transmit(self.now, &mut frame) {
                return;
            }
            assert!((60..=1514).contains(&frame.len()), "{} octets", frame.len());
            let frame = Frame::parse(&frame).unwrap();
            assert_eq!(frame.header.source, OWN);
            let (packet, _) = framing::packet(&frame).unwrap();
            let (header, data) = Header::parse(packet).unwrap();
            if let Ok((envelope, _)) = Envelope::parse(data)
                && header.source.socket == CLIENT
                && envelope.kind != kind::BURST
            {
                self.asked = envelope;
            }
        }
        panic!("more than {MOST_FRAMES} frames at one time");
    }

    /// Send what the client asks.
    fn talk(&mut self) {
        let Some((id, client)) = &mut self.client else { return };
        let mut message = Vec::new();
        while let Some((_, outcome)) = client.poll_done(&mut message) {
            self.reached.is_served |= matches!(outcome, Ok(Done::Opened { .. }));
            self.reached.bursts[1] |= matches!(outcome, Ok(Done::Read(at)) if at.start == 8);
        }
        while client.poll_message(&mut message) {
            let _ = self.node.send(self.now, *id, &message);
        }
    }
}

fn new_client(carrier: CarrierFacts) -> Client {
    let (volume, user, most_data_bytes) = ("SYS".to_owned(), None, 1024);
    let (large_packets, burst_packets) = (true, Some((24, 10)));
    Client::new(Plan { volume, user, most_data_bytes, large_packets, burst_packets, carrier })
}
