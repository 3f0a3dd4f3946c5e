//! A client until its flows are open.

use std::net::{SocketAddr, TcpStream};

use lanlab_os::{self as os, DatagramOptions, DatagramSocket};
use lanlab_units::Instant;
use lanlab_workloads::iperf3::{Asked, Bounds, Refused, Served, Server};
use os::socket_options::{apply_buffers, apply_dscp};

use super::line::Line;
use super::opening::{Cookie, Opened};
use crate::messages::{
    Amount, Failure, Io, PeerAsked, Rate, Receive, SocketOptions, StreamSpec, Timestamps,
    Transport, WhenLate,
};
use crate::workloads::stream::{Plan, choose_sending, plan};

const OPENS_WITHIN_NS: u64 = 15_000_000_000;
/// A client ends its test itself; if it has not within this time after its deadline, the server ends it.
pub const GRACE_S: u64 = 10;
const LONGEST_S: u64 = 86_400;
const SECOND_NS: u64 = 1_000_000_000;
const READ_BYTES: u32 = 256 << 10;
const INTERVAL_NS: u64 = 1_000_000_000;
const SILENCE_NS: u64 = 600_000_000_000;
/// Above this rate, a receiver reads all messages of 200 µs at once.
const BLOCKS_TO_PER_S: u64 = 20_000;
const NOT_POSSIBLE: i32 = 13;
const NO_CONNECTION: i32 = 104;

pub struct Test {
    pub asked: Asked,
    pub plan: Plan,
    pub streams: Vec<TcpStream>,
    pub sockets: Vec<DatagramSocket>,
}

impl Test {
    fn new(asked: Asked) -> Result<Self, Failure> {
        let spec = spec(&asked);
        let mut plan = plan(&spec)?;
        choose_sending(&mut plan, &spec);
        Ok(Self { asked, plan, streams: Vec::new(), sockets: Vec::new() })
    }

    pub fn all_flows(&self) -> usize {
        let (sends, receives) = self.asked.test.directions;
        usize::from(self.asked.test.flows) * (usize::from(sends) + usize::from(receives))
    }

    fn missing(&self) -> usize {
        self.all_flows() - self.streams.len() - self.sockets.len()
    }

    pub fn facts(&self) -> PeerAsked {
        let (test, (sends, receives)) = (&self.asked.test, self.asked.test.directions);
        PeerAsked {
            transport: if test.is_udp { Transport::Udp } else { Transport::Tcp },
            sends,
            receives,
            flows: test.flows,
            message_size_bytes: test.message_bytes as u64,
            rate_bps: test.rate_bps,
            omit_ns: self.asked.omit_s * SECOND_NS,
        }
    }
}

pub struct Visitor {
    pub number: u64,
    pub line: Line,
    pub address: SocketAddr,
    cookie: Cookie,
    pub test: Option<Test>,
    is_asked_to_open: bool,
    pub came: Instant,
    deadline: Instant,
}

impl Visitor {
    pub fn new(number: u64, opened: Opened, bounds: Bounds) -> Self {
        Self {
            number,
            line: Line::new(opened.stream, Server::new(bounds)),
            address: opened.address,
            cookie: opened.cookie,
            test: None,
            is_asked_to_open: false,
            came: os::monotonic(),
            deadline: os::monotonic().plus_nanos(OPENS_WITHIN_NS),
        }
    }

    pub fn cookie_text(&self) -> String {
        let shown = |octet: &u8| if octet.is_ascii_graphic() { char::from(*octet) } else { '?' };
        self.cookie[..self.cookie.len() - 1].iter().map(shown).collect()
    }

    /// Continue the dialogue as far as possible without waiting.
    pub fn converse(&mut self, now: Instant, sockets_left: usize) -> Result<(), Refused> {
        self.line.flush()?;
        if now > self.deadline {
            let failure = Failure::new("client.slow", "the client did not open its flows in 15 s");
            return Err(Refused { failure, number: NO_CONNECTION });
        }
        match self.line.poll()? {
            Some(Served::Asked(asked)) => {
                let refused = |failure| Refused { failure, number: NOT_POSSIBLE };
                let test = Test::new(*asked).map_err(refused)?;
                if test.all_flows() > sockets_left {
                    let (found, allowed) = (test.all_flows(), sockets_left);
                    let failure = Failure::value("parallel", found, format!("{allowed} now"));
                    return Err(Refused { failure, number: NOT_POSSIBLE });
                }
                self.test = Some(test);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the client must wait before opening UDP flows: datagrams do not identify their
    /// client, so only one client of an address opens flows at a time.
    pub fn waits_to_open(&self) -> bool {
        self.test.is_some() && !self.is_asked_to_open
    }

    pub fn opens_datagrams(&self) -> bool {
        self.is_asked_to_open && self.is_udp() && !self.is_complete()
    }

    pub fn is_udp(&self) -> bool {
        self.test.as_ref().is_some_and(|test| test.asked.test.is_udp)
    }

    pub fn ask_to_open(&mut self) -> Result<(), Refused> {
        self.is_asked_to_open = true;
        self.goes_on();
        self.line.server.open_flows();
        self.line.flush()
    }

    pub fn is_complete(&self) -> bool {
        self.is_asked_to_open && self.test.as_ref().is_some_and(|test| test.missing() == 0)
    }

    pub fn awaits(&self, opened: &Opened) -> bool {
        self.is_asked_to_open
            && !self.is_udp()
            && !self.is_complete()
            && self.cookie == opened.cookie
            && self.address.ip() == opened.address.ip()
    }

    pub fn take_stream(&mut self, stream: TcpStream) -> Result<(), Refused> {
        let Some(test) = &mut self.test else { return Ok(()) };
        prepare(&stream, &test.asked).map_err(|failure| {
            let number = if failure.code == "socket.congestion_control" { 134 } else { 124 };
            Refused { failure, number }
        })?;
        test.streams.push(stream);
        self.goes_on();
        Ok(())
    }

    pub fn datagram_options(&self) -> DatagramOptions {
        let Some(test) = &self.test else { return DatagramOptions::default() };
        let buffer_bytes = test.asked.test.buffer_bytes.map(|bytes| bytes as usize);
        DatagramOptions {
            send_buffer_bytes: buffer_bytes,
            receive_buffer_bytes: buffer_bytes,
            dscp: test.asked.dscp,
            ..DatagramOptions::default()
        }
    }

    pub fn has_flow_from(&self, from: SocketAddr) -> bool {
        self.test
            .iter()
            .flat_map(|test| &test.sockets)
            .any(|socket| socket.plain().peer_addr().is_ok_and(|peer| peer == from))
    }

    pub fn take_socket(&mut self, socket: DatagramSocket) {
        if let Some(test) = &mut self.test {
            test.sockets.push(socket);
            self.goes_on();
        }
    }

    fn goes_on(&mut self) {
        self.deadline = os::monotonic().plus_nanos(OPENS_WITHIN_NS);
    }
}

fn prepare(stream: &TcpStream, asked: &Asked) -> Result<(), Failure> {
    let test = &asked.test;
    let buffer_bytes = test.buffer_bytes.map(|bytes| bytes as usize);
    let system = |error: std::io::Error| Failure::system("socket options", &error);
    stream.set_nonblocking(false).map_err(system)?;
    stream.set_nodelay(test.nodelay).map_err(system)?;
    let socket = socket2::SockRef::from(stream);
    apply_buffers(&socket, buffer_bytes, buffer_bytes).map_err(system)?;
    let local = stream.local_addr().map_err(system)?;
    apply_dscp(&socket, local, asked.dscp).map_err(system)?;
    if let Some(name) = &test.congestion {
        os::set_congestion_control(stream, name).map_err(|error| {
            let found = format!("congestion control `{name}`: {error}");
            Failure::new("socket.congestion_control", found)
        })?;
    }
    Ok(())
}

fn spec(asked: &Asked) -> StreamSpec {
    let test = &asked.test;
    let flows = u64::from(test.flows);
    let messages_per_s = test.rate_bps * flows / (8 * test.message_bytes as u64).max(1);
    let is_fast = test.rate_bps == 0 || messages_per_s > BLOCKS_TO_PER_S;
    StreamSpec {
        transport: if test.is_udp { Transport::Udp } else { Transport::Tcp },
        message_size_bytes: test.message_bytes as u32,
        amount: Amount::TimeNs((test.time_s + GRACE_S).min(LONGEST_S) * SECOND_NS),
        rate: (test.rate_bps > 0).then(|| Rate::Bps(test.rate_bps * flows)),
        flows: test.flows,
        threads: Some(1),
        // The rate alone determines the I/O modes.
        io: match (test.is_udp, test.rate_bps) {
            (true, 0) => Io::Batch,
            (true, _) => Io::Auto,
            (false, _) => Io::Single,
        },
        receive: if test.is_udp && is_fast { Receive::Poll } else { Receive::Block },
        read_bytes: READ_BYTES,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        warmup_ns: asked.omit_s * SECOND_NS,
        drain_ns: 0,
        interval_ns: INTERVAL_NS,
        silence_ns: SILENCE_NS,
    }
}
