//! The TCP sender: one message is one write, unless the condition joins them.

use std::io::{self, IoSlice, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use lanlab_os::{self as os, Interest, Readiness};
use lanlab_units::Instant;

use super::acknowledged::{self, Acknowledgements, Confirmation, Drained, Over};
use super::flow_scheduler::waits_for_room;
use super::flow_threads::{self, Driven, Flow, ThreadUsage, Turn, cpu_of};
use super::{Plan, Session, failure_of_end};
use crate::messages::{AcknowledgedFlow, EndedBy, Failure, StreamSend, StreamSent};
use crate::running::Running;
use crate::workloads::setup::{
    TICK, connect_stream, is_closed, is_idle, socket_address, tcp_facts,
};
use crate::workloads::shared_message;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{Schedule, Sent, SharedMeters, Step, sum_up_sent};

/// Time-out of a blocked write, to check whether the peer is still there.
pub const BLOCKED: Duration = Duration::from_millis(50);
const CHECK_NS: u64 = 10_000_000;
const END_LOOK_NS: u64 = 500_000;

pub fn send(
    request: &StreamSend,
    session: &Session,
    running: &Running,
) -> Result<(StreamSent, Option<Failure>), Failure> {
    let plan = &session.plan;
    let peer = socket_address(request.peer, request.ports[0])?;
    let mut streams = Vec::with_capacity(plan.flows.into());
    let mut round_trip_ns = u64::MAX;
    for flow in 0..plan.flows {
        let (ends, options) = ((request.bind, peer), &request.spec.socket);
        let (stream, flow_ns) =
            connect_stream(ends, options, session.token, flow, plan.silence_ns, running)?;
        stream
            .set_write_timeout(Some(BLOCKED))
            .and_then(|()| stream.set_read_timeout(Some(TICK)))
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.min(flow_ns);
        streams.push(stream);
    }
    running.watch_connections(streams.iter());
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };
    let by = Confirmation::ByClosing;
    let over = send_over(plan, request.processor, streams, by, running, start)?;
    Ok((over.sent, over.failure))
}

/// Send over connections from `start` on, until the receiver has confirmed the end.
pub fn send_over(
    plan: &Plan,
    processor: Option<u16>,
    streams: Vec<TcpStream>,
    confirmation: Confirmation,
    running: &Running,
    start: Instant,
) -> Result<Over, Failure> {
    let work = |share: Vec<(u16, TcpStream)>| {
        let alone = waits_for_room(share.len());
        let mut flows: Vec<_> = share
            .into_iter()
            .map(|(flow, stream)| {
                let confirmed = Acknowledgements::new(confirmation, &stream, plan, start);
                Sender::new(plan, flow, stream, (alone, confirmed), running, start)
            })
            .collect();
        let mut shared = Shared {
            message: shared_message(plan.message_bytes),
            meters: SharedMeters::default(),
            acknowledged: IntervalMeter::new(plan.interval_ns),
        };
        let (stopped, failure) = flow_threads::send_from(start, &mut flows, &mut shared, running);
        for flow in flows.iter_mut().filter(|flow| flow.phase != Phase::Over) {
            flow.stop(stopped, os::monotonic(), &mut shared);
        }
        let flows = flows.into_iter().map(Sender::finish).collect();
        Ok(Driven { flows, meters: (shared.meters, shared.acknowledged), failure })
    };
    let (threads, host) = flow_threads::run(plan, processor, streams, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let (flows, acknowledged): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
    let (meters, intervals): (Vec<_>, Vec<_>) = meters.into_iter().unzip();
    let cpu = cpu_of(meters.iter().map(|thread| &thread.usage));
    let sent = sum_up_sent(plan, flows, &meters, cpu, host);
    let failure = failure.or_else(|| failure_of_end(sent.ended_by));
    let acknowledged = acknowledged::sum_up(acknowledged, intervals);
    Ok(Over { sent, acknowledged, failure })
}

struct Shared {
    message: Arc<[u8]>,
    meters: SharedMeters<ThreadUsage>,
    acknowledged: IntervalMeter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Sending,
    Draining,
    Over,
}

struct Sender<'a> {
    plan: &'a Plan,
    stream: TcpStream,
    /// Whether the thread has a single flow, and may block in the system call.
    alone: bool,
    running: &'a Running,
    schedule: Schedule<'a>,
    phase: Phase,
    /// Messages in progress, when their turn was, and their unwritten bytes.
    writing: Option<(u64, Instant, usize)>,
    next_check: Instant,
    last_progress: Instant,
    acknowledged_bytes: u64,
    confirmed: Acknowledgements,
    latest_end: Instant,
}

impl Flow for Sender<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        match self.phase {
            Phase::Sending => self.send(now, shared),
            Phase::Draining => {
                self.look(now, shared);
                Ok(self.drain(now))
            }
            Phase::Over => Ok(Turn::Over),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(&self.stream, key, Interest::Write)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(&self.stream)
    }
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        flow: u16,
        stream: TcpStream,
        (alone, confirmed): (bool, Acknowledgements),
        running: &'a Running,
        start: Instant,
    ) -> Self {
        let local_port = stream.local_addr().map_or(0, |address| address.port());
        Self {
            plan,
            stream,
            alone,
            running,
            schedule: Schedule::new(plan, flow, &running.progress, start, local_port),
            phase: Phase::Sending,
            writing: None,
            next_check: start.plus_nanos(CHECK_NS),
            last_progress: start,
            acknowledged_bytes: 0,
            confirmed,
            latest_end: plan.latest_end(start),
        }
    }

    fn finish(mut self) -> (Sent, Option<AcknowledgedFlow>) {
        self.schedule.sent.send_buffer_bytes =
            socket2::SockRef::from(&self.stream).send_buffer_size().unwrap_or(0) as u64;
        self.schedule.sent.tcp = tcp_facts(&self.stream);
        (self.schedule.sent, self.confirmed.finish())
    }

    fn look(&mut self, now: Instant, shared: &mut Shared) {
        let size = self.plan.message_bytes;
        let begun = self.writing.map_or(0, |(messages, _, left)| messages as usize * size - left);
        let written_bytes = self.schedule.sent.total_messages * size as u64 + begun as u64;
        self.confirmed.look(&self.stream, written_bytes, now, &mut shared.acknowledged);
    }

    fn over(&mut self, ended_by: EndedBy) -> Turn {
        self.schedule.sent.ended_by = ended_by;
        self.phase = Phase::Over;
        Turn::Over
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, shared: &mut Shared) -> Turn {
        self.schedule.close(now, &mut shared.meters);
        self.look(now, shared);
        self.confirmed.end();
        self.over(ended_by)
    }

    fn send(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        self.schedule.tries(now);
        if now >= self.next_check {
            self.next_check = now.plus_nanos(CHECK_NS);
            if self.running.is_cancelled() {
                return Ok(self.stop(EndedBy::Cancelled, now, shared));
            }
            if now > self.latest_end {
                return Err(lanlab_workloads::went_on_too_long());
            }
            self.look(now, shared);
        }
        if self.writing.is_some() {
            return self.write(now, shared);
        }
        match self.schedule.next(now, &mut shared.meters) {
            Step::Measure => {
                self.look(now, shared);
                self.confirmed.begin();
                Ok(Turn::Again)
            }
            Step::Over => {
                self.schedule.close(now, &mut shared.meters);
                self.look(now, shared);
                if self.plan.end(now).is_some() {
                    self.confirmed.end();
                }
                // End of data: the receiver reads it and closes its end.
                if self.confirmed.closes() && self.stream.shutdown(Shutdown::Write).is_err() {
                    return Ok(self.over(EndedBy::PeerClosed));
                }
                self.last_progress = now;
                self.phase = Phase::Draining;
                Ok(Turn::Again)
            }
            Step::Wait(until) if until > self.next_check => {
                Ok(Turn::Wait { until: self.next_check, exact: false })
            }
            Step::Wait(until) => Ok(Turn::Wait { until, exact: true }),
            Step::Send(1) if self.alone => self.write_run(now, shared),
            Step::Send(messages) => {
                self.last_progress = now;
                self.writing = Some((messages, now, messages as usize * self.plan.message_bytes));
                self.write(now, shared)
            }
        }
    }

    /// Write messages one per call, until one is written partially or the clock must be read.
    fn write_run(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        self.last_progress = now;
        let size = shared.message.len();
        let (mut whole, mut part) = (0, None);
        for _ in 0..self.schedule.run_length() {
            match (&mut &self.stream).write(&shared.message) {
                Ok(octets) if octets == size => whole += 1,
                other => {
                    part = Some(other);
                    break;
                }
            }
        }
        self.schedule.took(whole, whole, now, &mut shared.meters);
        let Some(part) = part else { return Ok(Turn::Again) };
        self.writing = Some((1, now, size));
        self.take(part, now, shared)
    }

    /// Write the rest of the current messages: one in one call, or several in one vector.
    fn write(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        let Some((messages, _, left)) = self.writing else { return Ok(Turn::Again) };
        let size = shared.message.len();
        // The rest of a partially written message, then whole ones.
        let part = left % size;
        let rest = &shared.message[if part == 0 { 0 } else { size - part }..];
        let written = if messages > 1 && self.alone {
            let mut slices = [IoSlice::new(&[]); os::BATCH_MESSAGES];
            let count = left.div_ceil(size);
            slices[0] = IoSlice::new(rest);
            for slice in &mut slices[1..count] {
                *slice = IoSlice::new(&shared.message);
            }
            (&mut &self.stream).write_vectored(&slices[..count])
        } else if self.alone {
            (&mut &self.stream).write(rest)
        } else {
            os::send_now(&self.stream, rest)
        };
        self.take(written, now, shared)
    }

    fn take(
        &mut self,
        written: io::Result<usize>,
        now: Instant,
        shared: &mut Shared,
    ) -> Result<Turn, Failure> {
        let Some((messages, began, left)) = self.writing else { return Ok(Turn::Again) };
        match written {
            Ok(0) => Ok(self.stop(EndedBy::PeerClosed, now, shared)),
            Ok(octets) if octets == left => {
                self.writing = None;
                self.schedule.took(messages, messages, began, &mut shared.meters);
                Ok(Turn::Again)
            }
            Ok(octets) => {
                self.writing = Some((messages, began, left - octets));
                self.last_progress = now;
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => {
                self.schedule.blocked(now);
                Ok(match self.blocked(now) {
                    Some(ended_by) => self.stop(ended_by, now, shared),
                    None => Turn::Blocked,
                })
            }
            Err(error) if is_closed(&error) => Ok(self.stop(EndedBy::PeerClosed, now, shared)),
            Err(error) => Err(Failure::system("write", &error)),
        }
    }

    fn blocked(&mut self, now: Instant) -> Option<EndedBy> {
        if self.running.is_cancelled() {
            return Some(EndedBy::Cancelled);
        }
        self.is_quiet(now).then_some(EndedBy::Silence)
    }

    fn is_quiet(&mut self, now: Instant) -> bool {
        let acknowledged =
            os::tcp_info(&self.stream).map_or(0, |info| info.facts.acknowledged_bytes);
        if acknowledged > self.acknowledged_bytes {
            self.acknowledged_bytes = acknowledged;
            self.last_progress = now;
        }
        now.nanos_since(self.last_progress) > self.plan.tcp_silence_ns()
    }

    /// Wait until the receiver has read everything and closed its end, or its TCP has acknowledged everything.
    fn drain(&mut self, now: Instant) -> Turn {
        match self.confirmed.drained(&self.stream) {
            Drained::ByClosing => {}
            Drained::All => {
                self.confirmed.end();
                return self.over(EndedBy::Finished);
            }
            Drained::Gone => return self.over(EndedBy::PeerClosed),
            Drained::NotYet if self.running.is_cancelled() => return self.over(EndedBy::Cancelled),
            Drained::NotYet if self.is_quiet(now) || now > self.latest_end => {
                return self.over(EndedBy::Silence);
            }
            Drained::NotYet => {
                return Turn::Wait { until: now.plus_nanos(END_LOOK_NS), exact: false };
            }
        }
        match os::receive_now(&self.stream, &mut [0; 64]) {
            Ok(0) => self.over(EndedBy::Finished),
            // A lanlab receiver sends nothing, so this peer is another program.
            Ok(_) => self.over(EndedBy::Unconfirmed),
            Err(error) if is_idle(&error) => {
                if self.running.is_cancelled() {
                    self.over(EndedBy::Cancelled)
                } else if self.is_quiet(now) || now > self.latest_end {
                    self.over(EndedBy::Unconfirmed)
                } else {
                    Turn::Wait { until: now.plus_nanos(END_LOOK_NS), exact: false }
                }
            }
            Err(_) => self.over(EndedBy::PeerClosed),
        }
    }
}

#[cfg(test)]
mod tests;
