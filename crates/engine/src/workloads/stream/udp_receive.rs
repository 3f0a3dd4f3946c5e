//! The UDP receiver, whose counts are the measured result.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use lanlab_os::{self as os, BATCH_MESSAGES, DatagramSocket, Interest, Readiness, ReceiveBatch};
use lanlab_units::Instant;
use lanlab_wire::session::QUESTION_LEN;

use super::alive::{Word, say_alive_during};
use super::flow_scheduler::is_alone;
use super::flow_threads::{self, Driven, Flow, ThreadUsage, Turn, cpu_of};
use super::joined::{self, JOINED_BYTES};
use super::receiver_load::AppliedLoad;
use super::{Plan, Session, failure_of_end};
use crate::messages::{
    ClockRelation, EndedBy, Failure, Io, ReceiverLoad, StreamReceive, StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::workloads::setup::{Accepted, accept_datagram, bind_datagram, is_idle, local_port};
use lanlab_workloads::stream::{
    Arrival, Counter, CpuMeter, Heard, Incoming, Meters, sum_up_datagrams,
};

const CHECK_NS: u64 = 10_000_000;
pub fn receive(
    request: &StreamReceive,
    session: &Session,
    running: &Running,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let (plan, token) = (&session.plan, session.token);
    let mut sockets = Vec::with_capacity(plan.flows.into());
    let mut ports = super::ports_of(request, plan.flows);
    for _ in 0..plan.flows {
        let socket = ports.take(|port| bind_datagram(request.bind, port, &request.spec.socket))?;
        prepare(&socket, plan, request.spec.socket.receive_buffer_bytes)?;
        sockets.push(socket);
    }
    let ports = sockets.iter().map(local_port).collect::<Result<_, _>>()?;
    let receive_buffer_bytes = receive_buffer_bytes(&sockets);
    running.ready(ports, None);
    let mut accepted = Vec::with_capacity(sockets.len());
    for (socket, flow) in sockets.into_iter().zip(0..) {
        // The sender may have missed the acceptance of an earlier flow.
        let peer = request.peer.ip();
        let one = accept_datagram(socket, peer, (token, flow), plan.silence_ns, running, || {
            answer_all_again(&mut accepted)
        })?;
        accepted.push(one);
    }
    let start = running.wait_for_start(|| answer_all_again(&mut accepted))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };
    let reading = Reading {
        processor: request.processor,
        read_bytes: read_bytes(plan),
        receive_buffer_bytes,
        sender_clock: request.sender_clock,
        load: request.load,
    };
    let words: Vec<_> = (0..)
        .zip(&accepted)
        .map(|(flow, one)| Arc::new(Word::new(&one.socket, token, flow)))
        .collect();
    let flows = accepted.into_iter().zip(words.iter().map(Arc::clone)).collect();
    let messages_of = |flow, (accepted, word): (Accepted, Arc<Word>)| {
        let incoming = Incoming::new(plan, token, flow, accepted.acceptor, start);
        OwnMessages { word, incoming, running, expected: 0 }
    };
    say_alive_during(&words, plan.alive_ns(), start, || {
        receive_over(plan, reading, flows, running, start, messages_of)
    })
}

fn prepare(socket: &DatagramSocket, plan: &Plan, asked_bytes: Option<u32>) -> Result<(), Failure> {
    if plan.io == Io::Segment {
        joined::enable(socket, asked_bytes)
            .map_err(|error| Failure::system("joined reception", &error))?;
    }
    socket.enable_drop_counts().map_err(|error| Failure::system("counts of drops", &error))?;
    if plan.timestamps == Timestamps::Kernel {
        socket
            .enable_kernel_timestamps(false)
            .map_err(|error| Failure::system("the kernel's time stamps", &error))?;
    }
    Ok(())
}

fn answer_all_again(accepted: &mut [Accepted]) -> Result<(), Failure> {
    accepted.iter_mut().try_for_each(Accepted::answer_again)
}

/// A buffer holds any message of the condition or the session, and one byte more to detect an oversized one.
pub fn buffer_bytes(plan: &Plan) -> usize {
    plan.message_bytes.max(QUESTION_LEN) + 1
}

pub fn read_bytes(plan: &Plan) -> usize {
    if plan.io == Io::Segment { JOINED_BYTES } else { buffer_bytes(plan) }
}

/// The messages of one flow, as numbered by an engine or another program.
pub trait Messages<'p> {
    fn socket(&self) -> &DatagramSocket;

    fn counter(&mut self) -> &mut Counter<'p>;

    fn take(
        &mut self,
        datagram: &[u8],
        arrival: Arrival,
        now: Instant,
        meters: &mut Meters<ThreadUsage>,
    );

    /// All datagrams of a read are taken.
    fn flush(&mut self, meters: &mut Meters<ThreadUsage>);

    fn end(&self, now: Instant, is_cancelled: bool) -> Result<Option<EndedBy>, Failure>;

    /// The sender closed its port. Returns the reason if the flow has ended.
    fn closed(&self) -> Option<EndedBy> {
        None
    }

    fn over(&self) {}
}

/// How the datagrams of all flows are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    pub processor: Option<u16>,
    pub read_bytes: usize,
    pub receive_buffer_bytes: u64,
    pub sender_clock: Option<ClockRelation>,
    pub load: ReceiverLoad,
}

pub fn receive_buffer_bytes(sockets: &[DatagramSocket]) -> u64 {
    let first = sockets.first().map(|socket| socket2::SockRef::from(socket.plain()));
    first.and_then(|socket| socket.recv_buffer_size().ok()).unwrap_or(0) as u64
}

/// Receive over connected sockets until all flows have ended, and count.
pub fn receive_over<'p, S: Send, M: Messages<'p>>(
    plan: &'p Plan,
    reading: Reading,
    sockets: Vec<S>,
    running: &'p Running,
    start: Instant,
    messages_of: impl Fn(u16, S) -> M + Sync,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let work = |share: Vec<(u16, S)>| {
        let alone = is_alone(share.len(), plan.receive);
        let mut shared = Shared::new(plan, &reading)?;
        let mut flows = Vec::with_capacity(share.len());
        for (flow, socket) in share {
            let messages = messages_of(flow, socket);
            if alone {
                messages
                    .socket()
                    .set_receive_timeout(Some(Duration::from_nanos(CHECK_NS)))
                    .map_err(|error| Failure::system("receive time-out", &error))?;
            }
            flows.push(Receiver::new(plan, messages, alone, running, start));
        }
        shared.applied_load.begin(reading.processor)?;
        let failure = flow_threads::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        for flow in flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.stop(EndedBy::Failed, os::monotonic(), &mut shared.meters);
        }
        let counts = |mut flow: Receiver<'_, M>| {
            (flow.ended_by, std::mem::take(&mut flow.messages.counter().counts))
        };
        let flows = flows.into_iter().map(counts).collect();
        Ok(Driven { flows, meters: shared.finish(), failure })
    };
    let (threads, host) =
        flow_threads::run(plan, reading.processor, sockets, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let cpu = cpu_of(meters.iter().map(|thread| &thread.usage));
    let buffers = (reading.read_bytes as u64, reading.receive_buffer_bytes);
    let received = sum_up_datagrams(plan, flows, &meters, cpu, buffers, host);
    let failure = failure.or_else(|| failure_of_end(received.ended_by));
    Ok((received, failure))
}

struct Shared {
    batch: ReceiveBatch,
    meters: Meters<ThreadUsage>,
    applied_load: AppliedLoad,
}

impl Shared {
    fn new(plan: &Plan, reading: &Reading) -> Result<Self, Failure> {
        let buffers = if plan.io == Io::Single { 1 } else { BATCH_MESSAGES };
        Ok(Self {
            batch: ReceiveBatch::new(buffers, reading.read_bytes),
            meters: Meters::new(plan, reading.sender_clock),
            applied_load: AppliedLoad::new(reading.load)?,
        })
    }

    fn finish(mut self) -> Meters<ThreadUsage> {
        self.meters.usage.leave_out(self.applied_load.worked_ns);
        self.meters
    }
}

struct Receiver<'a, M> {
    plan: &'a Plan,
    messages: M,
    /// Whether the thread has a single flow, and may block in the system call.
    alone: bool,
    running: &'a Running,
    window_start: Instant,
    next_check: Instant,
    is_over: bool,
    ended_by: EndedBy,
}

impl<'a, M: Messages<'a>> Flow for Receiver<'a, M> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        if now >= self.next_check
            && let Some(ended_by) = self.check(now, &mut shared.meters)?
        {
            self.stop(ended_by, now, &mut shared.meters);
            return Ok(Turn::Over);
        }
        let received = self.messages.socket().receive_batch(&mut shared.batch, self.alone);
        self.take(received, now, shared)
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.messages.socket().plain(), key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.messages.socket().plain())
    }
}

impl<'a, M: Messages<'a>> Receiver<'a, M> {
    fn new(plan: &'a Plan, messages: M, alone: bool, running: &'a Running, start: Instant) -> Self {
        Self {
            plan,
            messages,
            alone,
            running,
            window_start: plan.warmup_end(plan.arrivals_from(start)),
            // The driver may cancel before the start.
            next_check: Instant::ZERO,
            is_over: false,
            ended_by: EndedBy::Silence,
        }
    }

    fn take(
        &mut self,
        received: io::Result<usize>,
        now: Instant,
        shared: &mut Shared,
    ) -> Result<Turn, Failure> {
        match received {
            Ok(_) => {
                self.take_batch(shared);
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => Ok(Turn::Blocked),
            // Only a closed port of the sender causes this error.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let Some(ended_by) = self.messages.closed() else { return Ok(Turn::Blocked) };
                self.stop(ended_by, now, &mut shared.meters);
                Ok(Turn::Over)
            }
            Err(error) => Err(Failure::system("receive", &error)),
        }
    }

    fn take_batch(&mut self, shared: &mut Shared) {
        let Shared { batch, meters, applied_load } = shared;
        let now = os::monotonic();
        if now >= self.window_start {
            meters.usage.begin();
        }
        meters.receive_calls += 1;
        let kernel_shift_ns = match self.plan.timestamps {
            Timestamps::Kernel => Some(os::realtime_ns().wrapping_sub(now.as_nanos())),
            Timestamps::Program => None,
        };
        let before = self.messages.counter().counts.total_messages;
        let mut datagrams = 0;
        for received in batch.received() {
            // Convert the calendar clock's timestamp to the monotonic clock.
            let stamped = kernel_shift_ns
                .zip(received.kernel_realtime_ns)
                .map(|(shift_ns, stamp_ns)| Instant::from_nanos(stamp_ns.wrapping_sub(shift_ns)));
            let at = stamped.map_or(now, |stamped| stamped.min(now));
            let arrival = Arrival { at, drops: received.drops };
            for datagram in received.datagrams() {
                datagrams += 1;
                self.messages.take(datagram, arrival, now, meters);
            }
        }
        self.messages.flush(meters);
        let new = self.messages.counter().counts.total_messages - before;
        self.running.count(new, new * self.plan.message_bytes as u64);
        applied_load.after(datagrams);
    }

    fn check(
        &mut self,
        now: Instant,
        meters: &mut Meters<ThreadUsage>,
    ) -> Result<Option<EndedBy>, Failure> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if now >= self.window_start {
            meters.usage.begin();
        }
        self.messages.end(now, self.running.is_cancelled())
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut Meters<ThreadUsage>) {
        if self.messages.counter().finished_at.is_none() {
            meters.usage.end();
        }
        self.is_over = true;
        self.ended_by = ended_by;
        self.messages.over();
        let dropped = self.messages.socket().dropped().ok();
        self.messages.counter().close(now, dropped, meters);
    }
}

/// Messages of an engine, and its words.
struct OwnMessages<'a> {
    word: Arc<Word>,
    incoming: Incoming<'a>,
    running: &'a Running,
    expected: u64,
}

impl<'a> Messages<'a> for OwnMessages<'a> {
    fn socket(&self) -> &DatagramSocket {
        &self.word.socket
    }

    fn counter(&mut self) -> &mut Counter<'a> {
        &mut self.incoming.counter
    }

    fn take(
        &mut self,
        datagram: &[u8],
        arrival: Arrival,
        now: Instant,
        meters: &mut Meters<ThreadUsage>,
    ) {
        match self.incoming.take(datagram, arrival, now, meters) {
            Heard::Counted => {}
            Heard::Said(answer) => self.word.say(answer),
            Heard::SentAll(answer) => {
                self.word.end();
                // Waiting for late messages is not part of the messages' cost.
                meters.usage.end();
                self.word.say(answer);
            }
        }
    }

    fn flush(&mut self, meters: &mut Meters<ThreadUsage>) {
        self.incoming.flush(meters);
        let counter = &self.incoming.counter;
        self.word.received(counter.counts.total_messages);
        let new = counter.expected() - std::mem::replace(&mut self.expected, counter.expected());
        self.running.progress.saw(new, counter.delay_variation_ns());
    }

    fn end(&self, now: Instant, is_cancelled: bool) -> Result<Option<EndedBy>, Failure> {
        if is_cancelled {
            return Ok(Some(EndedBy::Cancelled));
        }
        self.incoming.end(now)
    }

    fn closed(&self) -> Option<EndedBy> {
        self.incoming.closed()
    }

    fn over(&self) {
        self.word.end();
    }
}

#[cfg(test)]
mod tests;
