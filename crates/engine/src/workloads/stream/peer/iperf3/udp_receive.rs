//! UDP flows numbered by an iperf3 server, counted like those of an engine.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lanlab_os as os;
use lanlab_os::{BATCH_MESSAGES, DatagramSocket, Interest, Readiness, ReceiveBatch, Usage};
use lanlab_units::Instant;
use lanlab_wire::iperf3::Head;
use lanlab_workloads::stream::{Arrival, Counter, Counts, CpuMeter, Meters, Run};

use super::dialogue::Receiving;
use crate::host::cpu_time;
use crate::messages::{EndedBy, Failure, Io};
use crate::running::Running;
use crate::workloads::setup::is_idle;
use crate::workloads::stream::flow_scheduler::is_alone;
use crate::workloads::stream::flow_threads::{self, Driven, Flow, ThreadUsage, Turn};
use crate::workloads::stream::udp_receive::{buffer_bytes, sum_up};
use crate::workloads::stream::{Plan, worst_end};

/// Interval at which a flow checks whether to stop.
const CHECK_NS: u64 = 10_000_000;

/// More messages than any flow has; smaller numbers cannot overflow sums.
const MOST_MESSAGES: u64 = 1 << 62;

#[derive(Default)]
pub struct Watched {
    pub flows: Vec<WatchedFlow>,
    pub is_over: AtomicBool,
}

#[derive(Default)]
pub struct WatchedFlow {
    pub messages: AtomicU64,
    pub expected: AtomicU64,
    pub first_measured: AtomicU64,
    /// Jitter as in RFC 3550, section 6.4.1.
    pub jitter_ns: AtomicU64,
}

impl Watched {
    pub fn of(flows: usize) -> Self {
        Self { flows: (0..flows).map(|_| WatchedFlow::default()).collect(), ..Self::default() }
    }
}

/// Receive over connected sockets until the test is over, and count.
pub fn receive_over(
    (plan, is_wide): (&Plan, bool),
    processor: Option<u16>,
    sockets: &[DatagramSocket],
    watched: &Watched,
    running: &Running,
    start: Instant,
) -> Receiving {
    for socket in sockets {
        socket
            .enable_drop_counts()
            .and_then(|()| socket.set_receive_timeout(Some(Duration::from_nanos(CHECK_NS))))
            .map_err(|error| Failure::system("socket options", &error))?;
    }
    let work = |share: Vec<(u16, &DatagramSocket)>| {
        let alone = is_alone(share.len(), plan.receive);
        let buffers = if plan.io == Io::Single { 1 } else { BATCH_MESSAGES };
        let mut shared = Shared {
            batch: ReceiveBatch::new(buffers, buffer_bytes(plan)),
            meters: Meters::new(plan, None),
        };
        let mut flows: Vec<_> = share
            .into_iter()
            .map(|(flow, socket)| Receiver {
                plan,
                socket,
                alone,
                is_wide,
                watched,
                flow: flow.into(),
                running,
                counter: Counter::new(plan, start),
                window_start: plan.warmup_end(plan.arrivals_from(start)),
                last_arrival: start,
                next_check: start,
                latest_end: plan.latest_end(start),
                ended_by: EndedBy::Failed,
                is_over: false,
            })
            .collect();
        let failure = flow_threads::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        for flow in flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.stop(EndedBy::Failed, os::monotonic(), &mut shared.meters);
        }
        let flows = flows.into_iter().map(|flow| (flow.ended_by, flow.counter.counts)).collect();
        Ok(Driven::<(EndedBy, Counts), _> { flows, meters: shared.meters, failure })
    };
    let receive_buffer_bytes = sockets
        .first()
        .and_then(|socket| socket2::SockRef::from(socket.plain()).recv_buffer_size().ok());
    let all = sockets.iter().collect();
    let (threads, host) = flow_threads::run(plan, processor, all, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let used = meters.iter().fold(Usage::default(), |all, thread| all.plus(thread.usage.used()));
    let buffers = (buffer_bytes(plan) as u64, receive_buffer_bytes.unwrap_or(0) as u64);
    let received = sum_up(plan, flows, &meters, cpu_time(used), buffers, host);
    let (_, ended) = worst_end(std::iter::once(received.ended_by));
    Ok((received, failure.or(ended)))
}

struct Shared {
    batch: ReceiveBatch,
    meters: Meters<ThreadUsage>,
}

struct Receiver<'a> {
    plan: &'a Plan,
    socket: &'a DatagramSocket,
    /// Whether the thread has a single flow, and may block in the system call.
    alone: bool,
    is_wide: bool,
    watched: &'a Watched,
    flow: usize,
    running: &'a Running,
    counter: Counter<'a>,
    window_start: Instant,
    last_arrival: Instant,
    next_check: Instant,
    latest_end: Instant,
    ended_by: EndedBy,
    is_over: bool,
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
        match self.socket.receive_batch(&mut shared.batch, self.alone) {
            Ok(_) => {
                self.take(shared);
                Ok(Turn::Again)
            }
            // The control connection reports a closed port.
            Err(error) if is_idle(&error) || error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok(Turn::Blocked)
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

impl Receiver<'_> {
    fn take(&mut self, Shared { batch, meters }: &mut Shared) {
        let now = os::monotonic();
        if now >= self.window_start {
            meters.usage.begin();
        }
        meters.receive_calls += 1;
        self.last_arrival = now;
        let before = self.counter.counts.total_messages;
        for received in batch.received() {
            let arrival = Arrival { at: now, drops: received.drops };
            for datagram in received.datagrams() {
                self.count(datagram, arrival, meters);
            }
        }
        let total = self.counter.counts.total_messages;
        let new = total - before;
        let (seen, counter) = (&self.watched.flows[self.flow], &self.counter);
        seen.messages.store(total, Ordering::Release);
        seen.expected.store(counter.expected(), Ordering::Release);
        seen.first_measured.store(counter.counts.first_measured.unwrap_or(0), Ordering::Release);
        seen.jitter_ns.store(counter.delay_variation_ns(), Ordering::Release);
        self.running.count(new, new * self.plan.message_bytes as u64);
    }

    fn count(&mut self, datagram: &[u8], arrival: Arrival, meters: &mut Meters<ThreadUsage>) {
        let head = Head::parse(datagram, self.is_wide);
        let number = head.map_or(0, |head| head.number);
        let is_ours = number <= MOST_MESSAGES && datagram.len() == self.plan.message_bytes;
        let Some(first) = number.checked_sub(1).filter(|_| is_ours) else {
            self.counter.counts.foreign_datagrams += 1;
            return;
        };
        let Ok(head) = head else { return };
        if self.counter.counts.first_measured.is_none() && arrival.at >= self.window_start {
            self.counter.mark(first);
        }
        let sent_ns = u64::from(head.seconds)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(u64::from(head.microseconds) * 1_000);
        self.counter.count(Run { first, count: 1, sent_ns, arrival }, meters);
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
        if self.watched.is_over.load(Ordering::Acquire) {
            return Ok(Some(EndedBy::Finished));
        }
        if self.running.is_cancelled() {
            return Ok(Some(EndedBy::Cancelled));
        }
        if now > self.latest_end {
            return Err(lanlab_workloads::went_on_too_long());
        }
        let quiet_ns = now.nanos_since(self.last_arrival);
        let is_silent = quiet_ns > self.plan.longest_silence_ns();
        Ok(is_silent.then_some(EndedBy::Silence))
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut Meters<ThreadUsage>) {
        meters.usage.end();
        self.is_over = true;
        self.ended_by = ended_by;
        self.counter.close(now, self.socket.dropped().ok(), meters);
    }
}
