//! A call to a name, until a station answers it.

use lanlab_units::Instant;
use lanlab_wire::netbios_name::Name;

use super::QueryPace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    Again,
    NameNotFound,
    NotListening,
}

#[derive(Debug)]
pub(crate) struct NameCall {
    pub(crate) called: Name,
    pub(crate) calling: Name,
    pub(crate) correlator: u16,
    sent: u32,
    is_second_cycle: bool,
}

impl NameCall {
    pub(crate) const fn new([called, calling]: [Name; 2]) -> Self {
        Self { called, calling, correlator: 0, sent: 0, is_second_cycle: false }
    }

    /// The station is known and gets directed queries.
    pub(crate) const fn begin_anew(&mut self, correlator: u16) {
        self.sent = 0;
        self.correlator = correlator;
    }

    pub(crate) const fn is_again(&self) -> bool {
        self.sent > 0
    }

    pub(crate) fn sent(&mut self, now: Instant, pace: QueryPace) -> Instant {
        self.sent += 1;
        now.plus_nanos(pace.interval_ns)
    }

    /// A station has the name, but does not listen. Returns whether the call fails now; otherwise the next query
    /// follows at the next deadline.
    pub(crate) const fn is_refused(&mut self) -> bool {
        if self.is_second_cycle {
            return true;
        }
        self.is_second_cycle = true;
        self.sent = 0;
        false
    }

    pub(crate) const fn handle_timeout(&self, pace: QueryPace) -> Unanswered {
        if self.sent < pace.count {
            Unanswered::Again
        } else if self.is_second_cycle {
            Unanswered::NotListening
        } else {
            Unanswered::NameNotFound
        }
    }
}
