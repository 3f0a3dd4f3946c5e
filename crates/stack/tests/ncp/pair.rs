//! A client and a server of files on one segment; a test asks, and time goes on until the answer is there.

use std::collections::VecDeque;

use lanlab_medium::Topology;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::ncp::client::{Client, Plan, User};
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::node::{
    CarrierKind, Event, Node, NodeConfig, NotSent, Peer, SessionId, StationConfig, Why,
};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_stack::profile::netware::NetWare;
use lanlab_stack::redirector::{Access, Call, CallId, Done, FileId, Listed, Redirector, Refusal};
use lanlab_units::Instant;
use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing;
use lanlab_wire::pcap;

use crate::memory_files::MemoryFiles;
use crate::segment::{Program, Segment, frames, mac, name};

/// Time until every station knows its segment.
pub const READY: Instant = Instant::from_nanos(2_000_000_000);
/// Longer than any call waits: twenty tries of at most four seconds.
const LONGEST_CALL_NS: u64 = 90_000_000_000;

/// What a test changes of a pair.
#[derive(Debug, Clone)]
pub struct Setting {
    pub netware: NetWare,
    pub framing: Option<Framing>,
    pub topology: Topology,
    pub user: Option<User>,
    pub password: &'static str,
    pub read_only: bool,
    pub seed: u64,
    pub lost: u32,
    /// Whether the client asks for bursts.
    pub bursts: bool,
}

impl Setting {
    pub fn new(netware: NetWare) -> Self {
        let user = User { name: "joe".into(), password: "secret".into() };
        let framing = Some(framing::RAW_802_3);
        let (password, read_only, topology) = ("SECRET", false, Topology::Cable);
        let (user, seed, lost, bursts) = (Some(user), 1, 0, true);
        Self { netware, framing, topology, user, password, read_only, seed, lost, bursts }
    }
}

pub fn node(index: usize, netware: NetWare, framing: Option<Framing>) -> Node {
    let carriers = CarrierKind::Ncp;
    let config = NodeConfig::new(mac(index), name(index), WINDOWS_NT, carriers);
    let station = StationConfig { netware, framing, network: Some(0x17), ..config.station };
    Node::new(&NodeConfig { station, ..config }, Instant::ZERO)
}

pub enum End {
    Client(Box<Asking>),
    Server(Box<Serving>),
}

#[derive(Default)]
pub struct Asking {
    pub client: Option<Client>,
    plan: Option<Plan>,
    waiting: VecDeque<Vec<u8>>,
    session: Option<SessionId>,
    pub ended: Option<(Instant, Why)>,
    done: Vec<(CallId, Result<Done, Refusal>, Vec<u8>)>,
}

pub struct Serving {
    pub server: Server,
    pub sessions: Vec<(SessionId, Session)>,
    pub files: MemoryFiles,
    waiting: VecDeque<(SessionId, Vec<u8>)>,
    pub ended: Vec<Why>,
    /// Whether it does not answer.
    pub is_slow: bool,
}

impl Asking {
    pub fn new(plan: Plan) -> Self {
        Self { plan: Some(plan), ..Self::default() }
    }

    pub fn handle(&mut self, now: Instant, node: &mut Node, event: &Event, message: &mut Vec<u8>) {
        match event {
            Event::Opened(id, carrier) => {
                self.session = Some(*id);
                let plan = self.plan.take().map(|plan| Plan { carrier: *carrier, ..plan });
                self.client = plan.map(Client::new);
            }
            Event::Message(_) => self.client.as_mut().unwrap().handle_message(message),
            Event::Ended(_, why) => self.ended = Some((now, *why)),
            _ => {}
        }
        self.pump(now, node);
    }

    pub fn begin(&mut self, now: Instant, node: &mut Node, call: Call<'_>) -> CallId {
        let id = self.client.as_mut().unwrap().call(call);
        self.pump(now, node);
        id
    }

    pub fn take_done(&mut self) -> Vec<(CallId, Result<Done, Refusal>)> {
        self.done.drain(..).map(|(id, outcome, _)| (id, outcome)).collect()
    }

    fn pump(&mut self, now: Instant, node: &mut Node) {
        let (Some(client), Some(id)) = (&mut self.client, self.session) else { return };
        let (mut message, mut data) = (vec![], vec![]);
        while let Some((call, outcome)) = client.poll_done(&mut data) {
            self.done.push((call, outcome, std::mem::take(&mut data)));
        }
        while client.poll_message(&mut message) {
            self.waiting.push_back(std::mem::take(&mut message));
        }
        while let Some(message) = self.waiting.front() {
            match node.send(now, id, message) {
                Ok(()) => drop(self.waiting.pop_front()),
                Err(NotSent::Full | NotSent::NoSession) => return,
                Err(NotSent::TooLong) => panic!("{} octets", message.len()),
            }
        }
    }
}

impl Serving {
    pub fn new(server: Server, files: MemoryFiles) -> Self {
        let (sessions, waiting, ended) = (vec![], VecDeque::new(), vec![]);
        Self { server, sessions, files, waiting, ended, is_slow: false }
    }

    pub fn handle(&mut self, now: Instant, node: &mut Node, event: &Event, message: &mut Vec<u8>) {
        match event {
            Event::Accepted { session, facts, .. } => {
                let new = self.server.session(*facts, [7; 8], 0x01d0_0000_0000_0000);
                self.sessions.push((*session, new));
            }
            Event::Message(id) => {
                let known = self.sessions.iter_mut().find(|one| one.0 == *id);
                known.unwrap().1.handle_message(message);
            }
            Event::Ended(id, why) => {
                self.ended.push(*why);
                if let Some(one) = self.sessions.iter_mut().find(|one| one.0 == *id) {
                    one.1.end();
                }
            }
            _ => {}
        }
        if !self.is_slow {
            self.work(now, node);
        }
    }

    pub fn work(&mut self, now: Instant, node: &mut Node) {
        for (id, session) in &mut self.sessions {
            self.waiting
                .extend(self.files.serve(session).into_iter().map(|message| (*id, message)));
        }
        while let Some((id, message)) = self.waiting.pop_front() {
            // A client may have gone.
            let _ = node.send(now, id, &message);
        }
    }
}

impl Program for End {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, message: &mut Vec<u8>) {
        match self {
            Self::Client(asking) => asking.handle(now, node, &event, message),
            Self::Server(serving) => serving.handle(now, node, &event, message),
        }
    }
}

pub struct Pair {
    pub segment: Segment<End>,
    pub id: SessionId,
}

impl Pair {
    pub fn calling(setting: &Setting) -> Self {
        let carrier = CarrierFacts { longest_message: 0, keeps_raw: false, is_one_at_a_time: true };
        let plan = Plan {
            volume: "sys".into(),
            user: setting
                .user
                .clone()
                .map(|user| User { name: user.name, password: setting.password.into() }),
            most_data_bytes: setting.netware.most_data_bytes,
            large_packets: true,
            burst_packets: setting.bursts.then_some(setting.netware.burst_packets),
            carrier,
        };
        let server = Server::new(Offer {
            name: "STATION1".into(),
            volume: "SYS".into(),
            user: setting.user.clone(),
            read_only: setting.read_only,
            netware: setting.netware,
        });
        let asking = Asking::new(plan);
        let serving = Serving::new(server, MemoryFiles::default());
        let ends = vec![
            (node(0, setting.netware, setting.framing), End::Client(Box::new(asking))),
            (node(1, setting.netware, setting.framing), End::Server(Box::new(serving))),
        ];
        let mut segment = Segment::of(setting.topology, ends, setting.seed);
        let mut capture = vec![];
        pcap::emit_header(&mut capture);
        segment.capture = Some(capture);
        segment.keeps_sent = true;
        segment.with(1, |_, node, _| node.listen());
        segment.run_until(READY);
        segment.faults.lost = setting.lost;
        let to = Peer::Name(name(1));
        let id = segment.with(0, |now, node, _| node.open(now, to));
        Self { segment, id }
    }

    pub fn new(setting: &Setting) -> Self {
        let mut pair = Self::calling(setting);
        let connected = pair.outcome(Client::CONNECTED).0;
        assert_eq!(connected, Ok(Done::Nothing));
        pair
    }

    pub fn plan(&mut self, change: impl FnOnce(&mut Plan)) {
        self.segment.with(0, |_, _, end| match end {
            End::Client(asking) => change(asking.plan.as_mut().unwrap()),
            End::Server(_) => panic!(),
        });
    }

    pub fn client(&self) -> &Asking {
        match self.segment.program(0) {
            End::Client(asking) => asking,
            End::Server(_) => panic!("the first station is the client"),
        }
    }

    pub fn server(&self) -> &Serving {
        match self.segment.program(1) {
            End::Server(serving) => serving,
            End::Client(_) => panic!("the second station is the server"),
        }
    }

    pub fn serve<R>(&mut self, act: impl FnOnce(Instant, &mut Node, &mut Serving) -> R) -> R {
        self.segment.with(1, |now, node, end| match end {
            End::Server(serving) => act(now, node, serving),
            End::Client(_) => panic!("the second station is the server"),
        })
    }

    /// What comes of a call, with what was read; the test fails if that takes longer than all repetitions, or the
    /// session ends.
    pub fn outcome(&mut self, id: CallId) -> (Result<Done, Refusal>, Vec<u8>) {
        let until = self.segment.now.plus_nanos(LONGEST_CALL_NS);
        let is_open = |end: &End| match end {
            End::Client(one) => one.done.iter().all(|done| done.0 != id) && one.ended.is_none(),
            End::Server(_) => panic!(),
        };
        let is_done = self.segment.run_while(until, |segment| is_open(segment.program(0)));
        assert!(is_done, "{id:?} is not answered at {:?}", self.segment.now);
        self.segment.with(0, |_, _, end| match end {
            End::Client(one) => {
                let at = one.done.iter().position(|done| done.0 == id);
                let at = at.unwrap_or_else(|| panic!("{:?}", one.ended));
                let (_, outcome, data) = one.done.remove(at);
                (outcome, data)
            }
            End::Server(_) => panic!(),
        })
    }

    pub fn ask(&mut self, call: Call<'_>) -> (Result<Done, Refusal>, Vec<u8>) {
        let id = self.begin(call);
        self.outcome(id)
    }

    pub fn begin(&mut self, call: Call<'_>) -> CallId {
        self.segment.with(0, |now, node, end| match end {
            End::Client(one) => one.begin(now, node, call),
            End::Server(_) => panic!(),
        })
    }

    pub fn done(&mut self, call: Call<'_>) {
        let outcome = self.ask(call).0;
        assert_eq!(outcome, Ok(Done::Nothing), "{call:?}");
    }

    pub fn open(&mut self, path: &str, access: Access) -> Result<(FileId, u64), Refusal> {
        match self.ask(Call::Open { path, access }).0? {
            Done::Opened { file, size_bytes } => Ok((file, size_bytes)),
            other => panic!("{other:?}"),
        }
    }

    pub fn write(&mut self, file: FileId, mut offset: u64, mut octets: &[u8]) {
        while !octets.is_empty() {
            match self.ask(Call::Write { file, offset, parts: [octets, &[]] }).0 {
                Ok(Done::Written(count)) => {
                    octets = &octets[count as usize..];
                    offset += u64::from(count);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    pub fn read(&mut self, file: FileId, offset: u64, count: u32) -> Vec<u8> {
        match self.ask(Call::Read { file, offset, count }) {
            (Ok(Done::Read(range)), data) => data[range].to_vec(),
            (other, _) => panic!("{other:?}"),
        }
    }

    /// A new file with these octets.
    pub fn put(&mut self, path: &str, octets: &[u8]) {
        let (file, _) = self.open(path, Access::Create).unwrap();
        self.write(file, 0, octets);
        self.done(Call::Close { file });
    }

    pub fn get(&mut self, path: &str) -> Vec<u8> {
        let (file, size_bytes) = self.open(path, Access::Read).unwrap();
        let mut all = vec![];
        loop {
            let read = self.read(file, all.len() as u64, u32::MAX);
            if read.is_empty() {
                break;
            }
            all.extend(read);
        }
        assert_eq!(all.len() as u64, size_bytes);
        self.done(Call::Close { file });
        all
    }

    pub fn list(&mut self, path: &str) -> Vec<Listed> {
        match self.ask(Call::List { path }).0 {
            Ok(Done::Listed(listed)) => listed,
            other => panic!("{other:?}"),
        }
    }

    pub fn end(&mut self) {
        self.done(Call::End);
        let id = self.id;
        self.segment.with(0, |now, node, _| node.close(now, id));
        let until = self.segment.now.plus_nanos(LONGEST_CALL_NS);
        self.segment.run_while(until, |segment| match segment.program(0) {
            End::Client(one) => one.ended.is_none(),
            End::Server(_) => panic!(),
        });
        assert_eq!(self.client().ended.map(|ended| ended.1), Some(Why::Closed));
    }

    /// The first frame of a station whose packet of NCP is of this kind.
    pub fn first_packet_of(&self, station: usize, kind: u16) -> Vec<u8> {
        let capture = &self.segment.capture.as_ref().unwrap()[pcap::FILE_HEADER_OCTETS..];
        // Ethernet, IPX without LLC, then the envelope.
        let is_it = |(_, frame): &(u64, &[u8])| {
            frame[6..12] == mac(station).0 && frame[44..46] == kind.to_be_bytes()
        };
        frames(capture).into_iter().find(is_it).unwrap().1.to_vec()
    }

    pub fn counted(&mut self, station: usize, key: &str) -> u64 {
        self.segment.counted(station, key)
    }
}

pub fn pattern(count: usize) -> Vec<u8> {
    crate::pair::pattern(0, count)
}
