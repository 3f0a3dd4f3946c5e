//! The TCP receiver, which counts bytes as it reads them.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};

use lanlab_os::{self as os, Interest, Readiness};
use lanlab_units::Instant;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{ByteCounter, CpuMeter, ReceivedBytes, Threads, sum_up_bytes};

use super::flow_scheduler::is_alone;
use super::flow_threads::{self, Driven, Flow, ThreadUsage, Turn, cpu_of};
use super::receiver_load::AppliedLoad;
use super::{Plan, Session, failure_of_end};
use crate::messages::{EndedBy, Failure, ReceiverLoad, StreamReceive, StreamReceived};
use crate::running::Running;
use crate::workloads::setup::{TICK, accept_streams, is_idle, listen, tcp_facts};

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
    let flows = (session.token, plan.flows);
    let streams =
        accept_streams(&listener, request.peer.ip(), flows, options, plan.silence_ns, running)?;
    drop(listener);
    for stream in &streams {
        // The session's set-up messages are not part of the measurement.
        os::acknowledge_at_once(stream)
            .map_err(|error| Failure::system("quick acknowledgements", &error))?;
    }
    running.watch_connections(streams.iter());
    let start = running.wait_for_start(|| Ok(()))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };
    let ends = Ends::ByTheSender;
    receive_over(plan, request.processor, streams, (ends, request.load), running, start)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    ByTheSender,
    /// This end closes once the amount has arrived: the sender may never end.
    ByTheAmount,
    WhenCancelled,
}

pub fn receive_over(
    plan: &Plan,
    processor: Option<u16>,
    streams: Vec<TcpStream>,
    (ends, load): (Ends, ReceiverLoad),
    running: &Running,
    start: Instant,
) -> Result<(StreamReceived, Option<Failure>), Failure> {
    let work = |share: Vec<(u16, TcpStream)>| {
        let alone = is_alone(share.len(), plan.receive);
        let mut shared = Shared {
            buffer: vec![0; plan.read_bytes],
            usage: ThreadUsage::default(),
            receive_calls: 0,
            intervals: IntervalMeter::new(plan.interval_ns),
            applied_load: AppliedLoad::new(load)?,
        };
        let mut flows = Vec::with_capacity(share.len());
        for (_, stream) in share {
            stream
                .set_read_timeout(Some(TICK))
                .map_err(|error| Failure::system("read time-out", &error))?;
            flows.push(Receiver::new(plan, stream, (alone, ends), running, start));
        }
        for flow in &mut flows {
            flow.begin()?;
        }
        shared.applied_load.begin(processor)?;
        let failure = flow_threads::drive_receivers(&mut flows, &mut shared, plan.receive).err();
        shared.usage.end();
        shared.usage.leave_out(shared.applied_load.worked_ns);
        let flows = flows.into_iter().map(Receiver::finish).collect();
        Ok(Driven { flows, meters: shared, failure })
    };
    let (threads, host) = flow_threads::run(plan, processor, streams, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let cpu = cpu_of(meters.iter().map(|thread| &thread.usage));
    let threads = Threads {
        receive_calls: meters.iter().map(|thread| thread.receive_calls).sum(),
        intervals: meters.into_iter().map(|thread| thread.intervals).collect(),
        cpu,
    };
    let received = sum_up_bytes(plan, flows, threads, host);
    let failure = failure.or_else(|| failure_of_end(received.ended_by));
    Ok((received, failure))
}

struct Shared {
    buffer: Vec<u8>,
    usage: ThreadUsage,
    receive_calls: u64,
    intervals: IntervalMeter,
    applied_load: AppliedLoad,
}

struct Receiver<'a> {
    plan: &'a Plan,
    stream: TcpStream,
    /// Whether the thread has a single flow, and may block in the system call.
    alone: bool,
    ends: Ends,
    running: &'a Running,
    counter: ByteCounter<'a>,
    latest_end: Instant,
    ended_by: EndedBy,
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
            // Read the clock again: the call may have blocked.
            Ok(0) if self.ends == Ends::ByTheAmount => {
                Some(self.counter.end_of_peer(os::monotonic()))
            }
            Ok(0) => Some(self.counter.end_of_stream(os::monotonic())),
            Ok(octets) => {
                let now = os::monotonic();
                if self.counter.is_measuring(now) {
                    shared.usage.begin();
                }
                self.count(octets as u64, now, shared);
                if now > self.latest_end {
                    return Err(lanlab_workloads::went_on_too_long());
                }
                if self.running.is_cancelled() {
                    Some(EndedBy::Cancelled)
                } else {
                    self.has_ended(now).then_some(EndedBy::Finished)
                }
            }
            Err(error) if is_idle(&error) => {
                if self.running.is_cancelled() {
                    Some(EndedBy::Cancelled)
                } else if self.counter.quiet_ns(now) > self.plan.tcp_silence_ns() {
                    Some(EndedBy::Silence)
                } else if self.has_ended(now) {
                    Some(EndedBy::Finished)
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
        self.ended_by = ended_by;
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
        (alone, ends): (bool, Ends),
        running: &'a Running,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            stream,
            alone,
            ends,
            running,
            counter: ByteCounter::new(plan, start),
            latest_end: plan.latest_end(start),
            // Overwritten at a regular end.
            ended_by: EndedBy::Failed,
        }
    }

    /// Without a dialogue, a peer sends once connected. With one, the peer's count covers all.
    fn begin(&mut self) -> Result<(), Failure> {
        if self.ends != Ends::ByTheAmount {
            return Ok(());
        }
        let now = os::monotonic();
        let waiting = os::unread_bytes(&self.stream)
            .map_err(|error| Failure::system("octets not read yet", &error))?;
        self.counter.begin(waiting, now);
        Ok(())
    }

    fn has_ended(&self, now: Instant) -> bool {
        self.ends == Ends::ByTheAmount && self.counter.has_amount(now)
    }

    fn count(&mut self, octets: u64, now: Instant, shared: &mut Shared) {
        let messages = self.counter.count(octets, now, &mut shared.intervals);
        self.running.count(messages, octets);
        shared.receive_calls += 1;
        shared.applied_load.after(messages);
    }

    fn finish(self) -> ReceivedBytes {
        let receive_buffer = socket2::SockRef::from(&self.stream).recv_buffer_size();
        let tcp = tcp_facts(&self.stream);
        // The sender waits for the end of its connection. Dropping the stream is not enough: the sampler has a
        // copy.
        if self.ends != Ends::WhenCancelled {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        let buffer_bytes = receive_buffer.unwrap_or(0) as u64;
        let mut received = self.counter.finish(self.ended_by, buffer_bytes, os::monotonic());
        received.facts.tcp = tcp;
        received
    }
}

#[cfg(test)]
mod tests;
