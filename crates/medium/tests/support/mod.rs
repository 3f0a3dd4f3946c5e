//! What the tests share: drivers of a medium in virtual time.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::VecDeque;

use lanlab_medium::{
    Destination, Event, LossPlan, MIN_WIRE_BYTES, Medium, Offer, Plan, Port, Topology,
};
use lanlab_units::Instant;

/// 10 Mbit/s, without delay or loss.
pub fn plan(topology: Topology, ports: Port, propagation_ns: u64) -> Plan {
    Plan {
        topology,
        rate_bps: Some(10_000_000),
        ports,
        propagation_ns,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 100_000,
    }
}

pub fn at(nanoseconds: u64) -> Instant {
    Instant::from_nanos(nanoseconds)
}

pub fn frame(ticket: u32, wire_bytes: u32, port: Port) -> Offer {
    Offer { ticket, wire_bytes, destination: Destination::Port(port) }
}

pub fn run_to_end(medium: &mut Medium) -> Vec<(Instant, Event)> {
    let mut events = Vec::new();
    while let Some(due) = medium.poll_timeout() {
        medium.handle_timeout(due);
        events.extend(std::iter::from_fn(|| medium.poll_event()));
    }
    events
}

/// A frame that comes to an adapter, which keeps it until its port is free. Its number is its ticket.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub at: Instant,
    pub source: Port,
    pub wire_bytes: u32,
    pub destination: Destination,
}

impl Arrival {
    /// Bytes that take time on the wire.
    pub fn padded_bytes(&self) -> u32 {
        self.wire_bytes.max(MIN_WIRE_BYTES)
    }
}

/// Drive a medium through arrivals, which are in order of time. `after_each` sees the medium whenever
/// all events are drained. The driver looks at its clock only every `clock_step_ns`: 1 is never late.
pub fn drive(
    medium: &mut Medium,
    ports: Port,
    arrivals: &[Arrival],
    clock_step_ns: u64,
    mut after_each: impl FnMut(&Medium, &[(Instant, Event)]),
) -> Vec<(Instant, Event)> {
    let mut adapters = vec![VecDeque::new(); usize::from(ports)];
    let mut events = Vec::new();
    let offer = |medium: &mut Medium, now: Instant, ticket: usize| {
        let Arrival { source, wire_bytes, destination, .. } = arrivals[ticket];
        medium.offer(now, source, Offer { ticket: ticket as u32, wire_bytes, destination });
    };
    let mut next = 0;
    loop {
        let due = medium.poll_timeout();
        let arrival = arrivals.get(next).map(|arrival| arrival.at);
        let Some(soonest) = due.into_iter().chain(arrival).min() else { break };
        // The clock has reached the next thing only when it is looked at.
        let clock = at(soonest.as_nanos().next_multiple_of(clock_step_ns));
        while let Some(due) = medium.poll_timeout().filter(|due| *due <= clock) {
            medium.handle_timeout(due);
            while let Some((event_at, event)) = medium.poll_event() {
                events.push((event_at, event));
                if let Event::Free(port) = event
                    && let Some(ticket) = adapters[usize::from(port)].pop_front()
                {
                    assert_eq!(event_at, due);
                    offer(medium, event_at, ticket);
                }
            }
            after_each(medium, &events);
        }
        while let Some(arrival) = arrivals.get(next).filter(|arrival| arrival.at <= clock) {
            if medium.is_free(arrival.source) {
                offer(medium, clock, next);
            } else {
                adapters[usize::from(arrival.source)].push_back(next);
            }
            next += 1;
            events.extend(std::iter::from_fn(|| medium.poll_event()));
            after_each(medium, &events);
        }
    }
    events
}
