//! UDP flows numbered as iperf3 does.

use std::io;
use std::time::Duration;

use lanlab_os as os;
use lanlab_os::{DatagramSocket, Interest, Readiness, SendBatch};
use lanlab_units::Instant;
use lanlab_wire::iperf3::Head;
use lanlab_workloads::stream::{Schedule, Sent, SharedMeters, Step};

use crate::messages::{EndedBy, Failure};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{is_idle, is_no_room, local_port};
use crate::workloads::stream::Plan;
use crate::workloads::stream::acknowledged::Over;
use crate::workloads::stream::flow_scheduler::waits_for_room;
use crate::workloads::stream::flow_threads::{self, Driven, Flow, ThreadUsage, Turn};
use crate::workloads::stream::hand_over::hand_over;
use crate::workloads::stream::sent::{cpu_of, sum_up};

/// Longest wait for room between checks for a stop.
const BLOCKED: Duration = Duration::from_millis(50);
const CHECK_NS: u64 = 10_000_000;
/// Delay before retrying on a full local queue.
const NO_ROOM_NS: u64 = 100_000;

/// Send over connected sockets from `start` on, until the amount is reached.
pub fn send_over(
    (plan, is_wide): (&Plan, bool),
    processor: Option<u16>,
    sockets: &[DatagramSocket],
    running: &Running,
    start: Instant,
) -> Result<Over, Failure> {
    let work = |share: Vec<(u16, &DatagramSocket)>| {
        let alone = waits_for_room(share.len());
        let mut flows = share
            .into_iter()
            .map(|(flow, socket)| {
                let port = local_port(socket)?;
                Ok(Sender {
                    plan,
                    socket,
                    alone,
                    is_wide,
                    running,
                    schedule: Schedule::new(plan, flow, &running.progress, start, port),
                    next_check: start.plus_nanos(CHECK_NS),
                    latest_end: plan.latest_end(start),
                    blocked_since: None,
                    is_over: false,
                })
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let mut shared = Shared {
            batch: SendBatch::new(plan.group, plan.message_bytes, padding()),
            meters: SharedMeters::default(),
        };
        let (stopped, failure) = flow_threads::send_from(start, &mut flows, &mut shared, running);
        for flow in flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.stop(stopped, os::monotonic(), &mut shared);
        }
        let flows = flows.into_iter().map(Sender::finish).collect();
        Ok(Driven { flows, meters: shared.meters, failure })
    };
    let sockets = sockets.iter().collect();
    let (threads, host) = flow_threads::run(plan, processor, sockets, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let (sent, ended) = sum_up(plan, flows, &meters, cpu_of(&meters), host);
    Ok(Over { sent, acknowledged: None, failure: failure.or(ended) })
}

struct Shared {
    batch: SendBatch,
    meters: SharedMeters<ThreadUsage>,
}

struct Sender<'a> {
    plan: &'a Plan,
    socket: &'a DatagramSocket,
    alone: bool,
    is_wide: bool,
    running: &'a Running,
    schedule: Schedule<'a>,
    next_check: Instant,
    latest_end: Instant,
    blocked_since: Option<Instant>,
    is_over: bool,
}

impl Flow for Sender<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        if let Some(since) = self.blocked_since.take() {
            self.schedule.blocked(now.nanos_since(since));
        }
        if now >= self.next_check {
            self.next_check = now.plus_nanos(CHECK_NS);
            if self.running.is_cancelled() {
                return Ok(self.stop(EndedBy::Cancelled, now, shared));
            }
            if now > self.latest_end {
                return Err(lanlab_workloads::went_on_too_long());
            }
        }
        match self.schedule.next(now, &mut shared.meters) {
            Step::Measure => Ok(Turn::Again),
            Step::Over => Ok(self.stop(EndedBy::Finished, now, shared)),
            Step::Wait(until) if until > self.next_check => {
                Ok(Turn::Wait { until: self.next_check, exact: false })
            }
            Step::Wait(until) => Ok(Turn::Wait { until, exact: true }),
            Step::Send(messages) => self.send(messages as usize, now, shared),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Write)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

impl Sender<'_> {
    fn send(&mut self, count: usize, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        let count = count.clamp(1, self.plan.group);
        let microseconds = now.as_nanos() / 1_000;
        for index in 0..count {
            let head = Head {
                seconds: (microseconds / 1_000_000) as u32,
                microseconds: (microseconds % 1_000_000) as u32,
                // Counted from 1.
                number: self.schedule.sent.total_messages + index as u64 + 1,
            };
            head.emit(shared.batch.message(index), self.is_wide);
        }
        match hand_over(self.socket, &mut shared.batch, (self.plan.io, count), false) {
            Ok(sent) => {
                let sent = sent as u64;
                self.schedule.took(sent, sent, now, &mut shared.meters);
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => {
                self.blocked_since = Some(now);
                if self.alone {
                    os::wait_writable(self.socket.plain(), BLOCKED)
                        .map_err(|error| Failure::system("waiting for room", &error))?;
                }
                Ok(Turn::Blocked)
            }
            Err(error) if is_no_room(&error) => {
                self.schedule.refused();
                Ok(Turn::Wait { until: now.plus_nanos(NO_ROOM_NS), exact: false })
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok(self.stop(EndedBy::PeerClosed, now, shared))
            }
            Err(error) => Err(Failure::system(
                format!("send a message of {} bytes", self.plan.message_bytes),
                &error,
            )),
        }
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, shared: &mut Shared) -> Turn {
        self.schedule.close(now, &mut shared.meters);
        self.schedule.sent.ended_by = ended_by;
        self.is_over = true;
        Turn::Over
    }

    fn finish(mut self) -> Sent {
        let buffer_bytes = socket2::SockRef::from(self.socket.plain()).send_buffer_size();
        self.schedule.sent.send_buffer_bytes = buffer_bytes.unwrap_or(0) as u64;
        self.schedule.sent
    }
}
