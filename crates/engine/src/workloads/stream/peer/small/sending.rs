//! Sending flows over the small stack.

use std::sync::Arc;

use lanlab_os as os;
use lanlab_stack::ip::small::READ_BYTES;
use lanlab_stack::ip::{ConnectionId, Received};
use lanlab_units::Instant;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{
    AcknowledgedCounter, Schedule, Sent, SharedMeters, Step, sum_up_sent,
};

use super::at_link::AtLink;
use super::{LOOK_NS, finish};
use crate::messages::{EndedBy, Failure, PeerStreamed};
use crate::running::Running;
use crate::workloads::shared_message;
use crate::workloads::stream::flow_threads::{ThreadUsage, Turn, cpu_of};
use crate::workloads::stream::{Plan, acknowledged};

struct Shared {
    message: Arc<[u8]>,
    meters: SharedMeters<ThreadUsage>,
    acknowledged: IntervalMeter,
    returned_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Sending,
    Draining,
    Over,
}

struct Flow<'a> {
    plan: &'a Plan,
    id: ConnectionId,
    schedule: Schedule<'a>,
    phase: Phase,
    /// Messages in progress, when their turn was, and their unsent bytes.
    writing: Option<(u64, Instant, usize)>,
    counter: AcknowledgedCounter,
    acknowledged_bytes: u64,
    last_progress: Instant,
    next_look: Instant,
}

pub fn send(
    plan: &Plan,
    at_link: &mut AtLink,
    connections: &[ConnectionId],
    running: &Running,
    start: Instant,
) -> Result<PeerStreamed, Failure> {
    let mut shared = Shared {
        message: shared_message(plan.message_bytes),
        meters: SharedMeters::default(),
        acknowledged: IntervalMeter::new(plan.interval_ns),
        returned_bytes: 0,
    };
    let mut flows: Vec<_> = (0..)
        .zip(connections)
        .map(|(flow, &id)| Flow {
            plan,
            id,
            schedule: Schedule::new(plan, flow, &running.progress, start, 0),
            phase: Phase::Sending,
            writing: None,
            counter: AcknowledgedCounter::new(start, 0).within(plan.window(start)),
            acknowledged_bytes: 0,
            last_progress: start,
            next_look: start,
        })
        .collect();
    let latest_end = plan.latest_end(start);
    let began = running.wait_to_begin(start);
    let mut stopped = began.is_none().then_some(EndedBy::Cancelled);
    while stopped.is_none() && flows.iter().any(|flow| flow.phase != Phase::Over) {
        let mut now = os::monotonic();
        let mut has_more = at_link.arrive(now)?;
        let mut until = now.plus_nanos(LOOK_NS);
        for flow in flows.iter_mut().filter(|flow| flow.phase != Phase::Over) {
            now = os::monotonic();
            match flow.turn(now, at_link, &mut shared) {
                Turn::Again => has_more = true,
                Turn::Wait { until: at, .. } => until = until.min(at),
                Turn::Blocked | Turn::Over => {}
            }
        }
        at_link.depart(now)?;
        if now > latest_end {
            return Err(lanlab_workloads::went_on_too_long());
        }
        stopped = running.is_cancelled().then_some(EndedBy::Cancelled);
        if !has_more {
            at_link.wait(now, until)?;
        }
    }
    for flow in flows.iter_mut().filter(|flow| flow.phase != Phase::Over) {
        flow.stop(EndedBy::Cancelled, os::monotonic(), at_link, &mut shared);
    }
    let (mut sent, mut acknowledged) = (Vec::new(), Vec::new());
    for (flow, tcp) in flows.into_iter().zip(finish(at_link, connections)?) {
        acknowledged.push(Some(flow.counter.finish()));
        sent.push(Sent { tcp: Some(tcp), ..flow.schedule.sent });
    }
    let meters = [shared.meters];
    let cpu = cpu_of(meters.iter().map(|thread| &thread.usage));
    Ok(PeerStreamed {
        sent: Some(sum_up_sent(plan, sent, &meters, cpu, None)),
        acknowledged: acknowledged::sum_up(acknowledged, vec![shared.acknowledged]),
        returned_bytes: Some(shared.returned_bytes),
        ..PeerStreamed::default()
    })
}

impl Flow<'_> {
    fn turn(&mut self, now: Instant, at_link: &mut AtLink, shared: &mut Shared) -> Turn {
        let interface = &mut at_link.framed.station.interface;
        // Data from the peer is read and discarded, so that it can continue.
        loop {
            match interface.receive(now, self.id, &mut [0; READ_BYTES]) {
                Received::Bytes(bytes) => shared.returned_bytes += bytes as u64,
                Received::Nothing | Received::End => break,
                Received::Broken => {
                    return self.stop(EndedBy::PeerClosed, now, at_link, shared);
                }
            }
        }
        if now >= self.next_look {
            self.next_look = now.plus_nanos(LOOK_NS);
            self.look(now, at_link, shared);
            if now.nanos_since(self.last_progress) > self.plan.tcp_silence_ns()
                && (self.writing.is_some() || self.phase == Phase::Draining)
            {
                return self.stop(EndedBy::Silence, now, at_link, shared);
            }
        }
        if self.phase == Phase::Draining {
            return self.drain(now, at_link, shared);
        }
        self.schedule.tries(now);
        if self.writing.is_some() {
            return self.write(now, at_link, shared);
        }
        match self.schedule.next(now, &mut shared.meters) {
            Step::Measure => {
                self.look(now, at_link, shared);
                self.counter.begin();
                Turn::Again
            }
            Step::Over => {
                self.schedule.close(now, &mut shared.meters);
                self.look(now, at_link, shared);
                if self.plan.end(now).is_some() {
                    self.counter.end();
                }
                at_link.framed.station.interface.close(now, self.id);
                self.last_progress = now;
                self.phase = Phase::Draining;
                Turn::Again
            }
            Step::Wait(until) => Turn::Wait { until: until.min(self.next_look), exact: true },
            Step::Send(messages) => {
                self.last_progress = now;
                self.writing = Some((messages, now, messages as usize * self.plan.message_bytes));
                self.write(now, at_link, shared)
            }
        }
    }

    fn write(&mut self, now: Instant, at_link: &mut AtLink, shared: &mut Shared) -> Turn {
        let Some((messages, began, left)) = self.writing else { return Turn::Again };
        let size = shared.message.len();
        let part = left % size;
        let rest = &shared.message[if part == 0 { 0 } else { size - part }..];
        let taken = at_link.framed.station.interface.send(now, self.id, rest);
        if taken == 0 {
            self.schedule.blocked(now);
            return Turn::Blocked;
        }
        if taken == left {
            self.writing = None;
            self.schedule.took(messages, messages, began, &mut shared.meters);
        } else {
            self.writing = Some((messages, began, left - taken));
        }
        Turn::Again
    }

    fn look(&mut self, now: Instant, at_link: &AtLink, shared: &mut Shared) {
        let facts = at_link.framed.station.interface.facts(self.id);
        let acknowledged_bytes = facts.accepted_bytes - facts.unacknowledged_bytes;
        if acknowledged_bytes > self.acknowledged_bytes {
            self.acknowledged_bytes = acknowledged_bytes;
            self.last_progress = now;
        }
        let written_bytes = facts.accepted_bytes;
        self.counter.look(acknowledged_bytes, written_bytes, now, &mut shared.acknowledged);
    }

    fn drain(&mut self, now: Instant, at_link: &mut AtLink, shared: &mut Shared) -> Turn {
        self.look(now, at_link, shared);
        let facts = at_link.framed.station.interface.facts(self.id);
        if facts.unacknowledged_bytes == 0 {
            self.counter.end();
            return self.over(EndedBy::Finished);
        }
        if at_link.framed.station.interface.is_over(self.id) {
            return self.over(EndedBy::PeerClosed);
        }
        Turn::Blocked
    }

    fn stop(
        &mut self,
        ended_by: EndedBy,
        now: Instant,
        at_link: &mut AtLink,
        shared: &mut Shared,
    ) -> Turn {
        if self.phase == Phase::Sending {
            self.schedule.close(now, &mut shared.meters);
        }
        self.look(now, at_link, shared);
        self.counter.end();
        at_link.framed.station.interface.abort(now, self.id);
        self.over(ended_by)
    }

    fn over(&mut self, ended_by: EndedBy) -> Turn {
        self.schedule.sent.ended_by = ended_by;
        self.phase = Phase::Over;
        Turn::Over
    }
}
