//! A checked specification of an echo, and the times that follow from it.

use lanlab_units::{Instant, Pace};

use crate::messages::{EchoAmount, Failure, Receive, Timestamps, Transport};
use crate::path::{ROUND_TRIPS_OF_SILENCE, tcp_silence_ns};

/// Longest measurement: one day, also for an amount of requests.
pub const LONGEST_NS: u64 = 86_400_000_000_000;
/// Time that a trial may take beyond its plan.
const OVERTIME_NS: u64 = 3_600_000_000_000;
const CONFIRM_NS: u64 = 200_000_000;

/// The default time-out is at least this many round trips of the path, as replies vary.
const PATHS_OF_TIMEOUT: u64 = 3;
/// A set-up longer than this reflects the path, not the machine.
const LONG_PATH_NS: u64 = 50_000_000;

#[derive(Debug, Clone)]
pub struct Plan {
    pub transport: Transport,
    pub message_bytes: usize,
    pub amount: EchoAmount,
    /// The schedule of requests; `None` for a closed loop.
    pub pace: Option<Pace>,
    /// Requests in flight in a closed loop, at least 1.
    pub outstanding_requests: usize,
    pub receive: Receive,
    pub timestamps: Timestamps,
    pub timeout_ns: u64,
    pub warmup_ns: u64,
    /// Silence after which either end gives up, on a path without delay.
    pub silence_ns: u64,
    pub timeout_follows_path: bool,
    /// Round-trip time of the path, measured before the start; 0 if unknown or negligible.
    pub round_trip_ns: u64,
}

impl Plan {
    pub fn warmup_end(&self, start: Instant) -> Instant {
        start.plus_nanos(self.warmup_ns)
    }

    pub fn end(&self, start: Instant) -> Instant {
        match self.amount {
            EchoAmount::TimeNs(time_ns) => self.warmup_end(start).plus_nanos(time_ns),
            EchoAmount::Requests(_) => Instant::FAR_FUTURE,
        }
    }

    /// The plan adjusted to a path with this round-trip time.
    ///
    /// # Errors `echo.timeout_below_path` if no reply can arrive in time, `echo.time_below_path` if a closed loop
    /// would measure no request.
    pub fn on_path(&self, round_trip_ns: u64) -> Result<Self, Failure> {
        let mut plan = Self { round_trip_ns, ..self.clone() };
        if self.timeout_follows_path {
            plan.timeout_ns = self.timeout_ns.max(PATHS_OF_TIMEOUT * round_trip_ns);
            plan.silence_ns = self.silence_ns.max(3 * plan.timeout_ns);
        }
        if round_trip_ns < LONG_PATH_NS {
            return Ok(plan);
        }
        let seconds = |ns: u64| format!("{:.3} s", ns as f64 / 1e9);
        let path = format!("a round trip of this path takes {}", seconds(round_trip_ns));
        if plan.timeout_ns <= round_trip_ns {
            let message = format!("{path}, a reply may take {}", seconds(plan.timeout_ns));
            return Err(Failure::new("echo.timeout_below_path", message)
                .hint("raise `--timeout`, or omit it to use the path's round-trip time"));
        }
        if let (EchoAmount::TimeNs(time_ns), None) = (self.amount, self.pace)
            && self.warmup_ns > 0
            && self.warmup_ns + time_ns <= round_trip_ns
        {
            let whole_ns = self.warmup_ns + time_ns;
            let message = format!(
                "{path}, the trial {}: no request would leave after the warm-up",
                seconds(whole_ns)
            );
            let least_s = (2 * round_trip_ns).div_ceil(1_000_000_000);
            return Err(Failure::new("echo.time_below_path", message).hint(format!(
                "measure for longer, as by `--time {least_s}`, or by `--requests`"
            )));
        }
        Ok(plan)
    }

    pub fn confirm_ns(&self) -> u64 {
        CONFIRM_NS + self.round_trip_ns
    }

    pub fn tcp_silence_ns(&self) -> u64 {
        tcp_silence_ns(self.silence_ns, self.round_trip_ns)
    }

    /// The silence after which an end gives up on this path.
    pub fn longest_silence_ns(&self) -> u64 {
        self.silence_ns.saturating_add(ROUND_TRIPS_OF_SILENCE * self.round_trip_ns)
    }

    pub fn latest_end(&self, start: Instant) -> Instant {
        let end = match self.amount {
            EchoAmount::TimeNs(_) => self.end(start),
            EchoAmount::Requests(_) => self.warmup_end(start).plus_nanos(LONGEST_NS),
        };
        end.plus_nanos(self.longest_silence_ns()).plus_nanos(OVERTIME_NS)
    }

    pub fn requests(&self) -> u64 {
        match self.amount {
            EchoAmount::TimeNs(_) => u64::MAX,
            EchoAmount::Requests(requests) => requests,
        }
    }

    pub fn waits_in_call(&self) -> bool {
        self.receive == Receive::Block
    }
}
