//! A half-duplex bus with CSMA/CD (IEEE 802.3, clause 4).
//!
//! Every port hears the others after the same propagation time, and itself at once. All silent
//! ports therefore hear the same. One listener, a station that never sends, represents them, so the
//! cost of a frame does not depend on their number.
//!
//! - **Deference** (4.2.8, process `Deference`): after the carrier ends, a port waits for a gap of
//!   96 bits. A carrier in the first two thirds restarts the wait. One in the last third does not;
//!   otherwise a port whose gap ends slightly earlier would shut out the others. A port that has
//!   just transmitted does not listen during the gap.
//! - **Collision** (4.2.8, `WatchForCollision`, and 4.2.3.2.4): a port that hears another while it transmits
//!   finishes the preamble, then sends 32 bits of jam.
//! - **Backoff** (4.2.8, `BackOff`): after the nth collision the port waits a random number of slots, at
//!   least 0 and below 2^min(n, 10), from the end of the jam; after the 16th the frame is given up.

mod station;
#[cfg(test)]
mod tests;

use lanlab_units::{Instant, Schedule};

use crate::bit_time::{BitClock, Exact};
use crate::event::{Loss, Port};
use crate::plan::{GAP_BITS, Plan, SLOT_BITS};
use crate::random::Random;
use crate::traffic::{FrameId, Traffic};

use station::{Deference, Phase, Station};

/// First part of the gap, in which a carrier restarts the wait: two thirds at most (4.2.8).
const GAP_PART1_BITS: u64 = GAP_BITS * 2 / 3;
/// Preamble and start of frame delimiter (3.2.1, 3.2.2).
const PREAMBLE_BITS: u64 = 64;
/// Jam (4.4.2: `jamSize`).
const JAM_BITS: u64 = 32;
/// Attempts before a frame is given up (4.4.2: `attemptLimit`).
const ATTEMPT_LIMIT: u32 = 16;
/// After this many collisions, the range of the backoff stops growing (4.4.2: `backoffLimit`).
const BACKOFF_LIMIT: u32 = 10;

#[derive(Debug)]
pub(crate) struct Bus {
    clock: BitClock,
    propagation: Exact,
    delay: Exact,
    gap: Exact,
    gap_part1: Exact,
    preamble: Exact,
    jam: Exact,
    stations: Vec<Station>,
    /// Ports whose state differs from the listener's, in ascending order, then the listener.
    kept: Vec<Port>,
    schedule: Schedule<Exact, Step>,
    carrier: Carrier,
}

#[derive(Debug, Default)]
struct Carrier {
    senders: u16,
    since: Exact,
    has_collision: bool,
    busy: Exact,
}

#[derive(Debug)]
enum Step {
    CarrierOn(Port),
    CarrierOff(Port),
    Own { port: Port, generation: u32 },
    Arrived(FrameId),
}

impl Step {
    /// Order of events at the same instant: carriers start before others end, without silence.
    fn rank(&self) -> u8 {
        match self {
            Self::CarrierOn(_) => 0,
            Self::CarrierOff(_) => 1,
            Self::Own { .. } => 2,
            Self::Arrived(_) => 3,
        }
    }
}

impl Bus {
    pub(crate) fn new(plan: &Plan, random: impl Fn(Port) -> Random) -> Self {
        let clock = BitClock::new(plan.rate_bps);
        Self {
            clock,
            propagation: Exact::from_nanos(plan.propagation_ns),
            delay: Exact::from_nanos(plan.delay_ns),
            gap: clock.bits(GAP_BITS),
            gap_part1: clock.bits(GAP_PART1_BITS),
            preamble: clock.bits(PREAMBLE_BITS),
            jam: clock.bits(JAM_BITS),
            stations: (0..=plan.ports).map(|place| Station::new(random(place))).collect(),
            kept: vec![plan.ports],
            schedule: Schedule::new(),
            carrier: Carrier::default(),
        }
    }

    pub(crate) fn offer(&mut self, now: Instant, port: Port, id: FrameId, traffic: &mut Traffic) {
        self.keep(port);
        self.station(port).collisions = 0;
        self.wait_for_silence(Exact::from(now), port, id, traffic);
    }

    pub(crate) fn next_at(&self) -> Option<Exact> {
        self.schedule.next_at()
    }

    pub(crate) fn step(&mut self, traffic: &mut Traffic) {
        let Some((at, step)) = self.schedule.pop() else { return };
        match step {
            Step::CarrierOn(from) => self.carrier_on(at, from, traffic),
            Step::CarrierOff(from) => self.carrier_off(at, from),
            Step::Arrived(frame) => traffic.arrive_at_all(at, frame),
            Step::Own { port, generation } if generation == self.station(port).generation => {
                match self.station(port).phase {
                    Phase::Idle => {}
                    Phase::Waiting(frame) => self.start(at, port, frame, traffic),
                    Phase::BackingOff(frame) => self.wait_for_silence(at, port, frame, traffic),
                    Phase::Sending { frame, start, has_collided } => {
                        traffic.was_busy(port, start, at);
                        self.end(at, port, traffic);
                        if has_collided {
                            self.back_off(at, port, frame, traffic);
                        } else {
                            self.succeed(at, port, frame, traffic);
                        }
                    }
                }
            }
            Step::Own { .. } => {}
        }
        self.drop_void_steps();
    }

    /// Transmit a ready frame, now or once the station need not defer.
    fn wait_for_silence(&mut self, at: Exact, port: Port, frame: FrameId, traffic: &mut Traffic) {
        let station = self.station(port);
        let is_first_attempt = station.collisions == 0;
        station.phase = Phase::Waiting(frame);
        match station.deference_at(at) {
            Deference::Silent => return self.start(at, port, frame, traffic),
            // A carrier that starts at this very instant is noticed too late.
            Deference::Busy { since, .. } if since == Some(at) => {
                return self.start(at, port, frame, traffic);
            }
            Deference::Busy { .. } => {}
            Deference::Gap { end, .. } => self.set_timer(end, port),
        }
        if is_first_attempt {
            traffic.counts_mut().of(port).deferrals += 1;
        }
    }

    fn start(&mut self, at: Exact, port: Port, frame: FrameId, traffic: &mut Traffic) {
        let end = self.clock.after(at, self.clock.bytes(traffic.frame(frame).wire_bytes));
        let station = self.station(port);
        station.own_carriers += 1;
        station.phase = Phase::Sending { frame, start: at, has_collided: false };
        station.deference = Deference::Busy { was_sending: true, since: None };
        let collides_at_once = station.heard > 0;
        self.set_timer(end, port);
        if self.carrier.senders == 0 {
            self.carrier.since = at;
            self.carrier.has_collision = false;
        }
        self.carrier.senders += 1;
        self.add(self.clock.after(at, self.propagation), Step::CarrierOn(port));
        if collides_at_once {
            self.collide(at, port, traffic);
        }
    }

    fn collide(&mut self, at: Exact, port: Port, traffic: &mut Traffic) {
        let Phase::Sending { start, has_collided, .. } = &mut self.station(port).phase else {
            return;
        };
        if std::mem::replace(has_collided, true) {
            return;
        }
        let start = *start;
        let preamble_end = self.clock.after(start, self.preamble);
        let end = self.clock.after(at.max(preamble_end), self.jam);
        self.set_timer(end, port);
        self.carrier.has_collision = true;
        traffic.counts_mut().of(port).collisions += 1;
    }

    fn end(&mut self, at: Exact, port: Port, traffic: &mut Traffic) {
        self.add(self.clock.after(at, self.propagation), Step::CarrierOff(port));
        if self.station(port).heard == 0 {
            self.begin_gap(at, port, true);
        }
        self.carrier.senders -= 1;
        if self.carrier.senders == 0 {
            let span = self.clock.between(self.carrier.since, at);
            self.carrier.busy = self.clock.after(self.carrier.busy, span);
            let counts = traffic.counts_mut();
            counts.busy_ns = self.carrier.busy.whole_nanos();
            counts.collisions += u64::from(self.carrier.has_collision);
        }
    }

    fn succeed(&mut self, at: Exact, port: Port, frame: FrameId, traffic: &mut Traffic) {
        let arrival = self.clock.after(self.clock.after(at, self.propagation), self.delay);
        self.add(arrival, Step::Arrived(frame));
        self.station(port).phase = Phase::Idle;
        traffic.free(at, port);
    }

    fn back_off(&mut self, at: Exact, port: Port, frame: FrameId, traffic: &mut Traffic) {
        let station = self.station(port);
        station.collisions += 1;
        let collisions = station.collisions;
        if collisions == ATTEMPT_LIMIT {
            station.phase = Phase::Idle;
            traffic.lose_frame(at, frame, Loss::ExcessiveCollisions);
            traffic.free(at, port);
            return;
        }
        station.phase = Phase::BackingOff(frame);
        let slots = station.random.bits(collisions.min(BACKOFF_LIMIT));
        self.set_timer(self.clock.after(at, self.clock.bits(slots * SLOT_BITS)), port);
    }

    fn carrier_on(&mut self, at: Exact, from: Port, traffic: &mut Traffic) {
        for place in 0..self.kept.len() {
            let port = self.kept[place];
            if port == from {
                continue;
            }
            let station = self.station(port);
            let was_silent = matches!(station.deference_at(at), Deference::Silent);
            station.heard += 1;
            if let Phase::Sending { .. } = station.phase {
                self.collide(at, port, traffic);
            } else if !station.keeps_gap(at) {
                if let Phase::Waiting(_) = station.phase {
                    // Cancel the step at the end of its gap.
                    station.generation = station.generation.wrapping_add(1);
                }
                if !matches!(station.deference, Deference::Busy { .. }) {
                    let since = was_silent.then_some(at);
                    station.deference = Deference::Busy { was_sending: false, since };
                }
            }
        }
        self.forget_silent_stations(at);
    }

    fn carrier_off(&mut self, at: Exact, from: Port) {
        self.station(from).own_carriers -= 1;
        for place in 0..self.kept.len() {
            let port = self.kept[place];
            if port == from {
                continue;
            }
            let station = self.station(port);
            let deference = station.deference_at(at);
            station.heard -= 1;
            if station.heard > 0 || matches!(station.phase, Phase::Sending { .. }) {
                continue;
            }
            let is_waiting = matches!(station.phase, Phase::Waiting(_));
            let Deference::Busy { was_sending, .. } = deference else { continue };
            let end = self.begin_gap(at, port, was_sending);
            if is_waiting {
                self.set_timer(end, port);
            }
        }
    }

    fn keep(&mut self, port: Port) {
        let Err(place) = self.kept.binary_search(&port) else { return };
        let listener = &self.stations[self.stations.len() - 1];
        let heard = (listener.heard, listener.deference);
        self.station(port).take_over(heard);
        self.kept.insert(place, port);
    }

    fn forget_silent_stations(&mut self, at: Exact) {
        let Some((listener, stations)) = self.stations.split_last() else { return };
        self.kept.retain(|port| {
            let station = stations.get(usize::from(*port));
            station.is_none_or(|station| !station.is_as(listener, at))
        });
    }

    fn begin_gap(&mut self, at: Exact, port: Port, was_sending: bool) -> Exact {
        let part1_end = self.clock.after(at, self.gap_part1);
        let end = self.clock.after(at, self.gap);
        self.station(port).deference = Deference::Gap { was_sending, part1_end, end };
        end
    }

    fn add(&mut self, at: Exact, step: Step) {
        let rank = step.rank();
        self.schedule.add_ranked(at, rank, step);
    }

    fn set_timer(&mut self, at: Exact, port: Port) {
        let station = self.station(port);
        station.generation = station.generation.wrapping_add(1);
        let generation = station.generation;
        self.add(at, Step::Own { port, generation });
    }

    fn drop_void_steps(&mut self) {
        while let Some(Step::Own { port, generation }) = self.schedule.next_step() {
            if self.stations[usize::from(*port)].generation == *generation {
                break;
            }
            self.schedule.pop();
        }
    }

    fn station(&mut self, port: Port) -> &mut Station {
        &mut self.stations[usize::from(port)]
    }
}
