//! Ethernet media without a clock: cable, switch and CSMA/CD bus, with exact frame times, delay and loss.
//!
//! A [`Medium`] handles frame lengths and port numbers; the bytes stay with its driver. Each port
//! has at most one frame on the medium, and the adapter keeps the queue. The same code runs in real
//! time below the virtual LAN and in virtual time in simulations and tests.
//!
//! # Driving it
//!
//! After each [`offer`](Medium::offer) or [`handle_timeout`](Medium::handle_timeout), call
//! [`poll_event`](Medium::poll_event) until it returns `None`. All ports are free at the start.
//!
//! While [`poll_timeout`](Medium::poll_timeout) returns a time `t` that the clock has reached:
//!
//! 1. call `handle_timeout(t)`, with that time instead of the clock's;
//! 2. drain the events; if [`Event::Free`] of a port has exactly the time `t`, offer the next frame
//!    that waits there with `now = t`.
//!
//! A late driver therefore never shifts the schedule: it catches up, and each event keeps its own
//! time. A frame for an idle port is offered with the clock's time, once everything due by then is
//! handled.
//!
//! # Times
//!
//! A frame takes the time of its [`wire_bytes`](Offer::wire_bytes) at the rate. The gap of 96 bits
//! delays the next frame, not the delivery. Times are exact fractions; events carry them rounded up
//! to a whole nanosecond.

mod bit_time;
mod bus;
mod cable;
mod counts;
mod event;
mod line;
mod loss;
mod plan;
mod random;
mod switch;
mod traffic;

use lanlab_units::Instant;

pub use counts::{Counts, PortCounts};
pub use event::{Destination, Event, Loss, Offer, Port};
pub use plan::{
    BadPlan, GAP_BITS, LossPlan, MAX_PORTS, MIN_WIRE_BYTES, Plan, RATES_BPS, SLOT_BITS, Topology,
};

pub use random::Random;

use bus::Bus;
use cable::Cable;
use switch::Switch;
use traffic::Traffic;

/// Streams of a seed: one for each use of random numbers.
const LOSS_STREAM: u64 = 1;
const FIRST_STATION_STREAM: u64 = 1 << 16;

/// A medium that joins ports. The [crate](self) describes how to drive it.
#[derive(Debug)]
pub struct Medium {
    machine: Machine,
    traffic: Traffic,
    handled_until: Instant,
}

#[derive(Debug)]
enum Machine {
    Bus(Bus),
    Cable(Cable),
    Switch(Switch),
}

impl Medium {
    /// The medium of a plan. The same seed and the same calls give the same events.
    pub fn new(plan: &Plan, seed: u64) -> Result<Self, BadPlan> {
        plan.check()?;
        let machine = match plan.topology {
            Topology::Cable => Machine::Cable(Cable::new(plan)),
            Topology::Switch => Machine::Switch(Switch::new(plan)),
            Topology::Bus => Machine::Bus(Bus::new(plan, |port| {
                Random::new(seed, FIRST_STATION_STREAM + u64::from(port))
            })),
        };
        let traffic = Traffic::new(plan, Random::new(seed, LOSS_STREAM));
        Ok(Self { machine, traffic, handled_until: Instant::ZERO })
    }

    /// Whether the adapter of `port` may offer a frame.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn is_free(&self, port: Port) -> bool {
        self.traffic.is_free(port)
    }

    /// Offer a frame of `port`, which must be free.
    ///
    /// If `now` is earlier than the last [`handle_timeout`](Self::handle_timeout), the time of that call is
    /// used.
    ///
    /// # Panics
    /// If there is no such port; in debug builds also if it is not free, or if events before `now` are
    /// unhandled.
    pub fn offer(&mut self, now: Instant, port: Port, offer: Offer) {
        debug_assert!(self.is_free(port), "port {port} has a frame on the medium");
        let now = now.max(self.handled_until);
        debug_assert!(self.poll_timeout().is_none_or(|due| due >= now), "something was due");
        self.handled_until = now;
        let frame = self.traffic.begin(port, offer);
        match &mut self.machine {
            Machine::Bus(bus) => bus.offer(now, port, frame, &mut self.traffic),
            Machine::Cable(cable) => cable.offer(now, port, frame, &self.traffic),
            Machine::Switch(switch) => switch.offer(now, port, frame, &self.traffic),
        }
    }

    /// Time of the next step; `None` while no frame is in transit.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let at = match &self.machine {
            Machine::Bus(bus) => bus.next_at(),
            Machine::Cable(cable) => cable.next_at(),
            Machine::Switch(switch) => switch.next_at(),
        };
        at.map(bit_time::Exact::rounded_up)
    }

    /// Handle everything that is due by `now`, each event at its own time. Spurious calls do nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.poll_timeout().is_some_and(|at| at <= now) {
            match &mut self.machine {
                Machine::Bus(bus) => bus.step(&mut self.traffic),
                Machine::Cable(cable) => cable.step(&mut self.traffic),
                Machine::Switch(switch) => switch.step(&mut self.traffic),
            }
        }
        self.handled_until = self.handled_until.max(now);
    }

    /// The next event in order of time; its time is rounded up to a nanosecond.
    pub fn poll_event(&mut self) -> Option<(Instant, Event)> {
        self.traffic.poll_event()
    }

    pub fn counts(&self) -> &Counts {
        self.traffic.counts()
    }
}
