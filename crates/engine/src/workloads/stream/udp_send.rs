//! The sender over UDP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lanlab_link as link;
use lanlab_link::{DatagramSocket, SendBatch, Usage};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, MESSAGE_LEN, Message, Token};

use super::{Plan, Session, run_flows, worst_end};
use crate::failure::Failure;
use crate::measure::{Pacer, Turn};
use crate::messages::{EndedBy, FlowSent, Io, StreamSend, StreamSent};
use crate::running::{Running, wait_until};
use crate::workloads::setup::{connect_datagram, is_idle, is_no_room, local_port};

/// How often a sender looks for word from its receiver and its driver.
const CHECK_NS: u64 = 10_000_000;
/// The end is said so often in quick succession, then at ever longer intervals: the receiver closes
/// soon after it has heard it, and its answer may be lost a few times.
const QUICK_FINISHES: u32 = 10;
const FINISH_PAUSE_NS: u64 = 5_000_000;
/// A blocked call comes back so often, to look whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
/// Pause before a message is tried again that the system had no room for.
const REFUSED_PAUSE_NS: u64 = 50_000;
/// A message that leaves later than this after its slot is counted as late.
const LATE_NS: u64 = 1_000_000;

/// Connect, wait for the start, send, and agree on the end.
pub fn send(
    request: &StreamSend,
    session: &Session,
    running: &Running,
) -> Result<(StreamSent, Option<Failure>), Failure> {
    let (plan, token) = (&session.plan, session.token);
    let mut sockets = Vec::with_capacity(request.ports.len());
    let mut round_trip_ns = 0;
    for (port, flow) in request.ports.iter().zip(0..) {
        let peer = SocketAddr::new(request.peer, *port);
        let options = &request.spec.socket;
        let connected = connect_datagram(request.bind, peer, options, token, flow, running)?;
        let socket = connected.socket;
        socket
            .enable_local_drop_reports()
            .and_then(|()| socket.plain().set_write_timeout(Some(BLOCKED)))
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.max(connected.round_trip_ns);
        sockets.push(socket);
    }
    let send_buffer_bytes = sockets
        .first()
        .and_then(|socket| socket2::SockRef::from(socket.plain()).send_buffer_size().ok())
        .unwrap_or(0) as u64;
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;

    let flows = run_flows(sockets, running, start, |flow, socket| {
        Sender::new(plan, token, flow, &socket, running, start)?.run()
    });
    let flows = flows.into_iter().collect::<Result<Vec<_>, Failure>>()?;
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
        refused_messages: sum(|flow| flow.refused_messages),
        refused_retried: sum(|flow| flow.refused_retried),
        unsent_messages: sum(|flow| flow.unsent_messages),
        late_messages: sum(|flow| flow.late_messages),
        max_lateness_ns: max(|flow| flow.max_lateness_ns),
        total_messages: sum(|flow| flow.sequence),
        send_buffer_bytes,
        cpu: flows.iter().fold(Usage::default(), |all, flow| all.plus(flow.cpu)).into(),
        flows: flows
            .iter()
            .map(|flow| FlowSent {
                local_port: flow.local_port,
                first_measured: flow.first_measured,
                offered_messages: flow.offered_messages,
                sent_messages: flow.sent_messages,
                tcp: None,
            })
            .collect(),
    };
    Ok((sent, failure))
}

/// What one flow came to.
#[derive(Debug)]
struct Sent {
    ended_by: EndedBy,
    local_port: u16,
    start_skew_ns: i64,
    /// Number of the next message: what was sent in all.
    sequence: u64,
    first_measured: u64,
    elapsed_ns: u64,
    offered_messages: u64,
    sent_messages: u64,
    refused_messages: u64,
    refused_retried: u64,
    unsent_messages: u64,
    late_messages: u64,
    max_lateness_ns: u64,
    cpu: Usage,
}

/// One flow while it sends.
struct Sender<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: &'a DatagramSocket,
    running: &'a Running,
    start: Instant,
    first_slot: Instant,
    warmup_end: Instant,
    end: Option<Instant>,
    layout: Layout,
    batch: SendBatch,
    pacer: Option<Pacer>,
    /// When measuring began, and the CPU time used until then.
    measuring: Option<(Instant, Usage)>,
    marked: bool,
    confirmed: bool,
    next_check: Instant,
    last_heard: Instant,
    last_sent: Instant,
    sent: Sent,
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        socket: &'a DatagramSocket,
        running: &'a Running,
        start: Instant,
    ) -> Result<Self, Failure> {
        let first_slot = plan.first_slot(start, flow);
        let mut padding = 0_u8;
        let batch = SendBatch::new(plan.group, plan.message_bytes, || {
            padding = padding.wrapping_mul(5).wrapping_add(113);
            padding
        });
        let sent = Sent {
            ended_by: EndedBy::Unconfirmed,
            local_port: local_port(socket)?,
            start_skew_ns: 0,
            sequence: 0,
            first_measured: 0,
            elapsed_ns: 0,
            offered_messages: 0,
            sent_messages: 0,
            refused_messages: 0,
            refused_retried: 0,
            unsent_messages: 0,
            late_messages: 0,
            max_lateness_ns: 0,
            cpu: Usage::default(),
        };
        Ok(Self {
            plan,
            token,
            flow,
            socket,
            running,
            start,
            first_slot,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            layout: Layout::of(plan.message_bytes),
            batch,
            pacer: plan.pace.map(|pace| Pacer::new(pace, first_slot, plan.group as u64)),
            measuring: None,
            marked: false,
            confirmed: false,
            next_check: start.plus_nanos(CHECK_NS),
            last_heard: start,
            last_sent: start,
            sent,
        })
    }

    fn run(mut self) -> Result<Sent, Failure> {
        let stopped = match self.running.wait_to_begin(self.start) {
            None => Some(EndedBy::Cancelled),
            Some(now) => {
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
        self.count_unsent(now);
        self.sent.ended_by = match stopped {
            Some(ended_by) => ended_by,
            None => self.agree_on_end()?,
        };
        Ok(self.sent)
    }

    /// Send until the amount is reached. `Some` if something else ended it.
    fn send_all(&mut self) -> Result<Option<EndedBy>, Failure> {
        loop {
            let now = link::monotonic();
            if now >= self.next_check
                && let Some(ended_by) = self.check(now)?
            {
                return Ok(Some(ended_by));
            }
            if self.measuring.is_none() && now.max(self.due(now)) >= self.warmup_end {
                self.begin_measuring(now)?;
            }
            if self.is_over(now) {
                return Ok(None);
            }
            let limit = self.messages_left();
            let turn = match &self.pacer {
                None => Turn::Send(limit.min(self.plan.group as u64)),
                Some(pacer) => pacer.turn(now, pacer.taken().saturating_add(limit)),
            };
            match turn {
                // Wake up now and then to hear from the receiver, however slow the rate.
                Turn::Wait(until) if until > self.next_check => {
                    link::sleep_until(self.next_check);
                }
                Turn::Wait(until) => {
                    wait_until(until);
                }
                Turn::Send(messages) => {
                    if let Some(ended_by) = self.send_group(messages as usize, now)? {
                        return Ok(Some(ended_by));
                    }
                }
            }
        }
    }

    /// When the next message is due: its slot, or now if there is no schedule.
    fn due(&self, now: Instant) -> Instant {
        self.pacer.as_ref().map_or(now, Pacer::next_slot)
    }

    fn begin_measuring(&mut self, now: Instant) -> Result<(), Failure> {
        let warmup_slots = self.plan.slots(self.first_slot, self.warmup_end);
        if let Some(pacer) = &mut self.pacer {
            // What the warm-up could not send in its time is not the measured part's to send.
            pacer.skip_to(warmup_slots);
        }
        self.measuring = Some((self.due(now), link::thread_usage()));
        self.sent.first_measured = self.sent.sequence;
        // Without a warm-up the first message is the first measured one: nothing to tell.
        self.marked = self.plan.warmup_ns == 0;
        if self.marked { Ok(()) } else { self.say_mark() }
    }

    fn is_over(&self, now: Instant) -> bool {
        if let Some(end) = self.end {
            let due = self.due(now);
            // A last message that is due is sent even if its turn comes a moment after the end.
            return due >= end || (now >= end && now.nanos_since(due) > LATE_NS);
        }
        self.messages_left() == 0
    }

    /// Messages that may still be sent, in the warm-up or in the measured part.
    fn messages_left(&self) -> u64 {
        if let (Some(_), Some(messages)) = (self.measuring, self.plan.messages()) {
            return messages - self.sent.offered_messages;
        }
        // A group must not reach from the warm-up into the measured part, nor beyond its end.
        let part_end = if self.measuring.is_none() { Some(self.warmup_end) } else { self.end };
        match (&self.pacer, part_end) {
            (Some(pacer), Some(end)) => {
                self.plan.slots(self.first_slot, end).saturating_sub(pacer.taken()).max(1)
            }
            _ => u64::MAX,
        }
    }

    /// Hand over `count` messages, or as many as the system takes.
    fn send_group(&mut self, count: usize, now: Instant) -> Result<Option<EndedBy>, Failure> {
        let count = count.clamp(1, self.plan.group);
        for index in 0..count {
            let header = Header {
                flow: self.flow,
                session: self.token.short(),
                sequence: self.sent.sequence + index as u64,
                send_time_ns: now.as_nanos(),
            };
            self.layout.emit(&header, self.batch.message(index));
        }
        let taken = match self.plan.io {
            Io::Segment if count > 1 => {
                self.socket.send_segments(&self.batch, count).map(|()| count)
            }
            Io::Batch => self.socket.send_batch(&mut self.batch, count),
            _ => self.socket.plain().send(self.batch.message(0)).map(|_| 1),
        };
        match taken {
            Ok(messages) => {
                self.took(messages as u64, messages as u64, now);
                self.last_sent = now;
                Ok(None)
            }
            Err(error) if is_idle(&error) => Ok(None),
            Err(error) if is_no_room(&error) => {
                if self.pacer.is_some() {
                    // Its turn has come and gone.
                    self.took(1, 0, now);
                } else {
                    self.sent.refused_retried += u64::from(self.measuring.is_some());
                    link::sleep_until(now.plus_nanos(REFUSED_PAUSE_NS));
                }
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok(Some(EndedBy::PeerClosed))
            }
            Err(error) => Err(self.send_failure(&error)),
        }
    }

    fn send_failure(&self, error: &io::Error) -> Failure {
        let size = self.plan.message_bytes;
        if self.plan.io == Io::Segment {
            return Failure::new(
                "io.segment_unsupported",
                format!("messages of {size} bytes as segments of one buffer: {error}"),
            )
            .hint("the link's device must offer checksum offload, and a message must fit its packets; use io `batch`");
        }
        Failure::system(format!("send a message of {size} bytes"), error)
    }

    /// Count `due` messages whose turn it was, of which the system took `sent`.
    fn took(&mut self, due: u64, sent: u64, now: Instant) {
        if let Some(pacer) = &mut self.pacer {
            let lateness_ns = now.nanos_since(pacer.next_slot());
            pacer.took(due, now);
            if self.measuring.is_some() {
                self.sent.max_lateness_ns = self.sent.max_lateness_ns.max(lateness_ns);
                self.sent.late_messages += if lateness_ns > LATE_NS { due } else { 0 };
            }
        }
        self.sent.sequence += sent;
        if self.measuring.is_some() {
            self.sent.offered_messages += due;
            self.sent.sent_messages += sent;
            self.sent.refused_messages += due - sent;
        }
        self.running.count(sent, sent * self.plan.message_bytes as u64);
    }

    /// By the schedule some messages may have been due by `now` whose turn never came.
    fn count_unsent(&mut self, now: Instant) {
        if let (Some(pacer), Some(end), Some(_)) = (&self.pacer, self.end, self.measuring) {
            let due = self.plan.slots(self.first_slot, end.min(now));
            self.sent.unsent_messages = due.saturating_sub(pacer.taken());
            self.sent.offered_messages += self.sent.unsent_messages;
        }
    }

    fn say(&self, kind: Kind) -> Result<(), Failure> {
        let message = Message { token: self.token, flow: self.flow, kind };
        match self.socket.plain().send(&message.emit()) {
            Ok(_) => Ok(()),
            // Said again in time.
            Err(error) if is_idle(&error) || is_no_room(&error) => Ok(()),
            // Noticed by the next receive.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(Failure::system("session", &error)),
        }
    }

    fn say_mark(&self) -> Result<(), Failure> {
        self.say(Kind::Mark { first_measured: self.sent.first_measured })
    }

    /// Look for word from the receiver and the driver.
    fn check(&mut self, now: Instant) -> Result<Option<EndedBy>, Failure> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if self.running.is_cancelled() {
            return Ok(Some(EndedBy::Cancelled));
        }
        if self.hear(now)? {
            return Ok(Some(EndedBy::PeerClosed));
        }
        if now.nanos_since(self.last_heard) > self.plan.silence_ns {
            return Ok(Some(EndedBy::Silence));
        }
        if self.measuring.is_some() && !self.marked {
            self.say_mark()?;
        }
        if now.nanos_since(self.last_sent) > self.plan.alive_ns() {
            self.last_sent = now;
            self.say(Kind::Alive { received_messages: 0 })?;
        }
        Ok(None)
    }

    /// Take in what the receiver has said; true if its port is closed.
    fn hear(&mut self, now: Instant) -> Result<bool, Failure> {
        let mut buffer = [0; MESSAGE_LEN + 1];
        loop {
            match self.socket.try_receive(&mut buffer) {
                Ok(None) => return Ok(false),
                Ok(Some(length)) => {
                    if let Ok(message) = Message::parse(&buffer[..length])
                        && message.token.matches(&self.token)
                    {
                        self.last_heard = now;
                        self.marked |= matches!(message.kind, Kind::Marked { .. });
                        self.confirmed |= matches!(message.kind, Kind::Finished { .. });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
                Err(error) if is_idle(&error) => {}
                Err(error) => return Err(Failure::system("session", &error)),
            }
        }
    }

    /// Tell the receiver what was sent until it confirms, as long as it is there: whatever is still
    /// queued on the way may take its time.
    fn agree_on_end(&mut self) -> Result<EndedBy, Failure> {
        let kind = Kind::Finish {
            first_measured: self.sent.first_measured,
            sent_messages: self.sent.sequence,
        };
        let mut pause_ns = FINISH_PAUSE_NS;
        self.last_heard = link::monotonic();
        let mut said = 0;
        loop {
            self.say(kind)?;
            said += 1;
            let next = link::monotonic().plus_nanos(pause_ns);
            if said >= QUICK_FINISHES {
                pause_ns = (2 * pause_ns).min(self.plan.alive_ns());
            }
            loop {
                let now = link::monotonic();
                if self.hear(now)? && !self.confirmed {
                    return Ok(EndedBy::PeerClosed);
                }
                if self.confirmed {
                    return Ok(EndedBy::Finished);
                }
                if self.running.is_cancelled() {
                    return Ok(EndedBy::Cancelled);
                }
                if now.nanos_since(self.last_heard) > self.plan.silence_ns {
                    return Ok(EndedBy::Unconfirmed);
                }
                if now >= next {
                    break;
                }
                link::sleep_until(now.plus_nanos(500_000));
            }
        }
    }
}
