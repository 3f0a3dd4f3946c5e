//! A checked specification of a stream, and the times that follow from it.

use lanlab_units::{Instant, Pace};

use crate::messages::{Amount, Choice, Io, Receive, Timestamps, WhenLate};
use crate::path::{ROUND_TRIPS_OF_SILENCE, shift_ns, tcp_silence_ns};

/// Over UDP either end says so often that it is there: of a sender's patience with a silent receiver
/// (`DEAD_MAN_NS`) that is an eighteenth, so that a link that loses a third is borne. With many flows
/// less often: it must not be what costs.
const ALIVE_NS: u64 = 50_000_000;
const ALIVE_PER_FLOW_NS: u64 = 200_000;
/// Time that a trial may take beyond its amount, until what is queued has crossed a slow link.
pub const OVERTIME_NS: u64 = 3_600_000_000_000;
/// The longest time that can be measured: one day. An amount of messages takes no longer, either.
pub const LONGEST_NS: u64 = 86_400_000_000_000;
#[derive(Debug, Clone)]
pub struct Plan {
    pub message_bytes: usize,
    pub amount: Amount,
    pub pace: Option<Pace>,
    pub shared_pace: Option<Pace>,
    pub flows: u16,
    /// Number of threads; `None`: one for each processor.
    pub threads: Option<u16>,
    pub io: Io,
    pub io_choice: Option<Choice>,
    pub receive: Receive,
    pub receive_choice: Option<Choice>,
    pub read_bytes: usize,
    pub when_late: WhenLate,
    pub timestamps: Timestamps,
    pub drain_ns: u64,
    /// Messages handed over in one system call at most.
    pub group: usize,
    pub warmup_ns: u64,
    pub interval_ns: u64,
    /// Either end gives up after this time without a message from the other, on a path that takes none.
    pub silence_ns: u64,
    /// Round trip of the path, as it was measured before the start; 0: not known, or of no account.
    pub round_trip_ns: u64,
}

impl Plan {
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// When a flow's first message is due, so that flows take turns.
    pub fn first_slot(&self, start: Instant, flow: u16) -> Instant {
        self.shared_pace.map_or(start, |pace| pace.slot(start, flow.into()))
    }

    pub fn warmup_end(&self, start: Instant) -> Instant {
        start.plus_nanos(self.warmup_ns)
    }

    /// Where the receiver's times begin: by the time that the path takes later than the sender's.
    pub fn arrivals_from(&self, start: Instant) -> Instant {
        start.plus_nanos(shift_ns(self.round_trip_ns, self.warmup_ns))
    }

    /// The silence after which an end gives up on the other on this path.
    pub fn longest_silence_ns(&self) -> u64 {
        self.silence_ns.saturating_add(ROUND_TRIPS_OF_SILENCE * self.round_trip_ns)
    }

    pub fn tcp_silence_ns(&self) -> u64 {
        tcp_silence_ns(self.silence_ns, self.round_trip_ns)
    }

    /// Time between two words of an end that has nothing else to say: well within the silence after
    /// which the other gives up.
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

    /// Slots of one flow's schedule, begun at `first`, that lie before `end`; none without one.
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
