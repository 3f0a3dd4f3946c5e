//! A checked specification of a stream, and the times that follow from it.

use lanlab_units::{Instant, Pace};

use crate::messages::{Amount, Choice, Io, Receive, Timestamps, WhenLate};
use crate::path::{ROUND_TRIPS_OF_SILENCE, shift_ns, tcp_silence_ns};

/// Keep-alive interval of either end over UDP: an eighteenth of a sender's patience with a silent receiver
/// (`DEAD_MAN_NS`), so that a link with a third lost works. Longer with many flows, to limit its cost.
const ALIVE_NS: u64 = 50_000_000;
const ALIVE_PER_FLOW_NS: u64 = 200_000;
/// Time allowed beyond a trial's amount, while queued messages cross a slow link.
pub const OVERTIME_NS: u64 = 3_600_000_000_000;
/// Longest measurement: one day, also for an amount of messages.
pub const LONGEST_NS: u64 = 86_400_000_000_000;
#[derive(Debug, Clone)]
pub struct Plan {
    pub message_bytes: usize,
    pub amount: Amount,
    pub pace: Option<Pace>,
    pub shared_pace: Option<Pace>,
    pub flows: u16,
    /// Number of threads; `None`: one per processor.
    pub threads: Option<u16>,
    pub io: Io,
    pub io_choice: Option<Choice>,
    pub receive: Receive,
    pub receive_choice: Option<Choice>,
    pub read_bytes: usize,
    pub when_late: WhenLate,
    pub timestamps: Timestamps,
    pub drain_ns: u64,
    /// Maximum messages per system call.
    pub group: usize,
    pub warmup_ns: u64,
    pub interval_ns: u64,
    /// Silence after which either end gives up, on a path without delay.
    pub silence_ns: u64,
    /// Round-trip time of the path, measured before the start; 0 if unknown or negligible.
    pub round_trip_ns: u64,
}

impl Plan {
    /// When a flow's first message is due, so that flows take turns.
    pub fn first_slot(&self, start: Instant, flow: u16) -> Instant {
        self.shared_pace.map_or(start, |pace| pace.slot(start, flow.into()))
    }

    pub fn warmup_end(&self, start: Instant) -> Instant {
        start.plus_nanos(self.warmup_ns)
    }

    /// Start of the receiver's times: the sender's plus the path delay.
    pub fn arrivals_from(&self, start: Instant) -> Instant {
        start.plus_nanos(shift_ns(self.round_trip_ns, self.warmup_ns))
    }

    /// The silence after which an end gives up on this path.
    pub fn longest_silence_ns(&self) -> u64 {
        self.silence_ns.saturating_add(ROUND_TRIPS_OF_SILENCE * self.round_trip_ns)
    }

    pub fn tcp_silence_ns(&self) -> u64 {
        tcp_silence_ns(self.silence_ns, self.round_trip_ns)
    }

    /// Keep-alive interval: well within the silence after which the other end gives up.
    pub fn alive_ns(&self) -> u64 {
        let flows = u64::from(self.flows);
        ALIVE_NS.max(flows * ALIVE_PER_FLOW_NS).min(self.silence_ns / 4)
    }

    pub fn latest_end(&self, start: Instant) -> Instant {
        let end = self.end(start);
        let end = end.unwrap_or_else(|| self.warmup_end(start).plus_nanos(LONGEST_NS));
        let silence_ns = self.tcp_silence_ns();
        end.plus_nanos(self.drain_ns).plus_nanos(silence_ns).plus_nanos(OVERTIME_NS)
    }

    /// Slots of one flow's schedule from `first` to `end`; zero without a schedule.
    pub fn slots(&self, first: Instant, end: Instant) -> u64 {
        self.pace.map_or(0, |pace| pace.slots_within(end.nanos_since(first)))
    }

    pub fn end(&self, start: Instant) -> Option<Instant> {
        match self.amount {
            Amount::TimeNs(time_ns) => Some(self.warmup_end(start).plus_nanos(time_ns)),
            _ => None,
        }
    }

    pub fn window(&self, start: Instant) -> Option<(Instant, Instant)> {
        self.end(start).map(|end| (self.warmup_end(start), end))
    }

    pub fn messages(&self) -> Option<u64> {
        match self.amount {
            Amount::Messages(messages) => Some(messages),
            _ => None,
        }
    }
}
