//! When requests leave and what their replies say, whatever they travel in.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use lanlab_os as os;
use lanlab_os::Usage;
use lanlab_units::{Instant, Pace};

use super::Plan;
use crate::host::cpu_time;
use crate::messages::{EchoRequested, EndedBy, Failure};
use crate::running::Running;
use crate::waiting::Waiter;
use crate::workloads::setup::bind;
use lanlab_workloads::measure::{DistributionMeter, Pacer, Seen, SequenceWindow, Turn};

/// How often a requester looks whether the driver wants it to stop.
const CHECK_NS: u64 = 10_000_000;

/// A schedule that has heard nothing for so long sends nothing more until it hears something.
const DEAD_MAN_NS: u64 = 900_000_000;

/// What became of a request handed to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handed {
    Sent,
    /// No room in a queue of this host.
    Refused,
    /// The peer has closed its end.
    Closed,
}

/// What a look at the replies found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// The reply to this request.
    Reply(u64),
    /// Nothing yet.
    Idle,
    /// Another word of the peer's.
    Alive,
    /// Something that is no reply.
    Foreign,
    /// The peer has closed its end.
    Closed,
}

/// Where requests go.
pub trait Requests: Send {
    fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Failure>;
    /// Whether what is sent goes on if nobody takes it, so that a schedule must pause by itself.
    fn pauses_for_silence(&self) -> bool {
        false
    }
    /// Nothing is due for a while: let the responder know that we are here.
    fn keep_alive(&mut self, now: Instant);
    /// The kernel's stamp of the last request sent, if there is one: calendar clock, nanoseconds.
    fn kernel_sent_ns(&mut self) -> Option<u64> {
        None
    }
}

/// Where replies come from.
pub trait Replies {
    /// Wait some milliseconds at most.
    fn next(&mut self) -> Result<Heard, Failure>;
    /// The kernel's stamp of the last reply, likewise.
    fn kernel_arrived_ns(&self) -> Option<u64> {
        None
    }
}

/// Run a requester from `start` to its end.
pub fn run(
    plan: &Plan,
    processor: Option<u16>,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    running: &Running,
    start: Instant,
) -> Result<EchoRequested, Failure> {
    // Whoever cancels before the start finds nothing measured.
    let began = running.wait_to_begin(start).unwrap_or(start);
    let mut counts = Counts::new(plan, start);
    let work = || {
        // The thread of a schedule is started from this one, and bound with it.
        bind(processor)?;
        match plan.pace {
            None => counts.closed_loop(requests, replies, running),
            Some(pace) => counts.scheduled(pace, requests, replies, running),
        }
    };
    let (done, host) = running.with_progress(start, plan.warmup_end(start), work);
    let (ended_by, usage) = done?;
    let counts = counts;
    Ok(EchoRequested {
        ended_by,
        receive: plan.receive,
        start_skew_ns: began.signed_nanos_from(start),
        elapsed_ns: counts.last.nanos_since(counts.measured_from),
        offered_requests: counts.offered,
        requests: counts.sent,
        replies: counts.round_trip.samples(),
        timeouts: counts.sent - counts.round_trip.samples(),
        late_replies: counts.late,
        duplicate_replies: counts.duplicate,
        refused_requests: counts.refused,
        foreign_datagrams: counts.foreign,
        round_trip: counts.round_trip.finish(),
        kernel_round_trip: (counts.kernel_round_trip.samples() > 0)
            .then(|| counts.kernel_round_trip.finish()),
        cpu: cpu_time(usage),
        host,
        tcp: None,
    })
}

/// What is counted; of the measured part only.
struct Counts<'a> {
    plan: &'a Plan,
    start: Instant,
    warmup_end: Instant,
    measured_from: Instant,
    /// Number of the first measured request.
    first_measured: u64,
    latest_end: Instant,
    offered: u64,
    sent: u64,
    refused: u64,
    late: u64,
    duplicate: u64,
    foreign: u64,
    round_trip: DistributionMeter,
    kernel_round_trip: DistributionMeter,
    arrived: SequenceWindow,
    /// The last reply or time-out.
    last: Instant,
    last_heard: Instant,
}

impl<'a> Counts<'a> {
    fn new(plan: &'a Plan, start: Instant) -> Self {
        Self {
            plan,
            start,
            warmup_end: plan.warmup_end(start),
            measured_from: plan.warmup_end(start),
            first_measured: u64::MAX,
            latest_end: plan.latest_end(start),
            offered: 0,
            sent: 0,
            refused: 0,
            late: 0,
            duplicate: 0,
            foreign: 0,
            round_trip: DistributionMeter::new(),
            kernel_round_trip: DistributionMeter::new(),
            arrived: SequenceWindow::new(),
            last: plan.warmup_end(start),
            last_heard: start,
        }
    }

    /// The next request when the reply is there or overdue.
    fn closed_loop(
        &mut self,
        requests: &mut impl Requests,
        replies: &mut impl Replies,
        running: &Running,
    ) -> Result<(EndedBy, Usage), Failure> {
        let end = self.plan.end(self.start);
        let mut usage = os::thread_usage();
        let mut sequence = 0;
        let ended_by = loop {
            let sent_at = os::monotonic();
            if running.is_cancelled() {
                break EndedBy::Cancelled;
            }
            if self.first_measured == u64::MAX && sent_at >= self.warmup_end {
                self.first_measured = sequence;
                self.measured_from = sent_at;
                usage = os::thread_usage();
            }
            let measured = sequence >= self.first_measured;
            if sent_at >= end || (measured && self.offered == self.plan.requests()) {
                break EndedBy::Finished;
            }
            if sent_at.nanos_since(self.last_heard) > self.plan.silence_ns {
                break EndedBy::Silence;
            }
            if sent_at > self.latest_end {
                return Err(super::went_on_too_long());
            }
            self.offered += u64::from(measured);
            match requests.send(sequence, sent_at)? {
                Handed::Closed => break EndedBy::PeerClosed,
                Handed::Refused => {
                    self.refused += u64::from(measured);
                    sequence += 1;
                    os::sleep_until(sent_at.plus_nanos(1_000_000));
                    continue;
                }
                Handed::Sent => {}
            }
            self.sent += u64::from(measured);
            running.count(1, self.plan.message_bytes as u64);
            match self.await_reply(sequence, sent_at, requests, replies, running)? {
                None => sequence += 1,
                Some(ended_by) => break ended_by,
            }
        };
        Ok((ended_by, os::thread_usage().since(usage)))
    }

    /// Until the reply to `sequence` is there or overdue. `Some` if that is the end of all.
    fn await_reply(
        &mut self,
        sequence: u64,
        sent_at: Instant,
        requests: &mut impl Requests,
        replies: &mut impl Replies,
        running: &Running,
    ) -> Result<Option<EndedBy>, Failure> {
        loop {
            let heard = replies.next()?;
            let now = os::monotonic();
            let overdue = now.nanos_since(sent_at) > self.plan.timeout_ns;
            match heard {
                Heard::Reply(number) if number == sequence => {
                    self.take(number, now.nanos_since(sent_at), now);
                    if sequence >= self.first_measured
                        && let Some(arrived_ns) = replies.kernel_arrived_ns()
                        && let Some(sent_ns) = requests.kernel_sent_ns()
                    {
                        let round_trip_ns = arrived_ns.wrapping_sub(sent_ns).cast_signed();
                        self.kernel_round_trip.record(round_trip_ns);
                    }
                    return Ok(None);
                }
                // An answer to an earlier request, which is overdue, or again.
                Heard::Reply(number) => self.take(number, u64::MAX, now),
                Heard::Foreign => self.foreign += 1,
                Heard::Closed => return Ok(Some(EndedBy::PeerClosed)),
                Heard::Idle | Heard::Alive => {}
            }
            if overdue {
                if sequence >= self.first_measured {
                    self.last = now;
                }
                return Ok(None);
            }
            if running.is_cancelled() {
                return Ok(Some(EndedBy::Cancelled));
            }
        }
    }

    /// Requests leave on schedule, whatever becomes of the replies.
    fn scheduled(
        &mut self,
        pace: Pace,
        requests: &mut impl Requests,
        replies: &mut impl Replies,
        running: &Running,
    ) -> Result<(EndedBy, Usage), Failure> {
        let end = self.plan.end(self.start);
        self.first_measured = pace.slots_within(self.plan.warmup_ns);
        self.measured_from = pace.slot(self.start, self.first_measured);
        let total = match self.plan.requests() {
            u64::MAX => pace.slots_within(end.nanos_since(self.start)),
            measured => self.first_measured + measured,
        };
        self.offered = total.saturating_sub(self.first_measured);
        let (plan, start, first_measured) = (self.plan, self.start, self.first_measured);
        let heard_ns = AtomicU64::new(start.as_nanos());
        let heard_ns = &heard_ns;
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || {
                let measured = first_measured..total;
                send_on_schedule(plan, pace, start, measured, requests, heard_ns, running)
            });
            let usage = os::thread_usage();
            let mut stopped = None;
            // Until the last reply is there or overdue, which is known once all has been sent.
            let mut last_due = None;
            while stopped.is_none() {
                let heard = replies.next().inspect_err(|_| running.cancel())?;
                let now = os::monotonic();
                if matches!(heard, Heard::Reply(_) | Heard::Alive) {
                    heard_ns.store(now.as_nanos(), Ordering::Relaxed);
                }
                match heard {
                    // What was not asked for yet cannot be answered: a short number gone wrong.
                    Heard::Reply(sequence)
                        if sequence < total && pace.slot(start, sequence) <= now =>
                    {
                        let intended = pace.slot(start, sequence);
                        self.take(sequence, now.nanos_since(intended), now);
                    }
                    Heard::Reply(_) | Heard::Foreign => self.foreign += 1,
                    Heard::Closed => stopped = Some(EndedBy::PeerClosed),
                    Heard::Idle | Heard::Alive => {}
                }
                if last_due.is_none() && sender.is_finished() {
                    last_due = Some(now.plus_nanos(self.plan.timeout_ns));
                }
                if last_due.is_some_and(|due| now >= due) || self.is_complete(total) {
                    break;
                }
                if now.nanos_since(self.last_heard) > self.plan.silence_ns {
                    stopped = Some(EndedBy::Silence);
                }
                if running.is_cancelled() {
                    stopped = Some(EndedBy::Cancelled);
                }
                if now > self.latest_end {
                    running.cancel();
                    return Err(super::went_on_too_long());
                }
            }
            if stopped.is_some() {
                // The sender looks at this, too.
                running.cancel();
            }
            let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            self.sent = sent.sent;
            self.refused = sent.refused;
            self.last = self.last.max(os::monotonic());
            let ended_by = stopped.or(sent.stopped).unwrap_or(EndedBy::Finished);
            Ok((ended_by, os::thread_usage().since(usage).plus(sent.usage)))
        })
    }

    /// Whether every request up to `total` has its reply.
    fn is_complete(&self, total: u64) -> bool {
        self.arrived.expected() == total
            && self.round_trip.samples() + self.late == total - self.first_measured
    }

    /// Take in the reply to `sequence` after `round_trip_ns`.
    fn take(&mut self, sequence: u64, round_trip_ns: u64, now: Instant) {
        self.last_heard = now;
        let measured = sequence >= self.first_measured;
        match self.arrived.observe(sequence) {
            Seen::Duplicate | Seen::Stale => self.duplicate += u64::from(measured),
            Seen::InOrder | Seen::Reordered if measured => {
                self.last = now;
                if round_trip_ns <= self.plan.timeout_ns {
                    self.round_trip.record(round_trip_ns.cast_signed());
                } else {
                    self.late += 1;
                }
            }
            Seen::InOrder | Seen::Reordered => {}
        }
    }
}

/// Whether nothing has been heard for so long that nobody may be there.
fn is_quiet(heard_ns: &AtomicU64, now: Instant) -> bool {
    let heard = Instant::from_nanos(heard_ns.load(Ordering::Relaxed));
    now.nanos_since(heard) > DEAD_MAN_NS
}

/// What the sending thread of a schedule came to.
struct Scheduled {
    sent: u64,
    refused: u64,
    stopped: Option<EndedBy>,
    usage: Usage,
}

fn send_on_schedule(
    plan: &Plan,
    pace: Pace,
    start: Instant,
    measured: Range<u64>,
    requests: &mut impl Requests,
    heard_ns: &AtomicU64,
    running: &Running,
) -> Result<Scheduled, Failure> {
    os::prepare_thread();
    let before = os::thread_usage();
    let mut pacer = Pacer::new(pace, start, 1);
    let mut waiter = Waiter::new();
    let mut scheduled = Scheduled { sent: 0, refused: 0, stopped: None, usage: before };
    while pacer.taken() < measured.end && scheduled.stopped.is_none() {
        let now = os::monotonic();
        match pacer.turn(now, measured.end) {
            Turn::Wait(until) if until > now.plus_nanos(CHECK_NS) => {
                os::sleep_until(now.plus_nanos(CHECK_NS));
                requests.keep_alive(now);
            }
            Turn::Wait(until) => {
                waiter.wait_until(until);
            }
            Turn::Send(_) if requests.pauses_for_silence() && is_quiet(heard_ns, now) => {
                os::sleep_until(now.plus_nanos(CHECK_NS));
                requests.keep_alive(now);
            }
            Turn::Send(_) => {
                let sequence = pacer.taken();
                let counted = u64::from(measured.contains(&sequence));
                match requests.send(sequence, now)? {
                    Handed::Sent => {
                        scheduled.sent += counted;
                        running.count(1, plan.message_bytes as u64);
                    }
                    Handed::Refused => scheduled.refused += counted,
                    Handed::Closed => scheduled.stopped = Some(EndedBy::PeerClosed),
                }
                pacer.took(1, now);
            }
        }
        if running.is_cancelled() {
            scheduled.stopped = Some(EndedBy::Cancelled);
        }
    }
    scheduled.usage = os::thread_usage().since(before);
    Ok(scheduled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{EchoAmount, Receive, Timestamps};
    use crate::output::Output;

    /// Requests that go nowhere, and what was done with them.
    #[derive(Default)]
    struct Noted<'a> {
        sent: Vec<(u64, Instant)>,
        /// When the responder was told that we are here.
        kept_alive: Vec<Instant>,
        /// What was heard of a peer that is silent until it was reminded twice.
        silent: Option<&'a AtomicU64>,
    }

    impl Requests for Noted<'_> {
        fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Failure> {
            self.sent.push((sequence, now));
            Ok(Handed::Sent)
        }

        fn pauses_for_silence(&self) -> bool {
            self.silent.is_some()
        }

        fn keep_alive(&mut self, now: Instant) {
            self.kept_alive.push(now);
            if let Some(heard_ns) = self.silent
                && self.kept_alive.len() == 2
            {
                heard_ns.store(os::monotonic().as_nanos(), Ordering::Relaxed);
            }
        }
    }

    /// Send three requests at `rate` from now on, of which the last two are measured.
    fn scheduled(
        rate: f64,
        requests: &mut Noted,
        heard_ns: &AtomicU64,
    ) -> (Pace, Instant, Scheduled) {
        let pace = Pace::from_message_rate(rate).unwrap();
        let plan = Plan {
            message_bytes: 64,
            amount: EchoAmount::Requests(2),
            pace: Some(pace),
            receive: Receive::Block,
            timestamps: Timestamps::Program,
            timeout_ns: 1_000_000_000,
            warmup_ns: 0,
            silence_ns: 5_000_000_000,
        };
        let running = Running::new(1, Output::new(std::io::sink()));
        let start = os::monotonic();
        let sent = send_on_schedule(&plan, pace, start, 1..3, requests, heard_ns, &running);
        (pace, start, sent.unwrap())
    }

    #[test]
    fn requests_leave_in_order_none_before_it_is_due_and_only_measured_ones_count() {
        let (mut requests, heard) = (Noted::default(), AtomicU64::new(0));
        let (pace, start, scheduled) = scheduled(1000.0, &mut requests, &heard);
        assert_eq!((scheduled.sent, scheduled.refused, scheduled.stopped), (2, 0, None));
        let numbers: Vec<u64> = requests.sent.iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(requests.sent.iter().all(|&(sequence, at)| at >= pace.slot(start, sequence)));
    }

    #[test]
    fn a_responder_is_reminded_while_no_request_is_due_for_long() {
        let (mut requests, heard) = (Noted::default(), AtomicU64::new(0));
        scheduled(4.0, &mut requests, &heard);
        assert_eq!(requests.sent.len(), 3);
        assert!(requests.kept_alive.len() >= 2, "{:?}", requests.kept_alive);
    }

    #[test]
    fn nothing_is_sent_to_a_silent_peer_until_it_is_heard_again() {
        let heard = AtomicU64::new(0);
        let mut requests = Noted { silent: Some(&heard), ..Noted::default() };
        scheduled(1000.0, &mut requests, &heard);
        let (_, first_sent) = requests.sent[0];
        assert_eq!(requests.kept_alive.len(), 2);
        assert!(requests.kept_alive.iter().all(|&at| at < first_sent));
        assert_eq!(requests.sent.len(), 3);
    }
}
