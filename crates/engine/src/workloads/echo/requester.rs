//! Sends requests and receives replies in real time, over UDP or TCP. `lanlab_workloads::echo` decides when to send
//! and how replies count.

use lanlab_os as os;
use lanlab_units::{Instant, Pace};
use lanlab_workloads::echo::{
    ClosedLoop, Counts, Due, Handed, Heard, LastHeard, Plan, RateListener, RateSchedule,
    RateSender, Step,
};

use crate::messages::{CpuTime, EchoRequested, EndedBy, Failure};
use crate::running::Running;
use crate::waiting::Waiter;
use crate::workloads::setup::bind;

pub trait Requests: Send {
    fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Failure>;
    /// Send time of the request due at `asked`, which is later if preparing it took time.
    fn left_at(&self, asked: Instant) -> Instant {
        asked
    }
    /// Send the responder a keep-alive message.
    fn say_alive(&mut self) {}
    /// Kernel timestamp of the last request, if any: calendar clock, nanoseconds.
    fn kernel_sent_ns(&mut self) -> Option<u64> {
        None
    }
}

pub trait Replies {
    /// Wait a few milliseconds at most.
    fn next(&mut self) -> Result<Heard, Failure>;
    /// Kernel timestamp of the last reply.
    fn kernel_arrived_ns(&self) -> Option<u64> {
        None
    }
}

pub fn run(
    plan: &Plan,
    processor: Option<u16>,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    running: &Running,
    start: Instant,
) -> Result<EchoRequested, Failure> {
    // Cancelled before the start: nothing is measured.
    let began = running.wait_to_begin(start).unwrap_or(start);
    let work = || {
        // The schedule's thread inherits the processor binding of this one.
        bind(processor)?;
        match plan.pace {
            None => closed_loop(plan, requests, replies, running, start),
            Some(pace) => on_schedule(plan, pace, requests, replies, running, start),
        }
    };
    let (done, host) = running.with_progress(start, plan.warmup_end(start), work);
    let Requested { ended_by, usage, counts } = done?;
    let start_skew_ns = began.signed_nanos_from(start);
    Ok(EchoRequested { host, ..outcome(plan, start_skew_ns, ended_by, &counts, usage) })
}

/// The requester's counters as its outcome, without those of the host and TCP.
pub(crate) fn outcome(
    plan: &Plan,
    start_skew_ns: i64,
    ended_by: EndedBy,
    counts: &Counts,
    cpu: CpuTime,
) -> EchoRequested {
    let (sending_ns, sending_replies) = counts.sending();
    EchoRequested {
        ended_by,
        receive: plan.receive,
        start_skew_ns,
        elapsed_ns: counts.elapsed_ns(),
        sending_ns,
        sending_replies,
        offered_requests: counts.offered,
        requests: counts.sent,
        replies: counts.round_trip.samples(),
        timeouts: counts.timeouts(),
        late_replies: counts.late,
        duplicate_replies: counts.duplicate,
        refused_requests: counts.refused,
        foreign_datagrams: counts.foreign,
        round_trip: counts.round_trip.finish(),
        kernel_round_trip: (counts.kernel_round_trip.samples() > 0)
            .then(|| counts.kernel_round_trip.finish()),
        over_time: counts.over_time.finish(),
        cpu,
        host: None,
        tcp: None,
    }
}

struct Requested {
    ended_by: EndedBy,
    usage: CpuTime,
    counts: Counts,
}

fn closed_loop(
    plan: &Plan,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    running: &Running,
    start: Instant,
) -> Result<Requested, Failure> {
    let mut requester = ClosedLoop::new(plan, &running.progress, start);
    let mut usage = os::thread_usage();
    let mut now = os::monotonic();
    loop {
        match requester.next(now)? {
            Step::Measure => usage = os::thread_usage(),
            Step::Send(sequence) => {
                let handed = requests.send(sequence, now)?;
                requester.handed(handed, requests.left_at(now));
            }
            // No receive waits longer than the time-out.
            Step::Listen(_) => {
                let heard = replies.next()?;
                now = os::monotonic();
                let is_measured = requester.heard(heard, now);
                if !matches!(heard, Heard::Reply(_)) {
                    continue;
                }
                // Read timestamps during the warm-up, too: unread ones would fill the buffer of a raw socket.
                if let Some(arrived_ns) = replies.kernel_arrived_ns()
                    && let Some(sent_ns) = requests.kernel_sent_ns()
                    && is_measured
                {
                    let round_trip_ns = arrived_ns.wrapping_sub(sent_ns).cast_signed();
                    requester.counts.kernel_round_trip.record(round_trip_ns);
                }
                // Time spent on a reply is not part of the next round trip.
                now = os::monotonic();
            }
            Step::Wait(until) => {
                os::sleep_until(until);
                now = os::monotonic();
            }
            Step::Over(ended_by) => {
                let usage = os::thread_usage().since(usage);
                return Ok(Requested { ended_by, usage, counts: requester.counts });
            }
        }
    }
}

/// A separate thread sends requests on schedule, without waiting for replies.
fn on_schedule(
    plan: &Plan,
    pace: Pace,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    running: &Running,
    start: Instant,
) -> Result<Requested, Failure> {
    let schedule = RateSchedule::new(plan, pace, start);
    let last_heard = LastHeard::new(start);
    let sender = RateSender::new(plan, &running.progress, &last_heard, schedule);
    let mut listener = RateListener::new(plan, &running.progress, &last_heard, schedule);
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || send_on_schedule(sender, requests));
        let usage = os::thread_usage();
        let ended_by = loop {
            let heard = replies.next().inspect_err(|_| running.cancel())?;
            let now = os::monotonic();
            listener.heard(heard, now);
            if let Some(ended_by) = listener.end(now, sending.is_finished())? {
                break ended_by;
            }
        };
        let (sender, sender_usage) =
            sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let ended_by = listener.close(&sender, ended_by, os::monotonic());
        let usage = os::thread_usage().since(usage).plus(sender_usage);
        Ok(Requested { ended_by, usage, counts: listener.counts })
    })
}

fn send_on_schedule<'a>(
    mut sender: RateSender<'a>,
    requests: &mut impl Requests,
) -> Result<(RateSender<'a>, CpuTime), Failure> {
    os::prepare_thread();
    let before = os::thread_usage();
    let mut waiter = Waiter::new();
    loop {
        let now = os::monotonic();
        match sender.next(now) {
            Due::Send(sequence) => {
                let handed = requests.send(sequence, now)?;
                sender.handed(handed, now);
            }
            Due::SayAlive => requests.say_alive(),
            Due::Wait(until) => {
                waiter.wait_until(until);
            }
            Due::Rest(until) => os::sleep_until(until),
            Due::Over => return Ok((sender, os::thread_usage().since(before))),
        }
    }
}

#[cfg(test)]
mod tests;
