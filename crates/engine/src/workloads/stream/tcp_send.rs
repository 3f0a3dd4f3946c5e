//! The sender over TCP: one message is one write, unless the condition joins them.

use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use lanlab_link as link;
use lanlab_units::Instant;

use super::course::{Course, Sent, Step, sum_up};
use super::{Plan, Session, run_flows};
use crate::failure::Failure;
use crate::messages::{EndedBy, StreamSend, StreamSent};
use crate::running::{Running, wait_until};
use crate::workloads::padding;
use crate::workloads::setup::{TICK, connect_stream, is_closed, is_idle, tcp_facts};

/// A blocked write comes back so often, to look whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
const CHECK_NS: u64 = 10_000_000;

/// Connect, wait for the start, send, and wait until all has arrived.
pub fn send(
    request: &StreamSend,
    session: &Session,
    running: &Running,
) -> Result<(StreamSent, Option<Failure>), Failure> {
    let plan = &session.plan;
    let peer = SocketAddr::new(request.peer, request.ports[0]);
    let mut streams = Vec::with_capacity(plan.flows.into());
    let mut round_trip_ns = 0;
    for flow in 0..plan.flows {
        let options = &request.spec.socket;
        let (stream, flow_ns) =
            connect_stream(request.bind, peer, options, session.token, flow, running)?;
        stream
            .set_write_timeout(Some(BLOCKED))
            .and_then(|()| stream.set_read_timeout(Some(TICK)))
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.max(flow_ns);
        streams.push(stream);
    }
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;

    let flows = run_flows(streams, running, start, |flow, stream| {
        Sender::new(plan, flow, &stream, running, start).run()
    });
    Ok(sum_up(plan, flows.into_iter().collect::<Result<_, Failure>>()?))
}

/// One flow while it sends.
struct Sender<'a> {
    plan: &'a Plan,
    stream: &'a TcpStream,
    running: &'a Running,
    course: Course<'a>,
    message: Vec<u8>,
    next_check: Instant,
    last_progress: Instant,
    /// As the system told last.
    acknowledged_bytes: u64,
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        flow: u16,
        stream: &'a TcpStream,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        let local_port = stream.local_addr().map_or(0, |address| address.port());
        Self {
            plan,
            stream,
            running,
            course: Course::new(plan, flow, running, start, local_port),
            message: std::iter::repeat_with(padding()).take(plan.message_bytes).collect(),
            next_check: start.plus_nanos(CHECK_NS),
            last_progress: start,
            acknowledged_bytes: 0,
        }
    }

    fn run(mut self) -> Result<Sent, Failure> {
        let stopped = match self.course.wait_to_begin() {
            None => Some(EndedBy::Cancelled),
            Some(now) => {
                self.last_progress = now;
                self.send_all()?
            }
        };
        self.course.close(stopped);
        let ended_by = stopped.unwrap_or_else(|| self.drain());
        let mut sent = self.course.sent;
        sent.ended_by = ended_by;
        sent.send_buffer_bytes =
            socket2::SockRef::from(self.stream).send_buffer_size().unwrap_or(0) as u64;
        sent.tcp = tcp_facts(self.stream);
        Ok(sent)
    }

    fn send_all(&mut self) -> Result<Option<EndedBy>, Failure> {
        loop {
            let now = link::monotonic();
            if now >= self.next_check {
                self.next_check = now.plus_nanos(CHECK_NS);
                if self.running.is_cancelled() {
                    return Ok(Some(EndedBy::Cancelled));
                }
            }
            match self.course.next(now) {
                Step::Measure => {}
                Step::Over => return Ok(None),
                Step::Wait(until) if until > self.next_check => link::sleep_until(self.next_check),
                Step::Wait(until) => {
                    wait_until(until);
                }
                Step::Send(messages) => {
                    if let Some(ended_by) = self.write(messages, now)? {
                        return Ok(Some(ended_by));
                    }
                    self.course.took(messages, messages, now);
                }
            }
        }
    }

    /// Write `messages` messages, begun at `began`: one in one call, or several in one vector.
    fn write(&mut self, messages: u64, began: Instant) -> Result<Option<EndedBy>, Failure> {
        self.last_progress = began;
        let size = self.message.len();
        let mut left = messages as usize * size;
        while left > 0 {
            // What is left of a message that went only in part, then the whole ones.
            let part = left % size;
            let rest = if part == 0 { size } else { part };
            let written = if messages == 1 {
                (&mut &*self.stream).write(&self.message[size - rest..])
            } else {
                let mut slices = [IoSlice::new(&[]); link::BATCH_MESSAGES];
                let count = left.div_ceil(size);
                slices[0] = IoSlice::new(&self.message[size - rest..]);
                for slice in &mut slices[1..count] {
                    *slice = IoSlice::new(&self.message);
                }
                (&mut &*self.stream).write_vectored(&slices[..count])
            };
            match written {
                Ok(0) => return Ok(Some(EndedBy::PeerClosed)),
                Ok(octets) => {
                    left -= octets;
                    if left > 0 {
                        self.last_progress = link::monotonic();
                    }
                }
                Err(error) if is_idle(&error) => {
                    if let Some(ended_by) = self.blocked() {
                        return Ok(Some(ended_by));
                    }
                }
                Err(error) if is_closed(&error) => return Ok(Some(EndedBy::PeerClosed)),
                Err(error) => return Err(Failure::system("write", &error)),
            }
        }
        Ok(None)
    }

    /// The system took nothing for a while: is anybody there?
    fn blocked(&mut self) -> Option<EndedBy> {
        if self.running.is_cancelled() {
            return Some(EndedBy::Cancelled);
        }
        self.is_quiet().then_some(EndedBy::Silence)
    }

    /// Whether nothing has been acknowledged for too long, as far as the system tells.
    fn is_quiet(&mut self) -> bool {
        let now = link::monotonic();
        let acknowledged = link::tcp_info(self.stream).map_or(0, |info| info.acknowledged_bytes);
        if acknowledged > self.acknowledged_bytes {
            self.acknowledged_bytes = acknowledged;
            self.last_progress = now;
        }
        now.nanos_since(self.last_progress) > self.plan.silence_ns
    }

    /// Say that this is all, and wait until the receiver has taken it and closes its end.
    fn drain(&mut self) -> EndedBy {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return EndedBy::PeerClosed;
        }
        self.last_progress = link::monotonic();
        loop {
            match (&mut &*self.stream).read(&mut [0; 64]) {
                Ok(0) => return EndedBy::Finished,
                // A receiver has nothing to say; whatever it is, it is there.
                Ok(_) => self.last_progress = link::monotonic(),
                Err(error) if is_idle(&error) => {
                    if self.running.is_cancelled() {
                        return EndedBy::Cancelled;
                    }
                    if self.is_quiet() {
                        return EndedBy::Unconfirmed;
                    }
                }
                Err(_) => return EndedBy::PeerClosed,
            }
        }
    }
}
