//! SMB 1 over two nodes: a file written and read back.

use std::collections::VecDeque;

use lanlab_medium::Topology;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::nbf;
use lanlab_stack::node::{CarrierKind, Event, Node, NotSent, Peer as Called, SessionId, Why};
use lanlab_stack::profile::{self, Profile};
use lanlab_stack::redirector::{Access, Call, Done, FileId, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::llc::{Control, Header};
use lanlab_wire::nbf::{SessionCommand, SessionHeader};
use lanlab_wire::pcap;
use lanlab_wire::smb1::strings::CodePage;

use crate::pace::frames;
use crate::segment::{Program, Segment, mac, name};
use crate::sessions::{ms, pattern};

use lanlab_stack::file_server::memory::MemoryFiles;
use lanlab_stack::files::FileStore;

/// A client that writes a file and reads it back, or a server with files in memory.
pub enum Station {
    Client(Box<Copying>),
    Server(Box<Serving>),
}

pub struct Copying {
    client: Client,
    session: Option<SessionId>,
    waiting: VecDeque<Vec<u8>>,
    octets: Vec<u8>,
    file: Option<FileId>,
    done_bytes: usize,
    read: Vec<u8>,
    /// Octets of a read, if not as many as the server allows.
    read_bytes: Option<u32>,
    pub stage: Stage,
    /// When the stage before ended.
    pub times: Vec<(Stage, Instant)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Connecting,
    Creating,
    Writing,
    ClosingWritten,
    Opening,
    Reading,
    ClosingRead,
    Ending,
}

pub struct Serving {
    server: Server,
    session: Option<(SessionId, Session)>,
    files: MemoryFiles,
    waiting: VecDeque<Vec<u8>>,
}

fn send_waiting(now: Instant, node: &mut Node, id: SessionId, waiting: &mut VecDeque<Vec<u8>>) {
    while let Some(message) = waiting.front() {
        match node.send(now, id, message) {
            Ok(()) => drop(waiting.pop_front()),
            Err(NotSent::Full | NotSent::NoSession) => return,
            Err(NotSent::TooLong) => panic!("{} octets", message.len()),
        }
    }
}

impl Copying {
    pub fn new(dialect: Dialect, octets: Vec<u8>, facts: CarrierFacts) -> Self {
        let client = Client::new(Plan {
            dialect: Some(dialect),
            server: "STATION1".into(),
            share: "share".into(),
            user: None,
            code_page: CodePage::Cp850,
            nonce: [7; 8],
            time: 0,
            raw: false,
            requires_signatures: false,
            carrier: facts,
        });
        Self {
            client,
            session: None,
            waiting: VecDeque::new(),
            octets,
            file: None,
            done_bytes: 0,
            read: vec![],
            read_bytes: None,
            stage: Stage::Connecting,
            times: vec![],
        }
    }

    fn pump(&mut self, now: Instant, node: &mut Node) {
        let (mut message, mut data) = (vec![], vec![]);
        while let Some((_, outcome)) = self.client.poll_done(&mut data) {
            self.times.push((self.stage, now));
            let done = outcome.unwrap_or_else(|refusal| panic!("{:?}: {refusal}", self.stage));
            self.take(&done, &data);
        }
        while self.client.poll_message(&mut message) {
            self.waiting.push_back(message.clone());
        }
        if let Some(id) = self.session {
            send_waiting(now, node, id, &mut self.waiting);
        }
    }

    fn take(&mut self, done: &Done, data: &[u8]) {
        let path = "file.bin";
        match (self.stage, done) {
            (Stage::Connecting, _) => {
                self.stage = Stage::Creating;
                self.client.call(Call::Open { path, access: Access::Create });
            }
            (Stage::Creating, Done::Opened { file, .. }) => {
                self.file = Some(*file);
                self.stage = Stage::Writing;
                self.write();
            }
            (Stage::Writing, Done::Written(count)) => {
                self.done_bytes += *count as usize;
                self.write();
            }
            (Stage::ClosingWritten, _) => {
                self.stage = Stage::Opening;
                self.client.call(Call::Open { path, access: Access::Read });
            }
            (Stage::Opening, Done::Opened { file, size_bytes }) => {
                assert_eq!(*size_bytes, self.octets.len() as u64);
                self.file = Some(*file);
                self.stage = Stage::Reading;
                self.read_on();
            }
            (Stage::Reading, Done::Read(range)) => {
                self.read.extend_from_slice(&data[range.clone()]);
                if self.read.len() < self.octets.len() {
                    self.read_on();
                } else {
                    self.stage = Stage::ClosingRead;
                    let file = self.file.take().unwrap();
                    self.client.call(Call::Close { file });
                }
            }
            (Stage::ClosingRead, _) => self.stage = Stage::Ending,
            (stage, done) => panic!("{done:?} in {stage:?}"),
        }
    }

    fn write(&mut self) {
        let most = self.client.facts().unwrap().write_bytes as usize;
        let file = self.file.unwrap();
        let rest = &self.octets[self.done_bytes..];
        if rest.is_empty() {
            self.stage = Stage::ClosingWritten;
            self.client.call(Call::Close { file });
        } else {
            let parts = [&rest[..most.min(rest.len())], &[][..]];
            self.client.call(Call::Write { file, offset: self.done_bytes as u64, parts });
        }
    }

    fn read_on(&mut self) {
        let count = self.read_bytes.unwrap_or(self.client.facts().unwrap().read_bytes);
        let (file, offset) = (self.file.unwrap(), self.read.len() as u64);
        self.client.call(Call::Read { file, offset, count });
    }
}

impl Serving {
    pub fn new(newest: Dialect) -> Self {
        let server = Server::new(Offer {
            name: "STATION1".into(),
            share: "share".into(),
            user: None,
            read_only: false,
            code_page: CodePage::Cp850,
            dialects: Dialect::Core..=newest,
        });
        let files = MemoryFiles::default();
        Self { server, session: None, files, waiting: VecDeque::new() }
    }

    fn handle_message(&mut self, message: &mut Vec<u8>) {
        let Some((_, session)) = &mut self.session else { return };
        session.handle_message(message);
        loop {
            let (mut data, mut head) = (vec![], vec![]);
            if let Some(call) = session.poll_file_call(&mut data) {
                let answer = self.files.carry_out(call, &mut data);
                session.handle_file_answer(answer, &mut data);
            } else if session.poll_message(&mut head, &mut data) {
                head.extend_from_slice(&data);
                self.waiting.push_back(head);
            } else {
                return;
            }
        }
    }
}

impl Program for Station {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, message: &mut Vec<u8>) {
        match self {
            Self::Client(copying) => {
                match event {
                    Event::Opened(id, _) => copying.session = Some(id),
                    Event::Message(_) => copying.client.handle_message(message),
                    Event::Ended(_, why) => assert_eq!(why, Why::Closed),
                    _ => {}
                }
                copying.pump(now, node);
            }
            Self::Server(serving) => {
                match event {
                    Event::Accepted { session, facts, .. } => {
                        let new = serving.server.session(facts, [7; 8], 0x01d0_0000_0000_0000);
                        serving.session = Some((session, new));
                    }
                    Event::Message(_) => serving.handle_message(message),
                    _ => {}
                }
                if let Some((id, _)) = serving.session {
                    send_waiting(now, node, id, &mut serving.waiting);
                }
            }
        }
    }
}

/// Write a file and read it back. Gives the segment with its capture.
pub fn copy(
    dialect: Dialect,
    profile: Profile,
    size_bytes: usize,
    (lost, read_bytes): (u32, Option<u32>),
) -> Segment<Station> {
    let mut copying = Copying::new(dialect, pattern(5, size_bytes), nbf::FACTS);
    copying.read_bytes = read_bytes;
    let client = Station::Client(Box::new(copying));
    let server = Station::Server(Box::new(Serving::new(dialect)));
    let programs = vec![(profile, client), (profile, server)];
    let mut segment = Segment::new(Topology::Bus, programs, 11);
    let mut capture = vec![];
    pcap::emit_header(&mut capture);
    segment.capture = Some(capture);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    segment.faults.lost = lost;
    let id = segment
        .with(0, |now, node, _| node.open(now, CarrierKind::Nbf, Called::Name(name(1))).unwrap());
    let is_done =
        segment.run_while(ms(3_000_000), |segment| client_of(segment).stage != Stage::Ending);
    assert!(is_done, "{dialect:?} {}: in {:?}", profile.name, client_of(&segment).stage);
    segment.with(0, |now, node, _| node.close(now, id));
    segment.faults.lost = 0;
    segment.run_until(segment.now.plus_nanos(20_000_000_000));
    assert!(client_of(&segment).read == client_of(&segment).octets);
    segment
}

pub fn client_of(segment: &Segment<Station>) -> &Copying {
    match segment.program(0) {
        Station::Client(copying) => copying,
        Station::Server(_) => panic!("the first station is the client"),
    }
}

#[test]
fn a_file_comes_back_in_every_dialect_and_profile() {
    for profile in profile::ALL {
        for dialect in Dialect::ALL {
            copy(dialect, profile, 50_000, (0, None));
        }
    }
}

#[test]
fn a_file_comes_back_although_one_frame_in_twenty_is_lost() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        copy(dialect, profile::WINDOWS_NT, 100_000, (5, None));
    }
}

/// Frames between two times by what they are: I frames from each end by command, and S frames.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    requests: u32,
    data: u32,
    data_acks: u32,
    supervisory: u32,
}

fn count(segment: &Segment<Station>, from: Instant, to: Instant) -> Count {
    let mut count = Count::default();
    let capture = segment.capture.as_ref().unwrap();
    let base_ns = 800_000_000_000_000_000;
    for (at_ns, frame) in frames(&capture[pcap::FILE_HEADER_OCTETS..]) {
        let at = Instant::from_nanos(at_ns - base_ns);
        if at < from || at >= to {
            continue;
        }
        let frame = Frame::parse(frame).unwrap();
        let (header, information) = Header::parse(frame.payload).unwrap();
        match header.control {
            Control::Supervisory { .. } => count.supervisory += 1,
            Control::Information { .. } => {
                let (session, _) = SessionHeader::parse(information).unwrap();
                if session.command == SessionCommand::DataAck {
                    count.data_acks += 1;
                } else if frame.header.source == mac(0) {
                    count.requests += 1;
                } else {
                    count.data += 1;
                }
            }
            Control::Unnumbered { .. } => {}
        }
    }
    count
}

/// What one core READ of 4 KB costs: one request, three frames of data, acknowledgements by the profile.
#[test]
fn a_core_read_of_4_kilobytes_costs_the_frames_that_the_profile_says() {
    let per_read = |profile: Profile| {
        let segment = copy(Dialect::Core, profile, 200_000, (0, Some(4096)));
        let reads: Vec<Instant> = client_of(&segment)
            .times
            .iter()
            .filter(|(stage, _)| *stage == Stage::Reading)
            .map(|(_, at)| *at)
            .collect();
        // Ten reads from the third on: the first one asks for RECEIVE CONTINUE.
        count(&segment, reads[3], reads[13])
    };
    // With piggy-backing no frame only acknowledges a message.
    let nt = per_read(profile::WINDOWS_NT);
    println!("{nt:?}");
    assert_eq!((nt.requests, nt.data, nt.data_acks), (10, 30, 0));
    // N3 of 2: an RR for each second frame that does not go with an I frame.
    assert_eq!(nt.supervisory, 10);
    // Without, each message costs a DATA ACK, and each frame an RR that does not go with an I frame.
    let dos = per_read(profile::DOS);
    println!("{dos:?}");
    assert_eq!((dos.requests, dos.data, dos.data_acks), (10, 30, 20));
}
