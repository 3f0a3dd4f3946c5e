//! UDP flows numbered as iperf3 does.

use lanlab_os::DatagramSocket;
use lanlab_units::Instant;
use lanlab_wire::iperf3::Head;
use lanlab_wire::session::Token;
use lanlab_workloads::stream::{Action, CpuMeter, Departing, Schedule, Sent, SharedMeters, Step};

use crate::messages::{EndedBy, Failure};
use crate::running::Running;
use crate::workloads::stream::acknowledged::Over;
use crate::workloads::stream::{Plan, udp_send};

const CHECK_NS: u64 = 10_000_000;
/// Delay before retrying on a full local queue.
const NO_ROOM_NS: u64 = 100_000;
/// Such flows have no session.
const NO_TOKEN: Token = Token([0; 16]);

/// Send over connected sockets from `start` on, until the amount is reached.
pub fn send_over(
    (plan, is_wide): (&Plan, bool),
    processor: Option<u16>,
    sockets: &[DatagramSocket],
    running: &Running,
    start: Instant,
) -> Result<Over, Failure> {
    let messages_of = |flow, port| Numbered {
        is_wide,
        running,
        schedule: Schedule::new(plan, flow, &running.progress, start, port),
        next_check: start.plus_nanos(CHECK_NS),
        latest_end: plan.latest_end(start),
        is_over: false,
    };
    udp_send::send_over(plan, (processor, NO_TOKEN), sockets, running, start, messages_of)
}

struct Numbered<'a> {
    is_wide: bool,
    running: &'a Running,
    schedule: Schedule<'a>,
    next_check: Instant,
    latest_end: Instant,
    is_over: bool,
}

impl Departing for Numbered<'_> {
    fn next(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Result<Action, Failure> {
        self.schedule.tries(now);
        if now >= self.next_check {
            self.next_check = now.plus_nanos(CHECK_NS);
            if self.running.is_cancelled() {
                self.stop(EndedBy::Cancelled, now, meters);
                return Ok(Action::Over);
            }
            if now > self.latest_end {
                return Err(lanlab_workloads::went_on_too_long());
            }
        }
        Ok(match self.schedule.next(now, meters) {
            Step::Measure => return self.next(now, meters),
            Step::Over => {
                self.stop(EndedBy::Finished, now, meters);
                Action::Over
            }
            Step::Wait(until) if until > self.next_check => {
                Action::Wait { until: self.next_check, exact: false }
            }
            Step::Wait(until) => Action::Wait { until, exact: true },
            Step::Send(messages) => Action::Send(messages),
        })
    }

    fn write(&self, index: u64, now: Instant, message: &mut [u8]) {
        let microseconds = now.as_nanos() / 1_000;
        let head = Head {
            seconds: (microseconds / 1_000_000) as u32,
            microseconds: (microseconds % 1_000_000) as u32,
            // Counted from 1.
            number: self.schedule.sent.total_messages + index + 1,
        };
        head.emit(message, self.is_wide);
    }

    fn took(&mut self, messages: u64, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) {
        self.schedule.took(messages, messages, now, meters);
    }

    fn blocked(&mut self, now: Instant) {
        self.schedule.blocked(now);
    }

    fn no_room(
        &mut self,
        now: Instant,
        _meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Option<Instant> {
        self.schedule.refused();
        Some(now.plus_nanos(NO_ROOM_NS))
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.schedule.close(now, meters);
            self.schedule.sent.ended_by = ended_by;
        }
    }

    fn into_sent(self, send_buffer_bytes: u64) -> Sent {
        Sent { send_buffer_bytes, ..self.schedule.sent }
    }
}
