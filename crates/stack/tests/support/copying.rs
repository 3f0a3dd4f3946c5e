//! Programs that copy a file by SMB 1: a client that writes it and reads it back, and a server.

use std::collections::VecDeque;

use lanlab_medium::Topology;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::node::{CarrierKind, Event, Node, NotSent, Peer as Called, SessionId, Why};
use lanlab_stack::profile::Profile;
use lanlab_stack::redirector::{Access, Call, Done, FileId, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_units::Instant;
use lanlab_wire::pcap;

use crate::memory_files::MemoryFiles;
use crate::pair::ms;
use crate::segment::{Faults, Program, Segment, name};

pub enum Station {
    Client(Box<Copying>),
    Server(Box<Serving>),
}

pub struct Copying {
    pub client: Client,
    session: Option<SessionId>,
    waiting: VecDeque<Vec<u8>>,
    pub octets: Vec<u8>,
    file: Option<FileId>,
    done_bytes: usize,
    pub read: Vec<u8>,
    /// Octets of a read, if not as many as the server allows.
    pub read_bytes: Option<u32>,
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
            nonce: [7; 8],
            time: 0,
            raw: false,
            multiplexed: true,
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

    /// From the first answer of a stage to its end.
    pub fn span(&self, stage: Stage) -> (Instant, Instant) {
        let mut times = self.times.iter().filter(|(found, _)| *found == stage).map(|(_, at)| *at);
        (times.nth(1).unwrap(), times.next_back().unwrap())
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
            dialects: Dialect::Core..=newest,
        });
        let files = MemoryFiles::default();
        Self { server, session: None, files, waiting: VecDeque::new() }
    }

    fn handle_message(&mut self, message: &mut Vec<u8>) {
        let Some((_, session)) = &mut self.session else { return };
        session.handle_message(message);
        self.waiting.extend(self.files.serve(session));
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

pub fn client_of(segment: &Segment<Station>) -> &Copying {
    match segment.program(0) {
        Station::Client(copying) => copying,
        Station::Server(_) => panic!("the first station is the client"),
    }
}

/// Write a file and read it back. Gives the segment with its capture.
pub fn copy_over(
    carrier: CarrierKind,
    topology: Topology,
    (profiles, dialect): ([Profile; 2], Dialect),
    copying: Copying,
    (faults, seed): (Faults, u64),
) -> Segment<Station> {
    let client = Station::Client(Box::new(copying));
    let server = Station::Server(Box::new(Serving::new(dialect)));
    let programs = vec![(profiles[0], client), (profiles[1], server)];
    let mut segment = Segment::over(carrier, topology, programs, seed);
    let mut capture = vec![];
    pcap::emit_header(&mut capture);
    segment.capture = Some(capture);
    segment.keeps_sent = true;
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    segment.faults = faults;
    let id = open(&mut segment);
    let is_done =
        segment.run_while(ms(9_000_000), |segment| client_of(segment).stage != Stage::Ending);
    let within = (dialect, profiles[0].name, client_of(&segment).stage);
    assert!(is_done, "{within:?}");
    segment.with(0, |now, node, _| node.close(now, id));
    segment.faults.lost = 0;
    segment.run_until(segment.now.plus_nanos(20_000_000_000));
    assert!(client_of(&segment).read == client_of(&segment).octets);
    segment
}

fn open(segment: &mut Segment<Station>) -> SessionId {
    segment.with(0, |now, node, _| node.open(now, Called::Name(name(1))))
}

/// Requests and answers follow each other: the time of a stage is that of its frames at 10 Mbit/s,
/// each followed by `gap_bytes` and `gap_ns`.
pub fn check_wire_speed(segment: &Segment<Station>, gap_bytes: u32, gap_ns: u64, most: f64) {
    for stage in [Stage::Writing, Stage::Reading] {
        let (from, to) = client_of(segment).span(stage);
        let within = segment.sent.iter().filter(|(at, ..)| (from..to).contains(at));
        let own_ns = |bytes: u32| u64::from(bytes + gap_bytes) * 800 + gap_ns;
        let frames_ns: u64 = within.map(|(_, bytes, _)| own_ns(*bytes)).sum();
        let share = frames_ns as f64 / to.nanos_since(from) as f64;
        println!("{stage:?}: {share:.4}");
        assert!((0.97..=most).contains(&share), "{stage:?}: {share}");
    }
}
