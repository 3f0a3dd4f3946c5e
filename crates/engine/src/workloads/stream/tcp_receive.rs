//! The receiver over TCP: it counts octets as it reads them.

use std::io::{self, Read};
use std::net::TcpStream;

use lanlab_link as link;
use lanlab_link::Usage;
use lanlab_units::Instant;

use super::{Plan, Session, run_flows, worst_end};
use crate::failure::Failure;
use crate::measure::IntervalMeter;
use crate::messages::{
    EndedBy, FlowReceived, Intervals, Receive, StreamReceive, StreamReceived, Timestamps,
};
use crate::running::Running;
use crate::workloads::setup::{TICK, accept_streams, is_idle, listen, tcp_facts};

/// What one read asks for, whatever the size of a message: TCP keeps no messages.
const READ_BYTES: usize = 262_144;

/// Accept the sender's connections, then count until it closes them.
pub fn receive(
    request: &StreamReceive,
    session: &Session,
    running: &Running,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let plan = &session.plan;
    let options = &request.spec.socket;
    let listener = listen(request.bind, request.port, options)?;
    let port = listener.local_addr().map_err(|error| Failure::system("local port", &error))?.port();
    running.ready(vec![port], None);
    let streams =
        accept_streams(&listener, request.peer, session.token, plan.flows, options, running)?;
    drop(listener);
    let start = running.wait_for_start(|| Ok(()))?;

    let flows = run_flows(streams, running, start, |_, stream| {
        Receiver::new(plan, &stream, running, start).run()
    });
    let flows = flows.into_iter().collect::<Result<Vec<Received>, Failure>>()?;
    let (ended_by, failure) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let size = plan.message_bytes as u64;
    let sum = |count: fn(&Received) -> u64| flows.iter().map(count).sum::<u64>();
    let (window_bytes, total_bytes) = (sum(|f| f.facts.window_bytes), sum(|f| f.total_bytes));
    let mut received = StreamReceived {
        ended_by,
        io: plan.io,
        receive: Receive::Block,
        receive_choice: None,
        threads: flows.len() as u64,
        timestamps: Timestamps::Program,
        read_bytes: READ_BYTES as u64,
        window_ns: flows.iter().map(|flow| flow.facts.window_ns).max().unwrap_or(0),
        window_messages: window_bytes / size,
        window_bytes,
        measured_messages: sum(|flow| flow.facts.measured_messages),
        overdue_messages: 0,
        socket_dropped_datagrams: None,
        receive_calls: 0,
        mark_seen: true,
        duplicate_messages: 0,
        reordered_messages: 0,
        stale_messages: 0,
        foreign_datagrams: 0,
        total_messages: total_bytes / size,
        total_bytes,
        delay_variation: None,
        one_way_delay: None,
        intervals: Intervals::default(),
        receive_buffer_bytes: flows.iter().map(|f| f.receive_buffer_bytes).max().unwrap_or(0),
        cpu: flows.iter().fold(Usage::default(), |all, flow| all.plus(flow.cpu)).into(),
        host: None,
        flows: Vec::new(),
    };
    let (facts, intervals) = flows.into_iter().map(|flow| (flow.facts, flow.intervals)).unzip();
    received.flows = facts;
    received.intervals = IntervalMeter::merge(intervals, false);
    Ok((received, failure))
}

/// What one flow came to.
struct Received {
    ended_by: EndedBy,
    total_bytes: u64,
    receive_buffer_bytes: u64,
    intervals: IntervalMeter,
    cpu: Usage,
    facts: FlowReceived,
}

/// One flow while it receives.
struct Receiver<'a> {
    plan: &'a Plan,
    stream: &'a TcpStream,
    running: &'a Running,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    usage: Option<Usage>,
    last_arrival: Instant,
    received: Received,
}

impl<'a> Receiver<'a> {
    fn new(plan: &'a Plan, stream: &'a TcpStream, running: &'a Running, start: Instant) -> Self {
        Self {
            plan,
            stream,
            running,
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            usage: None,
            last_arrival: start,
            received: Received {
                ended_by: EndedBy::Silence,
                total_bytes: 0,
                receive_buffer_bytes: 0,
                intervals: IntervalMeter::new(plan.interval_ns),
                cpu: Usage::default(),
                facts: FlowReceived {
                    window_bytes: 0,
                    window_ns: 0,
                    measured_messages: 0,
                    tcp: None,
                },
            },
        }
    }

    fn run(mut self) -> Result<Received, Failure> {
        let mut buffer = vec![0; READ_BYTES];
        self.stream
            .set_read_timeout(Some(TICK))
            .map_err(|error| Failure::system("read time-out", &error))?;
        let ended_by = loop {
            let outcome = (&mut &*self.stream).read(&mut buffer);
            let now = link::monotonic();
            if self.usage.is_none() && now >= self.window_start {
                self.usage = Some(link::thread_usage());
            }
            match outcome {
                Ok(0) => break self.end_of_stream(now),
                Ok(octets) => self.count(octets as u64, now),
                Err(error) if is_idle(&error) => {
                    if self.running.is_cancelled() {
                        break EndedBy::Cancelled;
                    }
                    if now.nanos_since(self.last_arrival.max(self.start)) > self.plan.silence_ns {
                        break EndedBy::Silence;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    break EndedBy::PeerClosed;
                }
                Err(error) => return Err(Failure::system("read", &error)),
            }
            if self.running.is_cancelled() {
                break EndedBy::Cancelled;
            }
        };
        Ok(self.finish(ended_by))
    }

    fn count(&mut self, octets: u64, now: Instant) {
        self.last_arrival = now;
        let before = self.received.total_bytes;
        self.received.total_bytes += octets;
        let size = self.plan.message_bytes as u64;
        let messages = self.received.total_bytes / size - before / size;
        self.running.count(messages, octets);
        self.received.intervals.record(now.nanos_since(self.start), 0, octets);
        if now >= self.window_start && self.window_end.is_none_or(|end| now < end) {
            self.received.facts.window_bytes += octets;
        }
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

    fn finish(mut self, ended_by: EndedBy) -> Received {
        let now = link::monotonic();
        let received = &mut self.received;
        received.ended_by = ended_by;
        received.cpu =
            self.usage.map_or(Usage::default(), |usage| link::thread_usage().since(usage));
        received.receive_buffer_bytes =
            socket2::SockRef::from(self.stream).recv_buffer_size().unwrap_or(0) as u64;
        let end = self.window_end.map_or(self.last_arrival, |end| end.min(now));
        received.facts.window_ns = end.nanos_since(self.window_start);
        received.facts.measured_messages =
            received.facts.window_bytes / self.plan.message_bytes as u64;
        received.facts.tcp = tcp_facts(self.stream);
        self.received
    }
}
