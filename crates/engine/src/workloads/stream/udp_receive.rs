//! The receiver over UDP: what it counts is what the instrument says.

use std::io;

use lanlab_link as link;
use lanlab_link::{BATCH_MESSAGES, DatagramSocket, ReceiveBatch, Usage};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, MESSAGE_LEN, Message, Token};

use super::{Plan, Session, run_flows, worst_end};
use crate::failure::Failure;
use crate::measure::{DelayVariationMeter, IntervalMeter, Seen, SequenceWindow};
use crate::messages::{
    EndedBy, FlowReceived, Io, Receive, StreamReceive, StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::session::Acceptor;
use crate::workloads::setup::{
    TICK, accept_datagram, answer_again, bind_datagram, is_idle, local_port,
};

/// How often a receiver looks whether it shall stop.
const CHECK_NS: u64 = 10_000_000;
/// After the sender's last word, so long must pass without a message: stragglers still count.
const TAIL_NS: u64 = 20_000_000;
/// The kernel joins datagrams to at most so much.
const JOINED_BYTES: usize = 65_536;

/// Wait for the sender, then count until it says that it has sent all.
pub fn receive(
    request: &StreamReceive,
    session: &Session,
    running: &Running,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let (plan, token) = (&session.plan, session.token);
    let mut sockets = Vec::with_capacity(plan.flows.into());
    for flow in 0..plan.flows {
        let port = if request.port == 0 { 0 } else { request.port.saturating_add(flow) };
        let socket = bind_datagram(request.bind, port, &request.spec.socket)?;
        if plan.io == Io::Segment {
            socket
                .enable_segment_receive()
                .map_err(|error| Failure::system("joined reception", &error))?;
        }
        sockets.push(socket);
    }
    let ports = sockets.iter().map(local_port).collect::<Result<_, _>>()?;
    let receive_buffer_bytes = sockets
        .first()
        .and_then(|socket| socket2::SockRef::from(socket.plain()).recv_buffer_size().ok())
        .unwrap_or(0) as u64;
    running.ready(ports, None);
    let mut accepted = Vec::with_capacity(sockets.len());
    for (socket, flow) in sockets.into_iter().zip(0..) {
        // The sender may not have heard yet that an earlier flow was accepted.
        let acceptor = accept_datagram(&socket, request.peer, token, flow, running, || {
            answer_all_again(&mut accepted)
        })?;
        accepted.push((socket, acceptor));
    }
    let start = running.wait_for_start(|| answer_all_again(&mut accepted))?;

    let read_bytes = if plan.io == Io::Segment { JOINED_BYTES } else { buffer_bytes(plan) };
    let flows = run_flows(accepted, running, start, |flow, (socket, acceptor)| {
        let mut receiver = Receiver::new(plan, token, flow, &socket, acceptor, running, start);
        receiver.run(read_bytes)?;
        Ok(receiver.received)
    });
    let flows = flows.into_iter().collect::<Result<Vec<Received>, Failure>>()?;
    let received = sum_up(plan, flows, read_bytes as u64, receive_buffer_bytes);
    let (_, failure) = worst_end(std::iter::once(received.ended_by));
    Ok((received, failure))
}

fn answer_all_again(accepted: &mut [(DatagramSocket, Acceptor)]) -> Result<(), Failure> {
    accepted.iter_mut().try_for_each(|(socket, acceptor)| answer_again(socket, acceptor))
}

/// A buffer takes any message of the condition and of the session, and shows one that is too long.
fn buffer_bytes(plan: &Plan) -> usize {
    plan.message_bytes.max(MESSAGE_LEN) + 1
}

fn sum_up(
    plan: &Plan,
    flows: Vec<Received>,
    read_bytes: u64,
    receive_buffer_bytes: u64,
) -> StreamReceived {
    let (ended_by, _) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Received) -> u64| flows.iter().map(count).sum::<u64>();
    let (mut meters, mut intervals, mut each) = (Vec::new(), Vec::new(), Vec::new());
    let mut received = StreamReceived {
        ended_by,
        io: plan.io,
        receive: Receive::Block,
        receive_choice: None,
        threads: flows.len() as u64,
        timestamps: Timestamps::Program,
        read_bytes,
        window_ns: flows.iter().map(|flow| flow.window_ns).max().unwrap_or(0),
        window_messages: sum(|flow| flow.window_messages),
        window_bytes: sum(|flow| flow.window_bytes),
        measured_messages: sum(|flow| flow.measured_messages),
        overdue_messages: 0,
        socket_dropped_datagrams: None,
        receive_calls: 0,
        mark_seen: flows.iter().all(|flow| flow.first_measured.is_some()),
        duplicate_messages: sum(|flow| flow.duplicate_messages),
        reordered_messages: sum(|flow| flow.reordered_messages),
        stale_messages: sum(|flow| flow.stale_messages),
        foreign_datagrams: sum(|flow| flow.foreign_datagrams),
        total_messages: sum(|flow| flow.total_messages),
        total_bytes: sum(|flow| flow.total_messages) * plan.message_bytes as u64,
        delay_variation: None,
        one_way_delay: None,
        intervals: crate::messages::Intervals::default(),
        receive_buffer_bytes,
        cpu: flows.iter().fold(Usage::default(), |all, flow| all.plus(flow.cpu)).into(),
        host: None,
        flows: Vec::new(),
    };
    for flow in flows {
        each.push(FlowReceived {
            window_bytes: flow.window_bytes,
            window_ns: flow.window_ns,
            measured_messages: flow.measured_messages,
            tcp: None,
        });
        meters.push(flow.delay_variation);
        intervals.push(flow.intervals);
    }
    received.delay_variation = DelayVariationMeter::merge(&meters);
    received.intervals = IntervalMeter::merge(intervals, true);
    received.flows = each;
    received
}

/// What one flow came to.
#[derive(Debug)]
struct Received {
    ended_by: EndedBy,
    window_ns: u64,
    window_messages: u64,
    window_bytes: u64,
    measured_messages: u64,
    first_measured: Option<u64>,
    duplicate_messages: u64,
    reordered_messages: u64,
    stale_messages: u64,
    foreign_datagrams: u64,
    total_messages: u64,
    delay_variation: DelayVariationMeter,
    intervals: IntervalMeter,
    cpu: Usage,
}

/// One flow while it receives.
struct Receiver<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: &'a DatagramSocket,
    acceptor: Acceptor,
    running: &'a Running,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    layout: Layout,
    sequences: SequenceWindow,
    /// Arrival of the first and the last measured message, where they bound the window.
    first_arrival: Option<Instant>,
    last_arrival: Instant,
    usage: Option<Usage>,
    finished_at: Option<Instant>,
    last_heard: Instant,
    next_check: Instant,
    next_alive: Instant,
    received: Received,
}

impl<'a> Receiver<'a> {
    fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        socket: &'a DatagramSocket,
        acceptor: Acceptor,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            token,
            flow,
            socket,
            acceptor,
            running,
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            layout: Layout::of(plan.message_bytes),
            sequences: SequenceWindow::new(),
            first_arrival: None,
            last_arrival: start,
            usage: None,
            finished_at: None,
            last_heard: start,
            // The driver may change its mind before the start.
            next_check: Instant::ZERO,
            next_alive: start,
            received: Received {
                ended_by: EndedBy::Silence,
                window_ns: 0,
                window_messages: 0,
                window_bytes: 0,
                measured_messages: 0,
                // Without a warm-up the first message is the first measured one.
                first_measured: (plan.warmup_ns == 0).then_some(0),
                duplicate_messages: 0,
                reordered_messages: 0,
                stale_messages: 0,
                foreign_datagrams: 0,
                total_messages: 0,
                delay_variation: DelayVariationMeter::new(),
                intervals: IntervalMeter::new(plan.interval_ns),
                cpu: Usage::default(),
            },
        }
    }

    fn run(&mut self, read_bytes: usize) -> Result<(), Failure> {
        let buffers = if self.plan.io == Io::Single { 1 } else { BATCH_MESSAGES };
        let mut batch = ReceiveBatch::new(buffers, read_bytes, self.plan.io == Io::Segment);
        self.socket
            .set_receive_timeout(Some(TICK / 2))
            .map_err(|error| Failure::system("receive time-out", &error))?;
        loop {
            let outcome = self.socket.receive_batch(&mut batch);
            let now = link::monotonic();
            match outcome {
                Ok(_) => {
                    let before = self.received.total_messages;
                    for received in batch.received() {
                        for datagram in received.datagrams() {
                            self.take(datagram, now);
                        }
                    }
                    let new = self.received.total_messages - before;
                    self.running.count(new, new * self.plan.message_bytes as u64);
                }
                Err(error) if is_idle(&error) => {}
                // Only the sender's own port can answer so: it has closed it.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    if self.finished_at.is_none() {
                        self.stop(EndedBy::PeerClosed, now);
                        return Ok(());
                    }
                }
                Err(error) => return Err(Failure::system("receive", &error)),
            }
            if now >= self.next_check
                && let Some(ended_by) = self.check(now)
            {
                self.stop(ended_by, now);
                return Ok(());
            }
        }
    }

    /// Take in one datagram.
    fn take(&mut self, datagram: &[u8], now: Instant) {
        if datagram.len() == self.plan.message_bytes
            && let Ok(header) = self.layout.parse(datagram)
            && (header.session == self.token.short() && header.flow == self.flow
                || matches!(self.layout, Layout::Tiny(_)))
        {
            return self.count(header, now);
        }
        match Message::parse(datagram) {
            Ok(message) if message.token.matches(&self.token) && message.flow == self.flow => {
                self.last_heard = now;
                self.hear(&message, now);
            }
            _ => self.received.foreign_datagrams += 1,
        }
    }

    /// Count one message of the stream.
    fn count(&mut self, header: Header, now: Instant) {
        self.last_heard = now;
        let sequence = self.layout.extend(header.sequence, self.sequences.expected());
        let received = &mut self.received;
        match self.sequences.observe(sequence) {
            Seen::Duplicate => return received.duplicate_messages += 1,
            Seen::Stale => return received.stale_messages += 1,
            Seen::Reordered => received.reordered_messages += 1,
            Seen::InOrder => {}
        }
        let bytes = self.plan.message_bytes as u64;
        received.total_messages += 1;
        received.intervals.record(now.nanos_since(self.start), 1, bytes);
        let measured = received.first_measured.is_some_and(|first| sequence >= first);
        if measured {
            received.measured_messages += 1;
            if self.layout == Layout::Full {
                received.delay_variation.record(sequence, header.send_time_ns, now.as_nanos());
            }
        }
        match self.window_end {
            Some(end) if now >= self.window_start && now < end => {
                received.window_messages += 1;
                received.window_bytes += bytes;
            }
            None if measured => {
                self.last_arrival = now;
                if self.first_arrival.is_none() {
                    self.first_arrival = Some(now);
                } else {
                    received.window_messages += 1;
                    received.window_bytes += bytes;
                }
            }
            _ => {}
        }
    }

    /// Take in one message of the session, and answer it.
    fn hear(&mut self, message: &Message, now: Instant) {
        match message.kind {
            Kind::Mark { first_measured } => {
                self.mark(first_measured);
                self.say(Kind::Marked { first_measured });
            }
            Kind::Finish { first_measured, .. } => {
                self.mark(first_measured);
                self.finished_at.get_or_insert(now);
                self.say(Kind::Finished { received_messages: self.received.total_messages });
            }
            Kind::Prove { .. } => {
                if let Some(reply) = self.acceptor.handle(message) {
                    self.say(reply.kind);
                }
            }
            _ => {}
        }
    }

    /// From `first_measured` on messages are measured. Some may be here already, if the mark was
    /// overtaken or lost: those still remembered are counted.
    fn mark(&mut self, first_measured: u64) {
        if self.received.first_measured.is_none()
            && let Some(arrived) = self.sequences.arrived_since(first_measured)
        {
            self.received.first_measured = Some(first_measured);
            self.received.measured_messages = arrived;
        }
    }

    fn say(&self, kind: Kind) {
        let message = Message { token: self.token, flow: self.flow, kind };
        // Whatever is lost is said again when it is asked for again.
        let _ = self.socket.plain().send(&message.emit());
    }

    /// Tell the sender that we are here, and see whether it is over.
    fn check(&mut self, now: Instant) -> Option<EndedBy> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if self.usage.is_none() && now >= self.window_start {
            self.usage = Some(link::thread_usage());
        }
        if self.running.is_cancelled() {
            return Some(EndedBy::Cancelled);
        }
        if let Some(finished_at) = self.finished_at {
            let quiet_since = finished_at.max(self.last_heard);
            return (now.nanos_since(quiet_since) >= TAIL_NS).then_some(EndedBy::Finished);
        }
        if now >= self.next_alive {
            self.next_alive = now.plus_nanos(self.plan.alive_ns());
            self.say(Kind::Alive { received_messages: self.received.total_messages });
        }
        (now.nanos_since(self.last_heard) > self.plan.silence_ns).then_some(EndedBy::Silence)
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant) {
        let received = &mut self.received;
        received.ended_by = ended_by;
        received.cpu =
            self.usage.map_or(Usage::default(), |usage| link::thread_usage().since(usage));
        received.window_ns = match self.window_end {
            // A trial cut short has a shorter window.
            Some(end) => end.min(now).nanos_since(self.window_start),
            None => self.first_arrival.map_or(0, |first| self.last_arrival.nanos_since(first)),
        };
        if received.first_measured.is_none() {
            received.measured_messages = received.total_messages;
        }
    }
}
