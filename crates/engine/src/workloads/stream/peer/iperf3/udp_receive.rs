//! UDP flows numbered by an iperf3 server, counted like those of an engine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanlab_os::DatagramSocket;
use lanlab_units::Instant;
use lanlab_wire::iperf3::Head;
use lanlab_workloads::stream::{Arrival, Counter, Meters, Run};

use super::dialogue::Receiving;
use crate::messages::{EndedBy, Failure};
use crate::running::Running;
use crate::workloads::stream::Plan;
use crate::workloads::stream::flow_threads::ThreadUsage;
use crate::workloads::stream::udp_receive::{
    self, Messages, Reading, buffer_bytes, receive_buffer_bytes,
};

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
pub fn receive_over<'a>(
    (plan, is_wide): (&'a Plan, bool),
    processor: Option<u16>,
    sockets: &'a [DatagramSocket],
    watched: &'a Watched,
    running: &'a Running,
    start: Instant,
) -> Receiving {
    for socket in sockets {
        socket.enable_drop_counts().map_err(|error| Failure::system("socket options", &error))?;
    }
    let reading = Reading {
        processor,
        read_bytes: buffer_bytes(plan),
        receive_buffer_bytes: receive_buffer_bytes(sockets),
        ..Reading::default()
    };
    let messages_of = |flow, socket| Numbered {
        plan,
        socket,
        is_wide,
        is_over: &watched.is_over,
        watched: &watched.flows[usize::from(flow)],
        counter: Counter::new(plan, start),
        window_start: plan.warmup_end(plan.arrivals_from(start)),
        last_arrival: start,
        latest_end: plan.latest_end(start),
    };
    udp_receive::receive_over(plan, reading, sockets.iter().collect(), running, start, messages_of)
}

struct Numbered<'a> {
    plan: &'a Plan,
    socket: &'a DatagramSocket,
    is_wide: bool,
    is_over: &'a AtomicBool,
    watched: &'a WatchedFlow,
    counter: Counter<'a>,
    window_start: Instant,
    last_arrival: Instant,
    latest_end: Instant,
}

impl<'a> Messages<'a> for Numbered<'a> {
    fn socket(&self) -> &DatagramSocket {
        self.socket
    }

    fn counter(&mut self) -> &mut Counter<'a> {
        &mut self.counter
    }

    fn take(
        &mut self,
        datagram: &[u8],
        arrival: Arrival,
        now: Instant,
        meters: &mut Meters<ThreadUsage>,
    ) {
        self.last_arrival = now;
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

    fn flush(&mut self, _meters: &mut Meters<ThreadUsage>) {
        let (seen, counter) = (self.watched, &self.counter);
        seen.messages.store(counter.counts.total_messages, Ordering::Release);
        seen.expected.store(counter.expected(), Ordering::Release);
        seen.first_measured.store(counter.counts.first_measured.unwrap_or(0), Ordering::Release);
        seen.jitter_ns.store(counter.delay_variation_ns(), Ordering::Release);
    }

    fn end(&self, now: Instant, is_cancelled: bool) -> Result<Option<EndedBy>, Failure> {
        if self.is_over.load(Ordering::Acquire) {
            return Ok(Some(EndedBy::Finished));
        }
        if is_cancelled {
            return Ok(Some(EndedBy::Cancelled));
        }
        if now > self.latest_end {
            return Err(lanlab_workloads::went_on_too_long());
        }
        let quiet_ns = now.nanos_since(self.last_arrival);
        let is_silent = quiet_ns > self.plan.longest_silence_ns();
        Ok(is_silent.then_some(EndedBy::Silence))
    }
}
