//! Measures the time to open a TCP connection. Each connection is then reset.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lanlab_os::socket_options::begin_to_connect;
use lanlab_os::{self as os, Interest, Readiness};
use lanlab_units::Instant;
use lanlab_workloads::echo::{Handed, Heard, Plan};
use parking_lot::Mutex;
use socket2::{SockRef, Socket};

use super::super::requester::{self, Replies, Requests};
use super::super::rest;
use crate::messages::{EchoRequested, Failure, PeerEcho};
use crate::running::Running;
use crate::workloads::setup::{TICK, connect_to_peer, fleeting_socket, is_closed, socket_address};

/// Maximum connections being opened at once. On a schedule, a new one evicts the oldest, which is long overdue.
pub const MOST_AT_ONCE: usize = 100;
/// Placeholder request number of a keep-alive, which probes a silent peer.
const WORD: u64 = u64::MAX;

pub fn request(
    request: &PeerEcho,
    plan: &Plan,
    running: &Running,
) -> Result<EchoRequested, Failure> {
    let peer = socket_address(request.peer, request.port)?;
    let ends = (request.bind, peer);
    let (stream, round_trip_ns) = connect_to_peer(ends, &request.spec.socket, 0, plan.silence_ns)?;
    let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    drop(stream);
    let (plan, start) = super::super::started(plan, round_trip_ns, running)?;
    let system = |error: io::Error| Failure::system("waiting for connections", &error);
    let readiness = Readiness::new(MOST_AT_ONCE).map_err(system)?;
    let opening = Mutex::new(Opening::default());
    let mut requests = Connects {
        request,
        peer,
        opening: &opening,
        readiness: readiness.another().map_err(system)?,
        left_at: start,
    };
    let mut replies = Opened {
        plan: &plan,
        peer,
        opening: &opening,
        readiness,
        ready: VecDeque::new(),
        wait: Duration::from_nanos(plan.timeout_ns).min(TICK),
    };
    requester::run(&plan, request.processor, &mut requests, &mut replies, running, start)
}

/// Connections being opened, indexed by their number, and open ones.
struct Opening {
    places: [Option<(u64, Socket)>; MOST_AT_ONCE],
    /// Closed when the next one is opened, outside the timed round trip.
    open: Vec<Socket>,
}

impl Default for Opening {
    fn default() -> Self {
        Self { places: [const { None }; MOST_AT_ONCE], open: Vec::new() }
    }
}

fn failed(peer: SocketAddr, error: &io::Error) -> Failure {
    Failure::system(format!("connect to {peer}"), error)
}

struct Connects<'a> {
    request: &'a PeerEcho,
    peer: SocketAddr,
    opening: &'a Mutex<Opening>,
    readiness: Readiness,
    left_at: Instant,
}

impl Connects<'_> {
    fn begin(&mut self, number: u64) -> Result<Handed, Failure> {
        drop(std::mem::take(&mut self.opening.lock().open));
        let socket = fleeting_socket((self.request.bind, self.peer), &self.request.spec.socket)?;
        let place = (number % MOST_AT_ONCE as u64) as usize;
        // Locked until the socket is watched, so that the receiving thread knows it.
        let mut opening = self.opening.lock();
        self.left_at = os::monotonic();
        match begin_to_connect(&socket, self.peer) {
            Ok(()) => {}
            Err(error) if is_refused(&error) => return Ok(Handed::Closed),
            Err(error) => return Err(failed(self.peer, &error)),
        }
        self.readiness
            .watch(&socket, place, Interest::Write)
            .map_err(|error| failed(self.peer, &error))?;
        opening.places[place] = Some((number, socket));
        Ok(Handed::Sent)
    }
}

impl Requests for Connects<'_> {
    fn send(&mut self, sequence: u64, _now: Instant) -> Result<Handed, Failure> {
        self.begin(sequence)
    }

    fn left_at(&self, _asked: Instant) -> Instant {
        self.left_at
    }

    fn say_alive(&mut self) {
        // The next request notices a failure.
        let _ = self.begin(WORD);
    }
}

struct Opened<'a> {
    plan: &'a Plan,
    peer: SocketAddr,
    opening: &'a Mutex<Opening>,
    readiness: Readiness,
    ready: VecDeque<usize>,
    wait: Duration,
}

impl Opened<'_> {
    fn look_at(&self, place: usize) -> Result<Option<Heard>, Failure> {
        let mut opening = self.opening.lock();
        let Some((number, socket)) = &opening.places[place] else { return Ok(None) };
        let number = *number;
        let error = match (socket.take_error(), socket.peer_addr()) {
            (Ok(None), Ok(_)) => None,
            (Ok(None), Err(_)) => {
                // If the system cannot report readiness, the socket counts as not connected yet.
                let watched = self.readiness.change(socket, place, Interest::Write);
                return watched.map(|()| None).map_err(|error| failed(self.peer, &error));
            }
            (Ok(Some(error)) | Err(error), _) => Some(error),
        };
        let socket = opening.places[place].take().map(|(_, socket)| socket);
        match error {
            None => {
                opening.open.extend(socket);
                Ok(Some(if number == WORD { Heard::Alive } else { Heard::Reply(number) }))
            }
            Some(error) if is_refused(&error) => Ok(Some(Heard::Closed)),
            // Overdue requests have already been counted.
            Some(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Some(error) => Err(failed(self.peer, &error)),
        }
    }
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused || is_closed(error)
}

impl Replies for Opened<'_> {
    fn next(&mut self) -> Result<Heard, Failure> {
        if self.ready.is_empty() {
            let wait = if self.plan.waits_in_call() { self.wait } else { Duration::ZERO };
            let found = self.readiness.wait(wait);
            self.ready.extend(found.map_err(|error| failed(self.peer, &error))?);
        }
        while let Some(place) = self.ready.pop_front() {
            if let Some(heard) = self.look_at(place)? {
                return Ok(heard);
            }
        }
        rest(self.plan);
        Ok(Heard::Idle)
    }
}
