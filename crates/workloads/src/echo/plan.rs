//! A checked specification of an echo, and the times that follow from it.

use lanlab_units::{Instant, Pace};

use crate::messages::{EchoAmount, Receive, Timestamps, Transport};

/// The longest time that can be measured: one day. An amount of requests takes no longer, either.
pub const LONGEST_NS: u64 = 86_400_000_000_000;
/// Time that a trial may take beyond its plan.
const OVERTIME_NS: u64 = 3_600_000_000_000;
/// How long a requester waits for the responder to confirm the end.
pub const CONFIRM_NS: u64 = 200_000_000;

/// A checked specification.
#[derive(Debug, Clone)]
pub struct Plan {
    /// UDP or TCP.
    pub transport: Transport,
    /// Payload of a request and of its reply.
    pub message_bytes: usize,
    /// How much is measured, after the warm-up.
    pub amount: EchoAmount,
    /// The schedule of requests; `None` is a closed loop.
    pub pace: Option<Pace>,
    /// Requests on their way at a time in a closed loop, 1 at least.
    pub outstanding_requests: usize,
    /// How both ends wait for what comes next. Never `auto`.
    pub receive: Receive,
    /// Whose time stamps are taken.
    pub timestamps: Timestamps,
    /// A reply later than this is a time-out.
    pub timeout_ns: u64,
    /// Time from the start that is kept out of the figures.
    pub warmup_ns: u64,
    /// Either end gives up after this time without a message from the other.
    pub silence_ns: u64,
}

impl Plan {
    /// When measuring begins.
    pub fn warmup_end(&self, start: Instant) -> Instant {
        start.plus_nanos(self.warmup_ns)
    }

    /// The end of the measured part, where time is the amount.
    pub fn end(&self, start: Instant) -> Instant {
        match self.amount {
            EchoAmount::TimeNs(time_ns) => self.warmup_end(start).plus_nanos(time_ns),
            EchoAmount::Requests(_) => Instant::FAR_FUTURE,
        }
    }

    /// When it is over in any case.
    pub fn latest_end(&self, start: Instant) -> Instant {
        let end = match self.amount {
            EchoAmount::TimeNs(_) => self.end(start),
            EchoAmount::Requests(_) => self.warmup_end(start).plus_nanos(LONGEST_NS),
        };
        end.plus_nanos(self.silence_ns).plus_nanos(OVERTIME_NS)
    }

    /// Requests to be measured, where they are the amount.
    pub fn requests(&self) -> u64 {
        match self.amount {
            EchoAmount::TimeNs(_) => u64::MAX,
            EchoAmount::Requests(requests) => requests,
        }
    }

    /// Whether to wait in the system's own call.
    pub fn waits_in_call(&self) -> bool {
        self.receive == Receive::Block
    }
}
