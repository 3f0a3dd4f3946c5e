//! A server for many clients that are not engines, until the driver ends it.
//!
//! One thread accepts clients and their requests; each client with open flows has its own threads, so that the
//! system shares the processors fairly.

mod doors;
mod ledger;
mod line;
mod opening;
mod plain;
mod report;
mod roll;
mod session;
mod visitor;

use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread::Scope;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::room::{GRACE_NS, Places, Standing};
use lanlab_wire::iperf3::{COOKIE_BYTES, State};
use lanlab_workloads::iperf3::{Bounds, Refused};

use doors::Door;
use opening::{Arrivals, Opened};
use roll::Roll;
use session::Session;
use visitor::Visitor;

use crate::cost::{Cost, METERS_BYTES, OWN_THREADS};
use crate::descriptors;
use crate::messages::{
    Failure, Outcome, PeerError, PeerServe, PeerServeEnded, PeerService, Ready, Reply,
    SocketOptions, Transport,
};
use crate::running::{Running, conclude};
use crate::task::Task;
use crate::workloads::setup::{Ports, check_range, listen, socket_address};

/// Maximum concurrent clients.
const MOST_CLIENTS: u64 = 100;
const LONGEST_NS: u64 = 86_400_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
const MOST_RATE_BPS: u64 = 400_000_000_000;
/// iperf3's error for a busy server.
const NO_ROOM: i32 = 121;
const MOST_ATTEMPTS: u32 = 16;
const MOST_SOCKETS: usize = 2048;
/// Memory of a client: in each direction, meters and a buffer for 64 datagrams of maximum length.
const CLIENT_BYTES: u64 = 2 * (64 * 65_536 + METERS_BYTES);
/// Threads of a client: its own, and per direction one that transfers, one that waits, and one that reports
/// progress.
const CLIENT_THREADS: u64 = 7;
/// Polling interval while clients open their flows, and otherwise.
const BUSY: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_millis(20);

fn crowded_out() -> Failure {
    Failure::new("client.crowded_out", "it did not go on, and made room for another client")
}

pub fn serve(request: PeerServe) -> Result<Task, Failure> {
    let ip = request.bind.ip();
    if ip.is_unspecified() || ip.is_multicast() {
        return Err(Failure::value("bind", request.bind, "one address of this host"));
    }
    check_range("clients", request.clients.into(), 1, MOST_CLIENTS)?;
    check_range("longest_ns", request.longest_ns, SECOND_NS, LONGEST_NS)?;
    if let Some(rate_bps) = request.rate_bps {
        check_range("rate_bps", rate_bps, 1, MOST_RATE_BPS)?;
    }
    let clients = u64::from(request.clients);
    let cost = Cost {
        memory_bytes: clients * CLIENT_BYTES,
        threads: OWN_THREADS + clients * CLIENT_THREADS,
    };
    Ok(Task::new(cost, move |running| {
        let ended = run(&request, running)?;
        conclude(Outcome::PeerServeEnded(ended), Some(Failure::cancelled()))
    }))
}

fn run<'a>(request: &'a PeerServe, running: &'a Running) -> Result<PeerServeEnded, Failure> {
    // Two descriptors per connection: reading and writing threads each own one.
    let needed = 2 * (MOST_SOCKETS as u64 + u64::from(request.clients));
    descriptors::provide(needed, "flows of clients")?;
    let (listener, door, port) = open(request)?;
    running.tell_ready(Ready { ports: vec![port], ..Ready::default() });
    let mut roll = Roll::new(running);
    std::thread::scope(|scope| {
        let served = match &door {
            Some(door) => Hall::new(request, &mut roll).serve(&listener, door, scope),
            None => plain::serve(request, &listener, &mut roll, scope),
        };
        // Ends running tests, too.
        running.cancel();
        let ended = roll.finish(IDLE);
        served.map(|()| ended)
    })
}

/// Listen on TCP and, if served, on the same UDP port. A port chosen by the system for one may be in use for the
/// other: then another is chosen.
fn open(request: &PeerServe) -> Result<(TcpListener, Option<Door>, u16), Failure> {
    let only = (request.port, request.port);
    for _ in 0..MOST_ATTEMPTS {
        let mut ports = Ports::new(Transport::Tcp, request.bind, only, 1);
        let listener = ports.take(|port| listen(request.bind, port, &SocketOptions::default()))?;
        let system = |error: std::io::Error| Failure::system("local port", &error);
        let port = listener.local_addr().map_err(system)?.port();
        if request.service != PeerService::Iperf3 {
            return Ok((listener, None, port));
        }
        match Door::open(socket_address(request.bind, port)?) {
            Ok(door) => return Ok((listener, Some(door), port)),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse && request.port == 0 => {}
            Err(error) => {
                let what = format!("UDP port {port} on {}", request.bind);
                return Err(Failure::system(what, &error));
            }
        }
    }
    Err(Failure::new("bind.in_use", "no port is free over TCP and UDP"))
}

/// iperf3 clients before their messages start.
struct Hall<'a, 'b> {
    bounds: Bounds,
    most_clients: usize,
    visitors: Vec<Visitor>,
    roll: &'b mut Roll<'a>,
}

impl<'a, 'b> Hall<'a, 'b> {
    fn new(request: &PeerServe, roll: &'b mut Roll<'a>) -> Self {
        Self {
            bounds: Bounds {
                time_s: request.longest_ns / SECOND_NS,
                rate_bps: request.rate_bps,
                ..Bounds::WIDEST
            },
            most_clients: request.clients.into(),
            visitors: Vec::new(),
            roll,
        }
    }

    fn serve<'scope>(
        mut self,
        listener: &TcpListener,
        door: &Door,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), Failure>
    where
        'a: 'scope,
    {
        let failed = |error: std::io::Error| Failure::system("waiting for clients", &error);
        let mut arrivals = Arrivals::new(listener, COOKIE_BYTES).map_err(failed)?;
        while !self.roll.running.is_cancelled() {
            let wait = if self.visitors.is_empty() { IDLE } else { BUSY };
            arrivals.wait(listener, wait, self.roll).map_err(failed)?;
            // A connection without its cookie has ended.
            let opened = arrivals.spoken.drain(..).map(Opened::of).filter_map(Result::ok);
            opened.for_each(|opened| self.welcome(opened));
            self.converse();
            self.ask_to_open();
            self.answer(door);
            self.begin(scope);
            self.roll.take_results(Duration::ZERO);
        }
        Ok(())
    }

    fn welcome(&mut self, opened: Opened) {
        if let Some(place) = self.visitors.iter().position(|visitor| visitor.awaits(&opened)) {
            if let Err(refused) = self.visitors[place].take_stream(opened.stream) {
                self.refuse(place, refused);
            }
            return;
        }
        if !self.has_room(&opened.address.ip()) {
            self.roll.refused += 1;
            // A new connection has room for one byte.
            let _ = std::io::Write::write(&mut &opened.stream, &[State::AccessDenied as u8]);
            return;
        }
        self.roll.clients += 1;
        self.visitors.push(Visitor::new(self.roll.clients, opened, self.bounds));
    }

    /// Make room for one more client, if necessary by dropping one that began but does not continue.
    fn has_room(&mut self, address: &IpAddr) -> bool {
        let now = os::monotonic();
        let standing = |visitor: &Visitor| {
            let silent_ns = now.nanos_since(visitor.came);
            let is_served = visitor.test.is_some() && silent_ns < GRACE_NS;
            Standing { address: visitor.address.ip(), requests: 0, silent_ns, is_served }
        };
        let all = self.most_clients.saturating_sub(self.roll.len());
        let clients = self.visitors.iter().map(standing).enumerate();
        let Ok(place) = (Places { all, of_one: all }).room(address, clients) else { return false };
        if let Some(place) = place {
            self.refuse(place, Refused { failure: crowded_out(), number: NO_ROOM });
        }
        true
    }

    fn converse(&mut self) {
        let now = os::monotonic();
        let asked = self.visitors.iter().filter_map(|visitor| visitor.test.as_ref());
        let asked: usize = asked.map(visitor::Test::all_flows).sum();
        let mut left = MOST_SOCKETS.saturating_sub(self.roll.sockets() + asked);
        for place in (0..self.visitors.len()).rev() {
            let before = self.visitors[place].test.is_some();
            match self.visitors[place].converse(now, left) {
                Ok(()) => {
                    let test = self.visitors[place].test.as_ref().filter(|_| !before);
                    left -= test.map_or(0, visitor::Test::all_flows);
                }
                Err(refused) => self.refuse(place, refused),
            }
        }
    }

    /// Ask clients to open flows; over UDP one client per address at a time.
    fn ask_to_open(&mut self) {
        let mut busy: Vec<_> = self
            .visitors
            .iter()
            .filter(|visitor| visitor.opens_datagrams())
            .map(|visitor| visitor.address.ip())
            .collect();
        let mut failed = Vec::new();
        for (place, visitor) in self.visitors.iter_mut().enumerate() {
            let is_udp = visitor.is_udp();
            if !visitor.waits_to_open() || is_udp && busy.contains(&visitor.address.ip()) {
                continue;
            }
            if is_udp {
                busy.push(visitor.address.ip());
            }
            if let Err(refused) = visitor.ask_to_open() {
                failed.push((place, refused));
            }
        }
        for (place, refused) in failed.into_iter().rev() {
            self.refuse(place, refused);
        }
    }

    fn answer(&mut self, door: &Door) {
        let mut askers = door.askers();
        while let Some(from) = askers.pop() {
            let opens =
                |visitor: &Visitor| visitor.opens_datagrams() && visitor.address.ip() == from.ip();
            let Some(place) = self.visitors.iter().position(opens) else { continue };
            let visitor = &mut self.visitors[place];
            if visitor.has_flow_from(from) {
                continue;
            }
            match door.connect(from, visitor.datagram_options()) {
                Ok((socket, others)) => {
                    visitor.take_socket(socket);
                    askers.extend(others);
                }
                Err(error) => {
                    let failure = Failure::system("a flow over UDP", &error);
                    self.refuse(place, Refused { failure, number: 124 });
                }
            }
        }
    }

    fn begin<'scope>(&mut self, scope: &'scope Scope<'scope, '_>)
    where
        'a: 'scope,
    {
        let (complete, visitors): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.visitors).into_iter().partition(Visitor::is_complete);
        self.visitors = visitors;
        for visitor in complete {
            let (number, cookie) = (visitor.number, visitor.cookie_text());
            let Some(test) = visitor.test else { continue };
            let entered = self.roll.enter(number, test.all_flows(), None);
            let client = self.roll.client(number, visitor.address.to_string(), cookie);
            let (moving, running) = (Arc::clone(&entered.moving), self.roll.running);
            let session = Session { line: visitor.line, test, moving };
            scope.spawn(move || entered.end(session.run(running, client)));
        }
    }

    fn refuse(&mut self, place: usize, Refused { failure, number }: Refused) {
        let mut visitor = self.visitors.remove(place);
        visitor.line.refuse(number);
        let (address, cookie) = (visitor.address.to_string(), visitor.cookie_text());
        let mut client = self.roll.client(visitor.number, address, cookie);
        client.asked = visitor.test.as_ref().map(visitor::Test::facts);
        client.error = Some(PeerError { code: failure.code.into(), message: failure.message });
        self.roll.running.tell(|_| Reply::PeerClient(Box::new(client)));
    }
}
