//! The receiver over TCP: it counts octets as it reads them.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};

use lanlab_os as os;
use lanlab_os::{Interest, Readiness, Usage};
use lanlab_units::Instant;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::CpuMeter;

use super::flow_threads::{self, Driven, Flow, ThreadUsage, Turn};
use super::slowness::Slowness;
use super::{Plan, Session, worst_end};
use crate::host::cpu_time;
use crate::messages::{
    EndedBy, Failure, FlowReceived, HostWindow, Receive, StreamReceive, StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::workloads::setup::{TICK, accept_streams, is_idle, listen, tcp_facts};

/// Accept the sender's connections, then count until it closes them.
pub fn receive(
    request: &StreamReceive,
    session: &Session,
    running: &Running,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let plan = &session.plan;
    let options = &request.spec.socket;
    let mut ports = super::ports_of(request, plan.flows);
    let listener = ports.take(|port| listen(request.bind, port, options))?;
    let port = listener.local_addr().map_err(|error| Failure::system("local port", &error))?.port();
    running.ready(vec![port], None);
    let streams =
        accept_streams(&listener, request.peer, session.token, plan.flows, options, running)?;
    drop(listener);
    running.watch_connections(streams.iter());
    let start = running.wait_for_start(|| Ok(()))?;

    let work = |share: Vec<(u16, TcpStream)>| {
        let alone = share.len() == 1 && plan.receive == Receive::Block;
        let mut shared = Shared {
            buffer: vec![0; plan.read_bytes],
            usage: ThreadUsage::default(),
            receive_calls: 0,
            intervals: IntervalMeter::new(plan.interval_ns),
            slowness: Slowness::new(request.load)?,
        };
        let mut flows = Vec::with_capacity(share.len());
        for (_, stream) in share {
            stream
                .set_read_timeout(Some(TICK))
                .map_err(|error| Failure::system("read time-out", &error))?;
            flows.push(Receiver::new(plan, stream, alone, running, start));
        }
        shared.slowness.begin(request.processor)?;
        let failure = flow_threads::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        shared.usage.end();
        shared.usage.leave_out(shared.slowness.worked_ns());
        let flows = flows.into_iter().map(Receiver::finish).collect();
        Ok(Driven { flows, meters: shared, failure })
    };
    let (threads, host) =
        flow_threads::run(plan, request.processor, streams, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let received = sum_up(plan, flows, &meters, host);
    let (_, ended) = worst_end(std::iter::once(received.ended_by));
    Ok((received, failure.or(ended)))
}

fn sum_up(
    plan: &Plan,
    flows: Vec<Received>,
    threads: &[Shared],
    host: Option<HostWindow>,
) -> StreamReceived {
    let (ended_by, _) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let size = plan.message_bytes as u64;
    let sum = |count: fn(&Received) -> u64| flows.iter().map(count).sum::<u64>();
    let (window_bytes, total_bytes) = (sum(|f| f.facts.window_bytes), sum(|f| f.total_bytes));
    let usage = threads.iter().fold(Usage::default(), |all, thread| all.plus(thread.usage.used()));
    let intervals = threads.iter().map(|thread| thread.intervals.clone()).collect();
    StreamReceived {
        ended_by,
        io: plan.io,
        receive: plan.receive,
        receive_choice: plan.receive_choice.clone(),
        threads: threads.len() as u64,
        timestamps: Timestamps::Program,
        read_bytes: plan.read_bytes as u64,
        window_ns: flows.iter().map(|flow| flow.facts.window_ns).max().unwrap_or(0),
        window_messages: window_bytes / size,
        window_bytes,
        measured_messages: sum(|flow| flow.facts.measured_messages),
        overdue_messages: 0,
        socket_dropped_datagrams: None,
        receive_calls: threads.iter().map(|thread| thread.receive_calls).sum(),
        mark_seen: true,
        duplicate_messages: 0,
        reordered_messages: 0,
        stale_messages: 0,
        foreign_datagrams: 0,
        total_messages: total_bytes / size,
        total_bytes,
        delay_variation: None,
        one_way_delay: None,
        intervals: IntervalMeter::merge(intervals, false),
        receive_buffer_bytes: flows.iter().map(|f| f.receive_buffer_bytes).max().unwrap_or(0),
        cpu: cpu_time(usage),
        host,
        flows: flows.into_iter().map(|flow| flow.facts).collect(),
    }
}

/// What one flow came to.
struct Received {
    ended_by: EndedBy,
    total_bytes: u64,
    receive_buffer_bytes: u64,
    facts: FlowReceived,
}

/// What the flows of one thread have in common.
struct Shared {
    buffer: Vec<u8>,
    usage: ThreadUsage,
    receive_calls: u64,
    intervals: IntervalMeter,
    slowness: Slowness,
}

/// One flow while it receives.
struct Receiver<'a> {
    plan: &'a Plan,
    stream: TcpStream,
    /// Whether the thread has no other flow, and may wait in the system's call.
    alone: bool,
    running: &'a Running,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    /// By then it is over, whatever the sender sends.
    latest_end: Instant,
    last_arrival: Instant,
    received: Received,
}

impl Flow for Receiver<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        let outcome = if self.alone {
            (&mut &self.stream).read(&mut shared.buffer)
        } else {
            os::receive_now(&self.stream, &mut shared.buffer)
        };
        let ended_by = match outcome {
            // The time now: the call may have waited.
            Ok(0) => Some(self.end_of_stream(os::monotonic())),
            Ok(octets) => {
                let now = os::monotonic();
                if now >= self.window_start {
                    shared.usage.begin();
                }
                self.count(octets as u64, now, shared);
                if now > self.latest_end {
                    return Err(lanlab_workloads::went_on_too_long());
                }
                self.running.is_cancelled().then_some(EndedBy::Cancelled)
            }
            Err(error) if is_idle(&error) => {
                let quiet_ns = now.nanos_since(self.last_arrival.max(self.start));
                if self.running.is_cancelled() {
                    Some(EndedBy::Cancelled)
                } else if quiet_ns > self.plan.silence_ns {
                    Some(EndedBy::Silence)
                } else {
                    return Ok(Turn::Blocked);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                Some(EndedBy::PeerClosed)
            }
            Err(error) => return Err(Failure::system("read", &error)),
        };
        let Some(ended_by) = ended_by else { return Ok(Turn::Again) };
        self.received.ended_by = ended_by;
        Ok(Turn::Over)
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(&self.stream, key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(&self.stream)
    }
}

impl<'a> Receiver<'a> {
    fn new(
        plan: &'a Plan,
        stream: TcpStream,
        alone: bool,
        running: &'a Running,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            stream,
            alone,
            running,
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            latest_end: plan.latest_end(start),
            last_arrival: start,
            received: Received {
                // Until it ends otherwise.
                ended_by: EndedBy::Failed,
                total_bytes: 0,
                receive_buffer_bytes: 0,
                facts: FlowReceived {
                    window_bytes: 0,
                    window_ns: 0,
                    measured_messages: 0,
                    tcp: None,
                },
            },
        }
    }

    fn count(&mut self, octets: u64, now: Instant, shared: &mut Shared) {
        self.last_arrival = now;
        let before = self.received.total_bytes;
        self.received.total_bytes += octets;
        let size = self.plan.message_bytes as u64;
        let messages = self.received.total_bytes / size - before / size;
        self.running.count(messages, octets);
        shared.receive_calls += 1;
        shared.intervals.record(now.nanos_since(self.start), 0, octets);
        if now >= self.window_start && self.window_end.is_none_or(|end| now < end) {
            self.received.facts.window_bytes += octets;
        }
        shared.slowness.after(messages);
    }

    /// A sender closes its end when it has sent all; one that dies closes it too, but too early.
    fn end_of_stream(&self, now: Instant) -> EndedBy {
        let complete = match (self.window_end, self.plan.messages()) {
            (Some(end), _) => now >= end,
            (None, Some(messages)) => {
                self.received.total_bytes >= messages * self.plan.message_bytes as u64
            }
            (None, None) => true,
        };
        if complete { EndedBy::Finished } else { EndedBy::PeerClosed }
    }

    fn finish(mut self) -> Received {
        let now = os::monotonic();
        let received = &mut self.received;
        received.receive_buffer_bytes =
            socket2::SockRef::from(&self.stream).recv_buffer_size().unwrap_or(0) as u64;
        let end = self.window_end.map_or(self.last_arrival, |end| end.min(now));
        received.facts.window_ns = end.nanos_since(self.window_start);
        received.facts.measured_messages =
            received.facts.window_bytes / self.plan.message_bytes as u64;
        received.facts.tcp = tcp_facts(&self.stream);
        // The sender waits for the end of its connection. To drop the stream is not enough, as the
        // sampler has it, too.
        let _ = self.stream.shutdown(Shutdown::Both);
        self.received
    }
}
