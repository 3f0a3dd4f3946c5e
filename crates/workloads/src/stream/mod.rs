//! `stream`: messages from a sender to a receiver that counts them.

mod acknowledged;
mod bytes;
mod counter;
#[cfg(test)]
#[path = "../../tests/support/stream_plan.rs"]
mod example;
mod incoming;
mod outgoing;
mod plan;
mod quiet;
mod results;
mod schedule;

pub use acknowledged::AcknowledgedCounter;
pub use bytes::ByteCounter;
pub use counter::{Arrival, Counter, Counts, Meters, Run};
pub use incoming::{Heard, Incoming};
pub use outgoing::{Action, Departing, Outgoing};
pub use plan::{LONGEST_NS, OVERTIME_NS, Plan};
use quiet::Quiet;
pub use results::{ReceivedBytes, Threads, sum_up_bytes, sum_up_datagrams, sum_up_sent, worst_end};
pub use schedule::{Schedule, Sent, SharedMeters, Step};

/// Measures a thread's CPU time while one of its flows is measured.
pub trait CpuMeter {
    /// A measured flow begins.
    fn begin(&mut self);
    /// A measured flow ends.
    fn end(&mut self);
}

impl CpuMeter for () {
    fn begin(&mut self) {}
    fn end(&mut self) {}
}

#[cfg(test)]
mod ends_tests;
#[cfg(test)]
mod tests;
