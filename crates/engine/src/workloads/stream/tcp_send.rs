//! The sender over TCP: one message is one write, unless the condition joins them.

use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use lanlab_link as link;
use lanlab_link::Usage;
use lanlab_units::Instant;

use super::{Plan, Session, run_flows, worst_end};
use crate::failure::Failure;
use crate::measure::{Pacer, Turn};
use crate::messages::{EndedBy, FlowSent, StreamSend, StreamSent};
use crate::running::{Running, wait_until};
use crate::workloads::setup::{TICK, connect_stream, is_closed, is_idle, tcp_facts};

/// A blocked write comes back so often, to look whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
const CHECK_NS: u64 = 10_000_000;
/// A message that is begun later than this after its slot is counted as late.
const LATE_NS: u64 = 1_000_000;

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
    let flows = flows.into_iter().collect::<Result<Vec<Sent>, Failure>>()?;
    let (ended_by, failure) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Sent) -> u64| flows.iter().map(count).sum::<u64>();
    let max = |count: fn(&Sent) -> u64| flows.iter().map(count).max().unwrap_or(0);
    let sent = StreamSent {
        ended_by,
        io: plan.io,
        burst_messages: plan.group as u64,
        start_skew_ns: flows.iter().map(|flow| flow.start_skew_ns).max().unwrap_or(0),
        elapsed_ns: max(|flow| flow.elapsed_ns),
        offered_messages: sum(|flow| flow.offered_messages),
        sent_messages: sum(|flow| flow.sent_messages),
        refused_messages: 0,
        refused_retried: 0,
        unsent_messages: sum(|flow| flow.unsent_messages),
        late_messages: sum(|flow| flow.late_messages),
        max_lateness_ns: max(|flow| flow.max_lateness_ns),
        total_messages: sum(|flow| flow.total_messages),
        send_buffer_bytes: max(|flow| flow.send_buffer_bytes),
        cpu: flows.iter().fold(Usage::default(), |all, flow| all.plus(flow.cpu)).into(),
        flows: flows.into_iter().map(|flow| flow.facts).collect(),
    };
    Ok((sent, failure))
}

/// What one flow came to.
#[derive(Debug)]
struct Sent {
    ended_by: EndedBy,
    start_skew_ns: i64,
    elapsed_ns: u64,
    offered_messages: u64,
    sent_messages: u64,
    unsent_messages: u64,
    late_messages: u64,
    max_lateness_ns: u64,
    total_messages: u64,
    send_buffer_bytes: u64,
    cpu: Usage,
    facts: FlowSent,
}

/// One flow while it sends.
struct Sender<'a> {
    plan: &'a Plan,
    stream: &'a TcpStream,
    running: &'a Running,
    start: Instant,
    first_slot: Instant,
    warmup_end: Instant,
    end: Option<Instant>,
    pacer: Option<Pacer>,
    message: Vec<u8>,
    measuring: Option<(Instant, Usage)>,
    next_check: Instant,
    last_progress: Instant,
    /// As the system told last.
    acknowledged_bytes: u64,
    sent: Sent,
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        flow: u16,
        stream: &'a TcpStream,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        let first_slot = plan.first_slot(start, flow);
        let mut padding = 0_u8;
        let mut next_octet = || {
            padding = padding.wrapping_mul(5).wrapping_add(113);
            padding
        };
        Self {
            plan,
            stream,
            running,
            start,
            first_slot,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            pacer: plan.pace.map(|pace| Pacer::new(pace, first_slot, plan.group as u64)),
            message: (0..plan.message_bytes).map(|_| next_octet()).collect(),
            measuring: None,
            next_check: start.plus_nanos(CHECK_NS),
            last_progress: start,
            acknowledged_bytes: 0,
            sent: Sent {
                ended_by: EndedBy::Unconfirmed,
                start_skew_ns: 0,
                elapsed_ns: 0,
                offered_messages: 0,
                sent_messages: 0,
                unsent_messages: 0,
                late_messages: 0,
                max_lateness_ns: 0,
                total_messages: 0,
                send_buffer_bytes: 0,
                cpu: Usage::default(),
                facts: FlowSent {
                    local_port: stream.local_addr().map_or(0, |address| address.port()),
                    first_measured: 0,
                    offered_messages: 0,
                    sent_messages: 0,
                    tcp: None,
                },
            },
        }
    }

    fn run(mut self) -> Result<Sent, Failure> {
        let stopped = match self.running.wait_to_begin(self.start) {
            None => Some(EndedBy::Cancelled),
            Some(now) => {
                self.last_progress = now;
                self.sent.start_skew_ns = now.signed_nanos_from(self.start);
                self.send_all()?
            }
        };
        if stopped.is_none() {
            // The last message has its share of the time too.
            link::sleep_until(self.end.unwrap_or_else(|| self.due(Instant::ZERO)));
        }
        let now = link::monotonic();
        if let Some((since, usage)) = self.measuring {
            self.sent.elapsed_ns = now.nanos_since(since);
            self.sent.cpu = link::thread_usage().since(usage);
        }
        if let (Some(pacer), Some(end), Some(_)) = (&self.pacer, self.end, self.measuring) {
            let due = self.plan.slots(self.first_slot, end.min(now));
            self.sent.unsent_messages = due.saturating_sub(pacer.taken());
            self.sent.offered_messages += self.sent.unsent_messages;
        }
        self.sent.ended_by = match stopped {
            Some(ended_by) => ended_by,
            None => self.drain(),
        };
        self.sent.send_buffer_bytes =
            socket2::SockRef::from(self.stream).send_buffer_size().unwrap_or(0) as u64;
        self.sent.facts.tcp = tcp_facts(self.stream);
        self.sent.facts.offered_messages = self.sent.offered_messages;
        self.sent.facts.sent_messages = self.sent.sent_messages;
        Ok(self.sent)
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
            if self.measuring.is_none() && now.max(self.due(now)) >= self.warmup_end {
                let warmup_slots = self.plan.slots(self.first_slot, self.warmup_end);
                if let Some(pacer) = &mut self.pacer {
                    // What the warm-up could not send in its time is not the measured part's.
                    pacer.skip_to(warmup_slots);
                }
                self.measuring = Some((self.due(now), link::thread_usage()));
                self.sent.facts.first_measured = self.sent.total_messages;
            }
            let due = self.due(now);
            let over = match self.end {
                Some(end) => due >= end || (now >= end && now.nanos_since(due) > LATE_NS),
                None => self.messages_left() == 0,
            };
            if over {
                return Ok(None);
            }
            let limit = self.messages_left();
            let turn = match &self.pacer {
                None => Turn::Send(limit.min(self.plan.group as u64)),
                Some(pacer) => pacer.turn(now, pacer.taken().saturating_add(limit)),
            };
            match turn {
                Turn::Wait(until) if until > self.next_check => link::sleep_until(self.next_check),
                Turn::Wait(until) => {
                    wait_until(until);
                }
                Turn::Send(messages) => {
                    if let Some(ended_by) = self.write(messages, now)? {
                        return Ok(Some(ended_by));
                    }
                    self.took(messages, now);
                }
            }
        }
    }

    /// When the next message is due: its slot, or now if there is no schedule.
    fn due(&self, now: Instant) -> Instant {
        self.pacer.as_ref().map_or(now, Pacer::next_slot)
    }

    /// Messages that may still be sent, in the warm-up or in the measured part: a group must not
    /// reach from the one into the other, or beyond the end.
    fn messages_left(&self) -> u64 {
        match (self.measuring, self.plan.messages(), &self.pacer) {
            (Some(_), Some(messages), _) => messages - self.sent.offered_messages,
            (_, _, Some(pacer)) => {
                let end = self.end.filter(|_| self.measuring.is_some()).unwrap_or(self.warmup_end);
                self.plan.slots(self.first_slot, end).saturating_sub(pacer.taken()).max(1)
            }
            _ => u64::MAX,
        }
    }

    fn took(&mut self, messages: u64, began: Instant) {
        if let Some(pacer) = &mut self.pacer {
            let lateness_ns = began.nanos_since(pacer.next_slot());
            pacer.took(messages, began);
            if self.measuring.is_some() {
                self.sent.max_lateness_ns = self.sent.max_lateness_ns.max(lateness_ns);
                self.sent.late_messages += if lateness_ns > LATE_NS { messages } else { 0 };
            }
        }
        self.sent.total_messages += messages;
        if self.measuring.is_some() {
            self.sent.offered_messages += messages;
            self.sent.sent_messages += messages;
        }
        self.running.count(messages, messages * self.plan.message_bytes as u64);
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
