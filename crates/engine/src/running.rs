//! A running measurement: start, cancellation and progress.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::Progress;
use parking_lot::{Condvar, Mutex};

use crate::background::{Work, with_background};
use crate::host_window::HostSnapshot;
use crate::messages::{self, Failure, HostWindow, Outcome, Ready, Reply};
use crate::output::Output;
use crate::tcp_sampler::{MOST_WATCHED, TcpSampler};
use crate::waiting::Waiter;

/// A request that is ready but not armed times out after this: on a path of 10 s, set-up takes 40 s per flow.
const ARM_TIMEOUT_NS: u64 = 900_000_000_000;
const MAX_ROUND_TRIP_NS: u64 = 600_000_000_000;
/// A start may be at most this far ahead.
const MAX_AHEAD_NS: u64 = 600_000_000_000;
const NEAR_NS: u64 = 5_000_000;

/// A failed measurement, with its results so far.
#[derive(Debug)]
pub struct Failed {
    pub failure: Failure,
    pub outcome: Option<Outcome>,
}

/// Lets `?` pass on a failure without results.
impl From<Failure> for Box<Failed> {
    fn from(failure: Failure) -> Self {
        Self::new(Failed { failure, outcome: None })
    }
}

pub type Measured = Result<Outcome, Box<Failed>>;

pub fn conclude(outcome: Outcome, failure: Option<Failure>) -> Measured {
    match failure {
        None => Ok(outcome),
        Some(failure) => Err(Box::new(Failed { failure, outcome: Some(outcome) })),
    }
}

pub type Answerer = Box<dyn Fn() -> Result<Outcome, Failure> + Send>;

pub struct Running {
    pub id: u64,
    output: Output,
    /// Zero until armed.
    start_ns: AtomicU64,
    round_trip_ns: AtomicU64,
    ready: AtomicBool,
    wrote_nothing: AtomicBool,
    changed: Condvar,
    cancelled: tokio::sync::Notify,
    lock: Mutex<()>,
    answerer: Mutex<Option<Answerer>>,
    watched: Mutex<Vec<TcpStream>>,
    pub progress: Progress,
}

impl Running {
    pub fn new(id: u64, output: Output) -> Self {
        Self {
            id,
            output,
            start_ns: AtomicU64::new(0),
            round_trip_ns: AtomicU64::new(0),
            ready: AtomicBool::new(false),
            wrote_nothing: AtomicBool::new(false),
            changed: Condvar::new(),
            cancelled: tokio::sync::Notify::new(),
            lock: Mutex::new(()),
            answerer: Mutex::new(None),
            watched: Mutex::new(Vec::new()),
            progress: Progress::default(),
        }
    }

    pub fn ready(&self, ports: Vec<u16>, setup_round_trip_ns: Option<u64>) {
        self.ready.store(true, Ordering::Release);
        self.tell_ready(Ready { ports, setup_round_trip_ns, ..Ready::default() });
    }

    /// Report that the request may write at its server from now on; earlier errors concern
    /// connecting.
    pub fn writing(&self) {
        self.tell_ready(Ready::default());
    }

    pub fn refused_to_write(&self, is_refused: bool) {
        self.wrote_nothing.store(is_refused, Ordering::Relaxed);
    }

    /// The result of a request that writes at a server: a failure before the first write has an
    /// empty outcome.
    pub fn or_nothing(
        &self,
        written: Result<Outcome, Failure>,
        nothing: impl FnOnce() -> Outcome,
    ) -> Measured {
        let failure = match written {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        let outcome = self.wrote_nothing.load(Ordering::Relaxed).then(nothing);
        Err(Box::new(Failed { failure, outcome }))
    }

    /// Send a reply with the number of this request.
    pub fn tell(&self, reply: impl FnOnce(u64) -> Reply) {
        self.output.send(&reply(self.id));
    }

    pub fn tell_ready(&self, ready: Ready) {
        self.tell(|id| Reply::Ready(Ready { id, ..ready }));
    }

    pub fn tell_progress(&self, elapsed_ns: u64, messages: u64, bytes: u64) {
        self.output.send(&Reply::Progress(messages::Progress {
            id: self.id,
            elapsed_ns,
            messages,
            bytes,
            expected_messages: None,
            delay_variation_ns: None,
            tcp: None,
        }));
    }

    pub fn answer_by(&self, answerer: Answerer) {
        *self.answerer.lock() = Some(answerer);
    }

    /// Query intermediate results of this request.
    ///
    /// # Errors `request.nothing_to_read` if the request has none, or the error of the answer.
    pub fn ask(&self) -> Result<Outcome, Failure> {
        let answerer = self.answerer.lock();
        answerer.as_ref().map_or_else(
            || {
                let found = format!("request {} carries no frames, or not yet", self.id);
                Err(Failure::new("request.nothing_to_read", found)
                    .hint("name a `carry_frames` that is ready"))
            },
            |answerer| answerer(),
        )
    }

    pub fn wait_for_cancel(&self) {
        let mut guard = self.lock.lock();
        while !self.is_cancelled() {
            self.changed.wait(&mut guard);
        }
    }

    /// Set the start of the request, and the round-trip time of its path.
    ///
    /// # Errors `arm.late` if the start has passed, `arm.not_ready`, `arm.again`, `request.value`.
    pub fn arm(&self, at: Instant, now: Instant, round_trip_ns: u64) -> Result<u64, Failure> {
        if !self.ready.load(Ordering::Acquire) {
            return Err(Failure::new("arm.not_ready", format!("request {} is not ready", self.id))
                .hint("wait for its `ready`"));
        }
        if at <= now {
            let late_ns = now.nanos_since(at);
            return Err(Failure::new("arm.late", format!("the start was {late_ns} ns ago"))
                .hint("send the start further ahead"));
        }
        let ahead_ns = at.nanos_since(now);
        if ahead_ns > MAX_AHEAD_NS {
            let found = format!("a start in {} s", ahead_ns / 1_000_000_000);
            return Err(Failure::value("at_ns", found, "at most 600 s ahead"));
        }
        if round_trip_ns > MAX_ROUND_TRIP_NS {
            return Err(Failure::value("round_trip_ns", round_trip_ns, "at most 600 s"));
        }
        let _guard = self.lock.lock();
        if self.start().is_none() {
            self.round_trip_ns.store(round_trip_ns, Ordering::Release);
        }
        let armed =
            self.start_ns.compare_exchange(0, at.as_nanos(), Ordering::AcqRel, Ordering::Acquire);
        if armed.is_err() {
            return Err(Failure::new("arm.again", format!("request {} is armed", self.id)));
        }
        self.changed.notify_all();
        Ok(ahead_ns)
    }

    pub fn cancel(&self) {
        let _guard = self.lock.lock();
        self.progress.cancel();
        self.changed.notify_all();
        self.cancelled.notify_one();
    }

    /// Wait until cancelled. Only one task may wait.
    pub async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.cancelled.notified().await;
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    pub fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }

    pub fn start(&self) -> Option<Instant> {
        let start_ns = self.start_ns.load(Ordering::Acquire);
        (start_ns > 0).then(|| Instant::from_nanos(start_ns))
    }

    pub fn round_trip_ns(&self) -> u64 {
        self.round_trip_ns.load(Ordering::Acquire)
    }

    /// Wait until armed, calling `while_waiting` about fifty times a second.
    ///
    /// # Errors `cancelled`, `arm.timeout`, or the error of `while_waiting`.
    pub fn wait_for_start(
        &self,
        mut while_waiting: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Instant, Failure> {
        let deadline = os::monotonic().plus_nanos(ARM_TIMEOUT_NS);
        loop {
            self.check()?;
            if let Some(start) = self.start() {
                return Ok(start);
            }
            if os::monotonic() >= deadline {
                return Err(Failure::new("arm.timeout", "ready for 900 s and not armed"));
            }
            while_waiting()?;
            let mut guard = self.lock.lock();
            if self.start().is_none() && !self.is_cancelled() {
                self.changed.wait_for(&mut guard, Duration::from_millis(20));
            }
        }
    }

    /// Wait until the start, and return the time then; `None` if cancelled before.
    pub fn wait_to_begin(&self, start: Instant) -> Option<Instant> {
        loop {
            let left_ns = start.nanos_since(os::monotonic());
            if self.is_cancelled() {
                return None;
            }
            if left_ns <= NEAR_NS {
                return Some(Waiter::new().wait_until(start));
            }
            let mut guard = self.lock.lock();
            if !self.is_cancelled() {
                let far = Duration::from_nanos(left_ns - NEAR_NS);
                self.changed.wait_for(&mut guard, far);
            }
        }
    }

    pub fn count(&self, messages: u64, bytes: u64) {
        self.progress.count(messages, bytes);
    }

    /// Sample these TCP connections, in flow order, while the next work runs. Only the first of
    /// many are sampled, and fewer if descriptors are scarce.
    pub fn watch_connections<'a>(&self, streams: impl Iterator<Item = &'a TcpStream>) {
        let watched = streams.take(MOST_WATCHED).map_while(|stream| stream.try_clone().ok());
        *self.watched.lock() = watched.collect();
    }

    /// Run `work`, and report its progress. Also returns the host's activity from `measured_from` to the end
    /// of `work`, if the system provides it.
    pub fn with_progress<T>(
        &self,
        start: Instant,
        measured_from: Instant,
        work: impl FnOnce() -> T,
    ) -> (T, Option<HostWindow>) {
        let ((result, last), first) = with_background(
            |work| self.report_progress(start, measured_from, work),
            || (work(), HostSnapshot::take()),
        );
        let (first, samples) = first.unwrap_or_default();
        samples.send(self.id, &self.output);
        (result, first.zip(last).map(|(first, last)| first.until(&last)))
    }

    /// Report progress until `work` is over; returns the host's counters at `measured_from`, and the kernel's
    /// samples of connections.
    fn report_progress(
        &self,
        start: Instant,
        measured_from: Instant,
        work: &Work,
    ) -> (Option<HostSnapshot>, TcpSampler) {
        let interval_ns = self.output.progress_interval_ns;
        let mut next_report = start.plus_nanos(interval_ns);
        let mut first = None;
        let watched = std::mem::take(&mut *self.watched.lock());
        let mut sampler = TcpSampler::new(watched, start);
        while !work.is_over() {
            let now = os::monotonic();
            if first.is_none() && now >= measured_from {
                first = HostSnapshot::take();
            }
            sampler.look(now);
            if now >= next_report {
                next_report = next_report.plus_nanos(interval_ns);
                let (messages, bytes) = self.progress.counted();
                let (expected, variation_ns) = self.progress.seen();
                self.output.send(&Reply::Progress(messages::Progress {
                    id: self.id,
                    elapsed_ns: now.nanos_since(start),
                    messages,
                    bytes,
                    expected_messages: (expected > 0).then_some(expected),
                    delay_variation_ns: (variation_ns > 0).then_some(variation_ns),
                    tcp: sampler.now,
                }));
            }
            let next =
                if now < measured_from { next_report.min(measured_from) } else { next_report };
            let next = sampler.next_look().map_or(next, |look| look.min(next));
            work.rest(next.nanos_since(now));
        }
        sampler.finish();
        (first, sampler)
    }
}
