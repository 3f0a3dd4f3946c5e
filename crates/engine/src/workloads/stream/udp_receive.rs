//! The receiver over UDP: what it counts is what the instrument says.

use std::io;

use lanlab_link as link;
use lanlab_link::{BATCH_MESSAGES, DatagramSocket, Interest, Readiness, ReceiveBatch, Usage};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, MESSAGE_LEN, Message, Token};

use super::crew::{self, Driven, Flow, ThreadUsage, Turn};
use super::slowness::Slowness;
use super::{Plan, Session, worst_end};
use crate::failure::Failure;
use crate::measure::{
    DelayVariationMeter, DistributionMeter, IntervalMeter, LastDelay, Seen, SequenceWindow,
};
use crate::messages::{
    ClockRelation, EndedBy, FlowReceived, HostWindow, Intervals, Io, Receive, StreamReceive,
    StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::session::Acceptor;
use crate::workloads::setup::{
    TICK, accept_datagram, answer_again, bind_datagram, is_idle, local_port,
};

/// How often a receiver looks whether it shall stop.
const CHECK_NS: u64 = 10_000_000;
/// After the sender's last word a receiver stays so long, in case its answer was lost.
const TAIL_NS: u64 = 20_000_000;
/// Where messages are missing, so long must pass without one: stragglers still count.
const MISSING_TAIL_NS: u64 = 200_000_000;
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
        socket.enable_drop_counts().map_err(|error| Failure::system("counts of drops", &error))?;
        if plan.timestamps == Timestamps::Kernel {
            socket
                .enable_kernel_timestamps(false)
                .map_err(|error| Failure::system("the kernel's time stamps", &error))?;
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
    let work = |share: Vec<(u16, (DatagramSocket, Acceptor))>| {
        let alone = share.len() == 1 && plan.receive == Receive::Block;
        let mut shared = Shared::new(plan, read_bytes, request)?;
        let mut flows = Vec::with_capacity(share.len());
        for (flow, (socket, acceptor)) in share {
            if alone {
                socket
                    .set_receive_timeout(Some(TICK / 2))
                    .map_err(|error| Failure::system("receive time-out", &error))?;
            }
            flows.push(Receiver::new(plan, token, flow, socket, acceptor, alone, running, start));
        }
        shared.slowness.begin(request.processor)?;
        let failure = crew::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        for flow in flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.stop(EndedBy::Failed, link::monotonic(), &mut shared.meters);
        }
        let flows = flows.into_iter().map(|flow| flow.received).collect();
        Ok(Driven { flows, meters: shared.finish(), failure })
    };
    let (threads, host) = crew::run(plan, request.processor, accepted, running, start, work)?;
    let (flows, meters, failure) = crew::gather(threads);
    let received = sum_up(plan, flows, &meters, read_bytes as u64, receive_buffer_bytes, host);
    let (_, ended) = worst_end(std::iter::once(received.ended_by));
    Ok((received, failure.or(ended)))
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
    meters: &[Meters],
    read_bytes: u64,
    receive_buffer_bytes: u64,
    host: Option<HostWindow>,
) -> StreamReceived {
    let (ended_by, _) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Received) -> u64| flows.iter().map(count).sum::<u64>();
    let mut one_way_delay = DistributionMeter::new();
    for thread in meters {
        one_way_delay.add(&thread.one_way_delay);
    }
    StreamReceived {
        ended_by,
        io: plan.io,
        receive: plan.receive,
        receive_choice: plan.receive_choice.clone(),
        threads: meters.len() as u64,
        timestamps: plan.timestamps,
        read_bytes,
        window_ns: flows.iter().map(|flow| flow.window_ns).max().unwrap_or(0),
        window_messages: sum(|flow| flow.window_messages),
        window_bytes: sum(|flow| flow.window_bytes),
        measured_messages: sum(|flow| flow.measured_messages),
        overdue_messages: sum(|flow| flow.overdue_messages),
        socket_dropped_datagrams: flows.iter().map(|flow| flow.socket_dropped).sum(),
        receive_calls: meters.iter().map(|thread| thread.receive_calls).sum(),
        mark_seen: flows.iter().all(|flow| flow.first_measured.is_some()),
        duplicate_messages: sum(|flow| flow.duplicate_messages),
        reordered_messages: sum(|flow| flow.reordered_messages),
        stale_messages: sum(|flow| flow.stale_messages),
        foreign_datagrams: sum(|flow| flow.foreign_datagrams),
        total_messages: sum(|flow| flow.total_messages),
        total_bytes: sum(|flow| flow.total_messages) * plan.message_bytes as u64,
        delay_variation: DelayVariationMeter::merge(
            meters.iter().map(|thread| &thread.delay_variation),
        ),
        one_way_delay: (one_way_delay.samples() > 0).then(|| one_way_delay.finish()),
        intervals: merged_intervals(meters),
        receive_buffer_bytes,
        cpu: meters
            .iter()
            .fold(Usage::default(), |all, thread| all.plus(thread.usage.used()))
            .into(),
        host,
        flows: flows
            .into_iter()
            .map(|flow| FlowReceived {
                window_bytes: flow.window_bytes,
                window_ns: flow.window_ns,
                measured_messages: flow.measured_messages,
                tcp: None,
            })
            .collect(),
    }
}

fn merged_intervals(meters: &[Meters]) -> Intervals {
    IntervalMeter::merge(meters.iter().map(|thread| thread.intervals.clone()).collect(), true)
}

/// What the flows of one thread measure together.
struct Meters {
    usage: ThreadUsage,
    receive_calls: u64,
    delay_variation: DelayVariationMeter,
    one_way_delay: DistributionMeter,
    intervals: IntervalMeter,
}

/// What the flows of one thread have in common.
struct Shared {
    batch: ReceiveBatch,
    meters: Meters,
    slowness: Slowness,
    sender_clock: Option<ClockRelation>,
}

impl Shared {
    fn new(plan: &Plan, read_bytes: usize, request: &StreamReceive) -> Result<Self, Failure> {
        let buffers = if plan.io == Io::Single { 1 } else { BATCH_MESSAGES };
        Ok(Self {
            batch: ReceiveBatch::new(buffers, read_bytes),
            meters: Meters {
                usage: ThreadUsage::default(),
                receive_calls: 0,
                delay_variation: DelayVariationMeter::new(),
                one_way_delay: DistributionMeter::new(),
                intervals: IntervalMeter::new(plan.interval_ns),
            },
            slowness: Slowness::new(request.load)?,
            sender_clock: request.sender_clock,
        })
    }

    fn finish(mut self) -> Meters {
        self.meters.usage.leave_out(self.slowness.worked_ns());
        self.meters
    }
}

/// What one flow came to.
#[derive(Debug)]
struct Received {
    ended_by: EndedBy,
    window_ns: u64,
    window_messages: u64,
    window_bytes: u64,
    measured_messages: u64,
    overdue_messages: u64,
    socket_dropped: Option<u64>,
    first_measured: Option<u64>,
    duplicate_messages: u64,
    reordered_messages: u64,
    stale_messages: u64,
    foreign_datagrams: u64,
    total_messages: u64,
}

/// One flow while it receives.
struct Receiver<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: DatagramSocket,
    acceptor: Acceptor,
    /// Whether the thread has no other flow, and may wait in the system's call.
    alone: bool,
    running: &'a Running,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    layout: Layout,
    sequences: SequenceWindow,
    last_delay: LastDelay,
    /// Arrival of the first and the last measured message, where they bound the window.
    first_arrival: Option<Instant>,
    last_arrival: Instant,
    /// The socket's count of drops before the measured part, and whether that is settled.
    drops_before: u32,
    drops_settled: bool,
    finished_at: Option<Instant>,
    /// Messages sent in all, once the sender has said so.
    sent_messages: Option<u64>,
    last_heard: Instant,
    next_check: Instant,
    next_alive: Instant,
    is_over: bool,
    received: Received,
}

/// What belongs to a datagram besides its octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrival {
    at: Instant,
    /// The socket's count of drops when it was taken in.
    drops: u32,
}

/// Messages with numbers in a row that were sent and have arrived together.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u64,
    count: u64,
    /// Sender's clock, where messages carry it.
    sent_ns: u64,
    arrival: Arrival,
}

impl Run {
    fn is_continued_by(&self, single: &Self) -> bool {
        single.first == self.first + self.count
            && single.sent_ns == self.sent_ns
            && single.arrival == self.arrival
    }
}

impl Flow for Receiver<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        if now >= self.next_check
            && let Some(ended_by) = self.check(now, &mut shared.meters)
        {
            self.stop(ended_by, now, &mut shared.meters);
            return Ok(Turn::Over);
        }
        match self.socket.receive_batch(&mut shared.batch, self.alone) {
            Ok(_) => {
                self.take_batch(shared);
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => Ok(Turn::Blocked),
            // Only the sender's own port can answer so: it has closed it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if self.finished_at.is_some() {
                    return Ok(Turn::Blocked);
                }
                self.stop(EndedBy::PeerClosed, now, &mut shared.meters);
                Ok(Turn::Over)
            }
            Err(error) => Err(Failure::system("receive", &error)),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

impl<'a> Receiver<'a> {
    #[expect(clippy::too_many_arguments, reason = "each is another thing that a flow needs")]
    fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        socket: DatagramSocket,
        acceptor: Acceptor,
        alone: bool,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            token,
            flow,
            socket,
            acceptor,
            alone,
            running,
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            layout: Layout::of(plan.message_bytes),
            sequences: SequenceWindow::new(),
            last_delay: LastDelay::default(),
            first_arrival: None,
            last_arrival: start,
            drops_before: 0,
            drops_settled: false,
            finished_at: None,
            sent_messages: None,
            last_heard: start,
            // The driver may change its mind before the start.
            next_check: Instant::ZERO,
            next_alive: start,
            is_over: false,
            received: Received {
                ended_by: EndedBy::Silence,
                window_ns: 0,
                window_messages: 0,
                window_bytes: 0,
                measured_messages: 0,
                overdue_messages: 0,
                socket_dropped: None,
                // Without a warm-up the first message is the first measured one.
                first_measured: (plan.warmup_ns == 0).then_some(0),
                duplicate_messages: 0,
                reordered_messages: 0,
                stale_messages: 0,
                foreign_datagrams: 0,
                total_messages: 0,
            },
        }
    }

    /// Take in what the last call has brought.
    fn take_batch(&mut self, shared: &mut Shared) {
        let Shared { batch, meters, slowness, sender_clock } = shared;
        let now = link::monotonic();
        if now >= self.window_start {
            meters.usage.begin();
        }
        meters.receive_calls += 1;
        let kernel_shift_ns = match self.plan.timestamps {
            Timestamps::Kernel => Some(link::realtime_ns().wrapping_sub(now.as_nanos())),
            Timestamps::Program => None,
        };
        let before = self.received.total_messages;
        let mut datagrams = 0;
        // Messages that follow one another, sent together and arrived together, count as one.
        let mut run: Option<Run> = None;
        for received in batch.received() {
            // The calendar clock's reading, on the monotonic clock.
            let stamped = kernel_shift_ns
                .zip(received.kernel_realtime_ns)
                .map(|(shift_ns, stamp_ns)| Instant::from_nanos(stamp_ns.wrapping_sub(shift_ns)));
            let at = stamped.map_or(now, |stamped| stamped.min(now));
            let arrival = Arrival { at, drops: received.drops };
            for datagram in received.datagrams() {
                datagrams += 1;
                let Some(header) = self.header_of(datagram) else {
                    self.count_run(run.take(), meters, *sender_clock);
                    self.take_other(datagram, now, meters);
                    continue;
                };
                self.last_heard = now;
                let expected = run.map_or(self.sequences.expected(), |run| run.first + run.count);
                let first = self.layout.extend(header.sequence, expected);
                let single = Run { first, count: 1, sent_ns: header.send_time_ns, arrival };
                match &mut run {
                    Some(run) if run.is_continued_by(&single) => run.count += 1,
                    other => {
                        let ended = other.replace(single);
                        self.count_run(ended, meters, *sender_clock);
                    }
                }
            }
        }
        self.count_run(run, meters, *sender_clock);
        let new = self.received.total_messages - before;
        self.running.count(new, new * self.plan.message_bytes as u64);
        slowness.after(datagrams);
    }

    /// The header of a datagram that is a message of this flow.
    fn header_of(&self, datagram: &[u8]) -> Option<Header> {
        if datagram.len() != self.plan.message_bytes {
            return None;
        }
        let header = self.layout.parse(datagram).ok()?;
        let ours = header.session == self.token.short() && header.flow == self.flow;
        (ours || matches!(self.layout, Layout::Tiny(_))).then_some(header)
    }

    /// Take in a datagram that is no message of the stream.
    fn take_other(&mut self, datagram: &[u8], now: Instant, meters: &mut Meters) {
        match Message::parse(datagram) {
            Ok(message) if message.token.matches(&self.token) && message.flow == self.flow => {
                self.last_heard = now;
                self.hear(&message, now, meters);
            }
            _ => self.received.foreign_datagrams += 1,
        }
    }

    /// Count a run of messages: at once if all are new and on one side of the warm-up's end, else
    /// one by one.
    fn count_run(
        &mut self,
        run: Option<Run>,
        meters: &mut Meters,
        sender_clock: Option<ClockRelation>,
    ) {
        let Some(run) = run else { return };
        let last = run.first + run.count - 1;
        let mixed =
            self.received.first_measured.is_some_and(|first| run.first < first && first <= last);
        if run.count > 1 && (mixed || run.first < self.sequences.expected()) {
            for first in run.first..=last {
                self.count_run(Some(Run { first, count: 1, ..run }), meters, sender_clock);
            }
            return;
        }
        if run.count == 1 {
            match self.sequences.observe(run.first) {
                Seen::Duplicate => return self.received.duplicate_messages += 1,
                Seen::Stale => return self.received.stale_messages += 1,
                Seen::Reordered => self.received.reordered_messages += 1,
                Seen::InOrder => {}
            }
        } else {
            self.sequences.observe_run(run.first, run.count);
        }
        self.count_new(run, meters, sender_clock);
    }

    /// Count messages that have not been here before.
    fn count_new(&mut self, run: Run, meters: &mut Meters, sender_clock: Option<ClockRelation>) {
        let arrival = run.arrival;
        let bytes = run.count * self.plan.message_bytes as u64;
        self.received.total_messages += run.count;
        meters.intervals.record(arrival.at.nanos_since(self.start), run.count, bytes);
        let measured = self.received.first_measured.is_some_and(|first| run.first >= first);
        self.note_drops(run.first, measured, arrival);
        if measured && self.is_overdue(arrival.at) {
            return self.received.overdue_messages += run.count;
        }
        let received = &mut self.received;
        if measured {
            received.measured_messages += run.count;
            if self.layout == Layout::Full {
                let arrived_ns = arrival.at.as_nanos();
                meters.delay_variation.record_run(
                    &mut self.last_delay,
                    run.first,
                    run.count,
                    run.sent_ns,
                    arrived_ns,
                );
                if let Some(clock) = sender_clock {
                    let sent_ns = run.sent_ns.wrapping_sub(clock.offset_ns.cast_unsigned());
                    let delay_ns = arrived_ns.wrapping_sub(sent_ns).cast_signed();
                    meters.one_way_delay.record_run(delay_ns, run.count);
                }
            }
        }
        match self.window_end {
            Some(end) if arrival.at >= self.window_start && arrival.at < end => {
                received.window_messages += run.count;
                received.window_bytes += bytes;
            }
            None if measured => {
                self.last_arrival = arrival.at;
                // The first message opens the window and is not in it.
                let counted = run.count - u64::from(self.first_arrival.is_none());
                self.first_arrival.get_or_insert(arrival.at);
                received.window_messages += counted;
                received.window_bytes += counted * self.plan.message_bytes as u64;
            }
            _ => {}
        }
    }

    /// Whether what arrives then is too late to count: so long after the end of the measured part,
    /// or where that is an amount of messages, after the sender's word that all is sent.
    fn is_overdue(&self, at: Instant) -> bool {
        let end = self.window_end.or(self.finished_at);
        end.is_some_and(|end| at > end.plus_nanos(self.plan.drain_ns))
    }

    /// Find the socket's count of drops before the measured part, from the counts that come with
    /// its messages.
    fn note_drops(&mut self, sequence: u64, measured: bool, arrival: Arrival) {
        if self.drops_settled {
            return;
        }
        if measured {
            self.drops_settled = true;
            // Unless messages before it are missing, and are among those dropped.
            if self.received.first_measured == Some(sequence) {
                self.drops_before = arrival.drops;
            }
        } else if self.received.first_measured.is_some() || arrival.at < self.window_start {
            self.drops_before = arrival.drops;
        }
    }

    /// Take in one message of the session, and answer it.
    fn hear(&mut self, message: &Message, now: Instant, meters: &mut Meters) {
        match message.kind {
            Kind::Mark { first_measured } => {
                self.mark(first_measured);
                self.say(Kind::Marked { first_measured });
            }
            Kind::Finish { first_measured, sent_messages } => {
                self.mark(first_measured);
                if self.finished_at.is_none() {
                    self.finished_at = Some(now);
                    self.sent_messages = Some(sent_messages);
                    // What it waits for stragglers is not what messages cost.
                    meters.usage.end();
                }
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
    fn check(&mut self, now: Instant, meters: &mut Meters) -> Option<EndedBy> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if now >= self.window_start {
            meters.usage.begin();
        }
        if self.running.is_cancelled() {
            return Some(EndedBy::Cancelled);
        }
        if let Some(finished_at) = self.finished_at {
            let quiet_since = finished_at.max(self.last_heard);
            let complete = self.sent_messages == Some(self.received.total_messages);
            let tail_ns = if complete { TAIL_NS } else { MISSING_TAIL_NS };
            return (now.nanos_since(quiet_since) >= tail_ns).then_some(EndedBy::Finished);
        }
        if now >= self.next_alive {
            self.next_alive = now.plus_nanos(self.plan.alive_ns());
            self.say(Kind::Alive { received_messages: self.received.total_messages });
        }
        (now.nanos_since(self.last_heard) > self.plan.silence_ns).then_some(EndedBy::Silence)
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut Meters) {
        if self.finished_at.is_none() {
            meters.usage.end();
        }
        self.is_over = true;
        meters.delay_variation.end(&self.last_delay);
        let dropped = self.socket.dropped().ok();
        let received = &mut self.received;
        received.ended_by = ended_by;
        received.socket_dropped =
            dropped.map(|dropped| u64::from(dropped.wrapping_sub(self.drops_before)));
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
