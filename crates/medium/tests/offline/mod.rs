//! A medium under load, without a clock: stations whose adapters queue frames.
//!
//! Each station sends to the next. Frames arrive at the adapters as a Poisson process, or every
//! adapter always has one ready. [`Load`] runs this in virtual time and reports throughput, delays
//! and losses.
#![allow(dead_code, reason = "each test and the example uses a part of it")]

mod arrivals;
mod delays;
mod plan;
mod report;

use std::collections::VecDeque;

use lanlab_medium::{Counts, Destination, Event, Medium, Offer, Port};
use lanlab_units::Instant;

pub use plan::{Arrivals, BadLoad, FrameShare, LoadPlan};
pub use report::LoadReport;

use arrivals::ArrivalProcess;
use report::Tally;

/// Bytes of preamble and start of frame delimiter, before each frame.
const PREAMBLE_BYTES: u32 = 8;

#[derive(Debug)]
pub struct Load {
    plan: LoadPlan,
    medium: Medium,
    arrivals: ArrivalProcess,
    adapters: Vec<VecDeque<u32>>,
    frames: Vec<Frame>,
    unused: Vec<u32>,
    tally: Tally,
    now: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    station: Port,
    frame_bytes: u32,
    arrived_at: Instant,
}

impl Load {
    /// The load of a plan. The same seed gives the same load.
    ///
    /// # Errors
    /// [`BadLoad`] if such a load is impossible.
    pub fn new(plan: LoadPlan, seed: u64) -> Result<Self, BadLoad> {
        let medium = Medium::new(&plan.medium, seed)?;
        plan.check()?;
        let stations = plan.medium.ports;
        let mut load = Self {
            medium,
            arrivals: ArrivalProcess::new(&plan, seed),
            adapters: vec![VecDeque::new(); usize::from(stations)],
            frames: Vec::new(),
            unused: Vec::new(),
            tally: Tally::new(stations),
            now: Instant::ZERO,
            plan,
        };
        if load.plan.arrivals == Arrivals::Saturated {
            for station in 0..stations {
                load.arrive(Instant::ZERO, station);
            }
        }
        Ok(load)
    }

    /// Let virtual time pass until `until`.
    pub fn run_until(&mut self, until: Instant) {
        self.watch_until(until, |_, _| {});
    }

    /// As [`run_until`](Self::run_until), and pass the time and the sender of each delivered frame to `watch`.
    pub fn watch_until(&mut self, until: Instant, mut watch: impl FnMut(Instant, Port)) {
        loop {
            let due = self.medium.poll_timeout().unwrap_or(Instant::FAR_FUTURE);
            let arrival = self.arrivals.next_at().unwrap_or(Instant::FAR_FUTURE);
            let next = due.min(arrival);
            if next > until || next == Instant::FAR_FUTURE {
                break;
            }
            if due <= arrival {
                self.medium.handle_timeout(due);
                while let Some((at, event)) = self.medium.poll_event() {
                    if let Event::Delivered { ticket, .. } = event {
                        watch(at, self.frames[ticket as usize].station);
                    }
                    self.take(at, event);
                }
            } else if let Some((at, station)) = self.arrivals.take_next() {
                self.arrive(at, station);
            }
        }
        self.now = self.now.max(until);
    }

    pub fn report(&self) -> LoadReport {
        let measured_ns = self.now.nanos_since(self.warmup_end());
        self.tally.report(measured_ns, self.plan.medium.rate_bps.unwrap_or(0))
    }

    pub fn counts(&self) -> &Counts {
        self.medium.counts()
    }

    fn warmup_end(&self) -> Instant {
        Instant::from_nanos(self.plan.warmup_ns)
    }

    fn arrive(&mut self, at: Instant, station: Port) {
        let frame_bytes = self.arrivals.frame_bytes();
        let is_measured = at >= self.warmup_end();
        if is_measured {
            self.tally.arrived(frame_bytes);
        }
        let is_free = self.medium.is_free(station);
        let waiting = self.adapters[usize::from(station)].len();
        if !is_free && waiting >= self.plan.queue_frames as usize {
            if is_measured {
                self.tally.lost_in_adapter();
            }
            return;
        }
        let ticket = self.keep(Frame { station, frame_bytes, arrived_at: at });
        if is_free {
            self.offer(at, ticket);
        } else {
            self.adapters[usize::from(station)].push_back(ticket);
        }
    }

    fn take(&mut self, at: Instant, event: Event) {
        let is_measured = at >= self.warmup_end();
        match event {
            Event::Free(station) => match self.adapters[usize::from(station)].pop_front() {
                Some(ticket) => self.offer(at, ticket),
                None if self.plan.arrivals == Arrivals::Saturated => self.arrive(at, station),
                None => {}
            },
            Event::Delivered { ticket, .. } if is_measured => {
                let Frame { station, frame_bytes, arrived_at } = self.frames[ticket as usize];
                self.tally.delivered(station, frame_bytes, at.nanos_since(arrived_at));
            }
            Event::Lost { loss, .. } if is_measured => self.tally.lost(loss),
            Event::Delivered { .. } | Event::Lost { .. } => {}
            Event::Done { ticket } => self.unused.push(ticket),
        }
    }

    fn offer(&mut self, at: Instant, ticket: u32) {
        let Frame { station, frame_bytes, .. } = self.frames[ticket as usize];
        let next = (station + 1) % self.plan.medium.ports;
        let wire_bytes = frame_bytes + PREAMBLE_BYTES;
        let offer = Offer { ticket, wire_bytes, destination: Destination::Port(next) };
        self.medium.offer(at, station, offer);
    }

    fn keep(&mut self, frame: Frame) -> u32 {
        if let Some(ticket) = self.unused.pop() {
            self.frames[ticket as usize] = frame;
            return ticket;
        }
        self.frames.push(frame);
        (self.frames.len() - 1) as u32
    }
}
