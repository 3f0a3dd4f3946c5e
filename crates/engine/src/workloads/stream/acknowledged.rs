//! How a TCP sender learns that everything has arrived, and counts for peers that do not count.

use std::net::TcpStream;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{AcknowledgedCounter, Plan};

use crate::messages::{Acknowledged, AcknowledgedFlow, Failure, StreamSent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    ByClosing,
    /// The peer's TCP acknowledged everything; `closes`: whether this end closes before that.
    ByAcknowledgement {
        closes: bool,
    },
}

pub struct Over {
    pub sent: StreamSent,
    pub acknowledged: Option<Acknowledged>,
    pub failure: Option<Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    ByClosing,
    All,
    NotYet,
    Gone,
}

pub struct Acknowledgements {
    confirmation: Confirmation,
    /// `None`: not counted, or not supported by the system.
    counter: Option<AcknowledgedCounter>,
    written_bytes: u64,
}

impl Acknowledgements {
    pub fn new(
        confirmation: Confirmation,
        stream: &TcpStream,
        plan: &Plan,
        start: Instant,
    ) -> Self {
        let is_counted = confirmation != Confirmation::ByClosing;
        let before = is_counted.then(|| os::tcp_info(stream).ok()).flatten();
        Self {
            confirmation,
            counter: before.map(|info| {
                AcknowledgedCounter::new(start, info.facts.acknowledged_bytes)
                    .within(plan.window(start))
            }),
            written_bytes: 0,
        }
    }

    /// Sample the system's state of `stream`, to which `written_bytes` were written.
    pub fn look(
        &mut self,
        stream: &TcpStream,
        written_bytes: u64,
        now: Instant,
        intervals: &mut IntervalMeter,
    ) {
        self.written_bytes = written_bytes;
        if let Some(counter) = &mut self.counter
            && let Ok(info) = os::tcp_info(stream)
        {
            counter.look(info.facts.acknowledged_bytes, written_bytes, now, intervals);
        }
    }

    pub fn begin(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.begin();
        }
    }

    pub fn end(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.end();
        }
    }

    pub fn closes(&self) -> bool {
        self.confirmation != Confirmation::ByAcknowledgement { closes: false }
    }

    pub fn drained(&self, stream: &TcpStream) -> Drained {
        if self.confirmation == Confirmation::ByClosing {
            return Drained::ByClosing;
        }
        // Without system support, written data counts as delivered.
        let Some(counter) = &self.counter else { return Drained::All };
        if counter.total_bytes() >= self.written_bytes {
            return Drained::All;
        }
        // A reset connection has nothing in flight.
        match os::tcp_info(stream) {
            Ok(info) if info.unacknowledged_segments > 0 || info.unsent_bytes > 0 => {
                Drained::NotYet
            }
            // Acknowledged since the last sample, or lost; the next sample shows which.
            Ok(info) if !info.is_over => Drained::NotYet,
            _ => Drained::Gone,
        }
    }

    pub fn finish(&self) -> Option<AcknowledgedFlow> {
        self.counter.as_ref().map(AcknowledgedCounter::finish)
    }
}

/// Sum of all flows; `None` if one was not counted.
pub fn sum_up(
    flows: Vec<Option<AcknowledgedFlow>>,
    intervals: Vec<IntervalMeter>,
) -> Option<Acknowledged> {
    let flows = flows.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Acknowledged {
        window_ns: flows.iter().map(|flow| flow.window_ns).max().unwrap_or(0),
        window_bytes: flows.iter().map(|flow| flow.window_bytes).sum(),
        total_bytes: flows.iter().map(|flow| flow.total_bytes).sum(),
        intervals: IntervalMeter::merge(intervals, false),
        flows,
    })
}
