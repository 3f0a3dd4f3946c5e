//! The receiver over UDP: what it counts is what the instrument says.

use std::io;
use std::sync::Arc;

use lanlab_os as os;
use lanlab_os::{BATCH_MESSAGES, Interest, Readiness, ReceiveBatch, Usage};
use lanlab_units::Instant;
use lanlab_wire::session::QUESTION_LEN;

use super::alive::{Word, say_alive_beside};
use super::crew::{self, Driven, Flow, Turn};
use super::intake::{Heard, Intake};
use super::joined::{self, JOINED_BYTES};
use super::slowness::Slowness;
use super::tally::{Arrival, Counts, Meters};
use super::{Plan, Session, worst_end};
use crate::host::cpu_time;
use crate::messages::{
    EndedBy, Failure, FlowReceived, HostWindow, Intervals, Io, Receive, StreamReceive,
    StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::workloads::setup::{
    Accepted, TICK, accept_datagram, bind_datagram, is_idle, local_port,
};
use lanlab_workloads::measure::{DelayVariationMeter, DistributionMeter, IntervalMeter};

/// How often a receiver looks whether it shall stop.
const CHECK_NS: u64 = 10_000_000;
/// After the sender's last word a receiver stays so long, in case its answer was lost.
const TAIL_NS: u64 = 20_000_000;
/// Where messages are missing, so long must pass without one: stragglers still count. The sender's
/// last word comes behind all messages, so that on a path that has brought every message in order
/// none is left behind it, and less is enough.
const MISSING_TAIL_NS: u64 = 200_000_000;
const ORDERLY_TAIL_NS: u64 = 40_000_000;

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
            joined::enable(&socket, request.spec.socket.receive_buffer_bytes)
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
        let one = accept_datagram(socket, request.peer, token, flow, running, || {
            answer_all_again(&mut accepted)
        })?;
        accepted.push(one);
    }
    let start = running.wait_for_start(|| answer_all_again(&mut accepted))?;

    let read_bytes = read_bytes(plan);
    let work = |share: Vec<(u16, (Accepted, Arc<Word>))>| {
        let alone = share.len() == 1 && plan.receive == Receive::Block;
        let mut shared = Shared::new(plan, read_bytes, request)?;
        let mut flows = Vec::with_capacity(share.len());
        for (flow, (accepted, word)) in share {
            if alone {
                word.socket
                    .set_receive_timeout(Some(TICK / 2))
                    .map_err(|error| Failure::system("receive time-out", &error))?;
            }
            let intake = Intake::new(plan, token, flow, accepted.acceptor, start);
            flows.push(Receiver::new(plan, word, intake, alone, running, start));
        }
        shared.slowness.begin(request.processor)?;
        let failure = crew::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        for flow in flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.stop(EndedBy::Failed, os::monotonic(), &mut shared.meters);
        }
        let flows =
            flows.into_iter().map(|flow| (flow.ended_by, flow.intake.tally.counts)).collect();
        Ok(Driven { flows, meters: shared.finish(), failure })
    };
    let words: Vec<_> = (0..)
        .zip(&accepted)
        .map(|(flow, one)| Arc::new(Word::new(&one.socket, token, flow)))
        .collect();
    let flows = accepted.into_iter().zip(words.iter().map(Arc::clone)).collect();
    let (threads, host) = say_alive_beside(&words, plan.alive_ns(), start, || {
        crew::run(plan, request.processor, flows, running, start, work)
    })?;
    let (flows, meters, failure) = crew::gather(threads);
    let received = sum_up(plan, flows, &meters, read_bytes as u64, receive_buffer_bytes, host);
    let (_, ended) = worst_end(std::iter::once(received.ended_by));
    Ok((received, failure.or(ended)))
}

fn answer_all_again(accepted: &mut [Accepted]) -> Result<(), Failure> {
    accepted.iter_mut().try_for_each(Accepted::answer_again)
}

/// A buffer takes any message of the condition and of the session, and shows one that is too long.
pub fn buffer_bytes(plan: &Plan) -> usize {
    plan.message_bytes.max(QUESTION_LEN) + 1
}

/// The size of each buffer of a batch.
pub fn read_bytes(plan: &Plan) -> usize {
    if plan.io == Io::Segment { JOINED_BYTES } else { buffer_bytes(plan) }
}

fn sum_up(
    plan: &Plan,
    flows: Vec<(EndedBy, Counts)>,
    meters: &[Meters],
    read_bytes: u64,
    receive_buffer_bytes: u64,
    host: Option<HostWindow>,
) -> StreamReceived {
    let (ended_by, _) = worst_end(flows.iter().map(|(ended_by, _)| *ended_by));
    let flows: Vec<Counts> = flows.into_iter().map(|(_, counts)| counts).collect();
    let sum = |count: fn(&Counts) -> u64| flows.iter().map(count).sum::<u64>();
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
        cpu: cpu_time(
            meters.iter().fold(Usage::default(), |all, thread| all.plus(thread.usage.used())),
        ),
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

/// What the flows of one thread have in common.
struct Shared {
    batch: ReceiveBatch,
    meters: Meters,
    slowness: Slowness,
}

impl Shared {
    fn new(plan: &Plan, read_bytes: usize, request: &StreamReceive) -> Result<Self, Failure> {
        let buffers = if plan.io == Io::Single { 1 } else { BATCH_MESSAGES };
        Ok(Self {
            batch: ReceiveBatch::new(buffers, read_bytes),
            meters: Meters::new(plan, request.sender_clock),
            slowness: Slowness::new(request.load)?,
        })
    }

    fn finish(mut self) -> Meters {
        self.meters.usage.leave_out(self.slowness.worked_ns());
        self.meters
    }
}

/// One flow while it receives.
struct Receiver<'a> {
    plan: &'a Plan,
    word: Arc<Word>,
    intake: Intake<'a>,
    /// Whether the thread has no other flow, and may wait in the system's call.
    alone: bool,
    running: &'a Running,
    window_start: Instant,
    /// By then it is over, whatever the sender says.
    latest_end: Instant,
    next_check: Instant,
    is_over: bool,
    ended_by: EndedBy,
}

impl Flow for Receiver<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        if now >= self.next_check
            && let Some(ended_by) = self.check(now, &mut shared.meters)?
        {
            self.stop(ended_by, now, &mut shared.meters);
            return Ok(Turn::Over);
        }
        match self.word.socket.receive_batch(&mut shared.batch, self.alone) {
            Ok(_) => {
                self.take_batch(shared);
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => Ok(Turn::Blocked),
            // Only the sender's own port can answer so: it has closed it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if self.intake.tally.finished_at().is_some() {
                    return Ok(Turn::Blocked);
                }
                self.stop(EndedBy::PeerClosed, now, &mut shared.meters);
                Ok(Turn::Over)
            }
            Err(error) => Err(Failure::system("receive", &error)),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.word.socket.plain(), key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.word.socket.plain())
    }
}

impl<'a> Receiver<'a> {
    fn new(
        plan: &'a Plan,
        word: Arc<Word>,
        intake: Intake<'a>,
        alone: bool,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            word,
            intake,
            alone,
            running,
            window_start: plan.warmup_end(start),
            latest_end: plan.latest_end(start),
            // The driver may change its mind before the start.
            next_check: Instant::ZERO,
            is_over: false,
            ended_by: EndedBy::Silence,
        }
    }

    /// Take in what the last call has brought.
    fn take_batch(&mut self, shared: &mut Shared) {
        let Shared { batch, meters, slowness } = shared;
        let now = os::monotonic();
        if now >= self.window_start {
            meters.usage.begin();
        }
        meters.receive_calls += 1;
        let kernel_shift_ns = match self.plan.timestamps {
            Timestamps::Kernel => Some(os::realtime_ns().wrapping_sub(now.as_nanos())),
            Timestamps::Program => None,
        };
        let before = self.intake.tally.counts.total_messages;
        let mut datagrams = 0;
        for received in batch.received() {
            // The calendar clock's reading, on the monotonic clock.
            let stamped = kernel_shift_ns
                .zip(received.kernel_realtime_ns)
                .map(|(shift_ns, stamp_ns)| Instant::from_nanos(stamp_ns.wrapping_sub(shift_ns)));
            let at = stamped.map_or(now, |stamped| stamped.min(now));
            let arrival = Arrival { at, drops: received.drops };
            for datagram in received.datagrams() {
                datagrams += 1;
                match self.intake.take(datagram, arrival, now, meters) {
                    Heard::Counted => {}
                    Heard::Said(answer) => {
                        self.word.say(answer);
                    }
                    Heard::SentAll(answer) => {
                        self.word.end();
                        // What it waits for stragglers is not what messages cost.
                        meters.usage.end();
                        self.word.say(answer);
                    }
                }
            }
        }
        self.intake.flush(meters);
        let new = self.intake.tally.counts.total_messages - before;
        self.word.received(self.intake.tally.counts.total_messages);
        self.running.count(new, new * self.plan.message_bytes as u64);
        slowness.after(datagrams);
    }

    /// See whether it is over.
    fn check(&mut self, now: Instant, meters: &mut Meters) -> Result<Option<EndedBy>, Failure> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if now >= self.window_start {
            meters.usage.begin();
        }
        if self.running.is_cancelled() {
            return Ok(Some(EndedBy::Cancelled));
        }
        if now > self.latest_end {
            return Err(super::went_on_too_long());
        }
        let last_heard = self.intake.last_heard();
        if let Some(finished_at) = self.intake.tally.finished_at() {
            let quiet_since = finished_at.max(last_heard);
            let tail_ns = tail_ns(
                self.intake.tally.is_complete(),
                self.intake.tally.counts.reordered_messages,
            );
            return Ok((now.nanos_since(quiet_since) >= tail_ns).then_some(EndedBy::Finished));
        }
        if self.intake.is_more_than_asked() {
            return Err(Failure::new(
                "peer.too_much",
                "the other host sent more messages than the amount to be measured",
            )
            .hint("see whether it is lanlab's engine, and of the same trial"));
        }
        Ok((now.nanos_since(last_heard) > self.plan.silence_ns).then_some(EndedBy::Silence))
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut Meters) {
        if self.intake.tally.finished_at().is_none() {
            meters.usage.end();
        }
        self.is_over = true;
        self.ended_by = ended_by;
        self.word.end();
        self.intake.tally.close(now, self.word.socket.dropped().ok(), meters);
    }
}

/// How long a receiver stays after the sender's last word.
fn tail_ns(is_complete: bool, reordered_messages: u64) -> u64 {
    match (is_complete, reordered_messages) {
        (true, _) => TAIL_NS,
        (false, 0) => ORDERLY_TAIL_NS,
        (false, _) => MISSING_TAIL_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Amount, Transport};
    use crate::output::Output;
    use crate::workloads::stream::tests::spec;
    use lanlab_os::{DatagramOptions, DatagramSocket};
    use lanlab_wire::session::Token;
    use lanlab_workloads::handshake::Acceptor;

    #[test]
    fn stragglers_are_waited_for_where_messages_have_come_out_of_order() {
        assert_eq!(tail_ns(true, 5), TAIL_NS);
        assert_eq!(tail_ns(false, 0), ORDERLY_TAIL_NS);
        assert_eq!(tail_ns(false, 1), MISSING_TAIL_NS);
    }

    #[test]
    fn a_sender_that_never_ends_is_ended_an_hour_after_its_time() {
        let spec = crate::messages::StreamSpec {
            transport: Transport::Udp,
            ..spec(Amount::TimeNs(1_000_000_000), None, 100, 1)
        };
        let (plan, token) = (Plan::new(&spec).unwrap(), Token([7; 16]));
        let socket =
            DatagramSocket::bind(([127, 0, 0, 1], 0).into(), &DatagramOptions::default()).unwrap();
        let word = Arc::new(Word::new(&Arc::new(socket), token, 0));
        let running = Running::new(1, Output::new(std::io::sink()));
        let start = Instant::from_nanos(1);
        let intake = Intake::new(&plan, token, 0, Acceptor::new(token, 0, 1), start);
        let mut receiver = Receiver::new(&plan, word, intake, false, &running, start);
        let mut meters = Meters::new(&plan, None);
        let latest = plan.latest_end(start);
        assert!(receiver.check(latest, &mut meters).is_ok());
        let failure = receiver.check(latest.plus_nanos(1), &mut meters).unwrap_err();
        assert_eq!(failure.code, "peer.too_long");
    }
}
