//! A cable in virtual time, on which the clients and servers of the product run as they are.
//!
//! Frames take their time at 10 Mbit/s, or 2 on broadband, and timers of nodes run on the cable's clock. It goes on whenever no task has
//! anything to do: tokio says so before its thread would sleep.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use lanlab_connections::wired::{Driven, FrameLink, provide};
use lanlab_medium::{Destination, Event as Happened, LossPlan, Medium, Offer, Plan, Topology};
use lanlab_os::RawLinkPlace;
use lanlab_units::Instant;
use tokio::sync::Notify;

const RATE_BPS: u64 = 10_000_000;
/// The broadband of IBM's PC Network: a bus with a headend.
const BROADBAND_BPS: u64 = 2_000_000;
const BROADBAND_NS: u64 = 25_000;
/// The gap after each frame.
pub const GAP_NS: u64 = 9_600;
const SHORTEST_FRAME_BYTES: usize = 60;
/// Preamble and check sequence.
const AROUND_BYTES: u32 = 12;
/// It takes this long only if it hangs.
const LONGEST: Duration = Duration::from_mins(5);

#[derive(Clone)]
pub struct VirtualCable {
    wire: Arc<Mutex<Wire>>,
    name: &'static str,
}

#[derive(Debug)]
struct Wire {
    now: Instant,
    rate_bps: u64,
    medium: Medium,
    frames: Vec<Vec<u8>>,
    unused: Vec<u32>,
    ends: [End; 2],
    sent: Vec<Transmission>,
    carried: u64,
    lost: u64,
    /// Some frames come twice, or after the next one.
    is_mixing: bool,
}

/// Which frames that are for the same end come twice, and which come late: one of each of these numbers.
const DOUBLED: u64 = 17;
const LATE: u64 = 13;

/// A frame that was sent, without the gap behind it.
#[derive(Debug, Clone, Copy)]
pub struct Transmission {
    pub end: usize,
    pub from: Instant,
    pub took_ns: u64,
}

#[derive(Debug, Default)]
struct End {
    outgoing: VecDeque<Vec<u8>>,
    arrived: VecDeque<Vec<u8>>,
    /// One that comes after the next one.
    late: Option<Vec<u8>>,
    delivered: u64,
    node: Option<Weak<dyn Driven>>,
}

#[derive(Debug)]
struct Link {
    wire: Arc<Mutex<Wire>>,
    end: usize,
    interface: String,
}

impl FrameLink for Link {
    fn mac(&self) -> [u8; 6] {
        [2, 0x60, 0x8c, 0, 0, self.end as u8 + 1]
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    fn now(&self) -> Instant {
        self.wire.lock().unwrap().now
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let frame = self.wire.lock().unwrap().ends[self.end].arrived.pop_front();
        Ok(frame.map(|frame| {
            into[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        let mut frame = frame.to_vec();
        frame.resize(frame.len().max(SHORTEST_FRAME_BYTES), 0);
        let mut wire = self.wire.lock().unwrap();
        wire.ends[self.end].outgoing.push_back(frame);
        wire.offer(self.end);
        Ok(true)
    }

    fn new_drops(&mut self) -> u64 {
        0
    }
}

impl End {
    fn arrive(&mut self, frame: Vec<u8>, is_mixing: bool) {
        self.delivered += 1;
        let is_nth = |nth| is_mixing && self.delivered.is_multiple_of(nth);
        if is_nth(DOUBLED) {
            self.arrived.push_back(frame.clone());
        }
        if is_nth(LATE) && self.late.is_none() {
            self.late = Some(frame);
            return;
        }
        self.arrived.push_back(frame);
        self.arrived.extend(self.late.take());
    }
}

impl Wire {
    fn offer(&mut self, end: usize) {
        if !self.medium.is_free(end as u16) {
            return;
        }
        let Some(frame) = self.ends[end].outgoing.pop_front() else { return };
        let ticket = self.unused.pop().unwrap_or_else(|| {
            self.frames.push(Vec::new());
            self.frames.len() as u32 - 1
        });
        let wire_bytes = frame.len() as u32 + AROUND_BYTES;
        let took_ns = u64::from(wire_bytes) * 8 * 1_000_000_000 / self.rate_bps;
        self.sent.push(Transmission { end, from: self.now, took_ns });
        self.frames[ticket as usize] = frame;
        let destination = Destination::Port(1 - end as u16);
        self.medium.offer(self.now, end as u16, Offer { ticket, wire_bytes, destination });
    }

    fn handle_medium(&mut self) {
        self.medium.handle_timeout(self.now);
        while let Some((_, happened)) = self.medium.poll_event() {
            match happened {
                Happened::Free(port) => self.offer(usize::from(port)),
                Happened::Delivered { port, ticket } => {
                    self.carried += 1;
                    let frame = self.frames[ticket as usize].clone();
                    self.ends[usize::from(port)].arrive(frame, self.is_mixing);
                }
                Happened::Lost { .. } => self.lost += 1,
                Happened::Done { ticket } => self.unused.push(ticket),
            }
        }
    }
}

impl VirtualCable {
    /// A cable that loses this share of frames, as chance has it, but the same in each run. No other cable of this
    /// program has the name.
    pub fn new(name: &'static str, lost_ratio: f64) -> Self {
        Self::of(name, lost_ratio, (Topology::Cable, RATE_BPS, 500))
    }

    /// The same of a cable of broadband.
    pub fn broadband(name: &'static str, lost_ratio: f64) -> Self {
        Self::of(name, lost_ratio, (Topology::Bus, BROADBAND_BPS, BROADBAND_NS))
    }

    fn of(
        name: &'static str,
        lost_ratio: f64,
        (topology, rate_bps, propagation_ns): (Topology, u64, u64),
    ) -> Self {
        let random = LossPlan::Random { ratio: lost_ratio };
        let loss = if lost_ratio > 0.0 { random } else { LossPlan::Never };
        let plan = Plan {
            topology,
            rate_bps: Some(rate_bps),
            ports: 2,
            propagation_ns,
            delay_ns: 0,
            loss,
            switch_queue_bytes: 100_000,
        };
        let wire = Arc::new(Mutex::new(Wire {
            now: Instant::ZERO,
            rate_bps,
            medium: Medium::new(&plan, 1).unwrap(),
            frames: Vec::new(),
            unused: Vec::new(),
            ends: [End::default(), End::default()],
            sent: Vec::new(),
            carried: 0,
            lost: 0,
            is_mixing: false,
        }));
        let cable = Self { wire, name };
        for end in 0..2 {
            let (wire, interface) = (Arc::clone(&cable.wire), cable.interface(end));
            provide(RawLinkPlace::Interface(interface.clone()), move |node| {
                wire.lock().unwrap().ends[end].node = Some(node);
                Box::new(Link { wire: Arc::clone(&wire), end, interface: interface.clone() })
            });
        }
        cable
    }

    /// Have some frames come twice, or after the next one.
    pub fn mix(&self) {
        self.wire.lock().unwrap().is_mixing = true;
    }

    pub fn interface(&self, end: usize) -> String {
        format!("virtual {} {end}", self.name)
    }

    pub fn now(&self) -> Instant {
        self.wire.lock().unwrap().now
    }

    pub fn transmissions(&self) -> Vec<Transmission> {
        self.wire.lock().unwrap().sent.clone()
    }

    pub fn counts(&self) -> (u64, u64) {
        let wire = self.wire.lock().unwrap();
        (wire.carried, wire.lost)
    }

    /// Do what is due next. Nodes are called without the lock: they take it themselves.
    fn advance(&self) {
        let nodes: Vec<_> = {
            let wire = self.wire.lock().unwrap();
            wire.ends.iter().filter_map(|end| end.node.as_ref()?.upgrade()).collect()
        };
        let due = nodes.iter().filter_map(|node| node.poll_timeout()).min();
        {
            let mut wire = self.wire.lock().unwrap();
            let next = due.into_iter().chain(wire.medium.poll_timeout()).min();
            let Some(next) = next else { return };
            wire.now = wire.now.max(next);
            if wire.medium.poll_timeout().is_some_and(|at| at <= wire.now) {
                wire.handle_medium();
            }
        }
        for node in nodes {
            node.drive();
        }
    }

    pub fn run(&self, program: impl Future<Output = ()>) {
        let is_idle = Arc::new(Notify::new());
        let idle = Arc::clone(&is_idle);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || idle.notify_one())
            .build()
            .unwrap();
        let cable = self.clone();
        runtime.spawn(async move {
            loop {
                is_idle.notified().await;
                cable.advance();
            }
        });
        runtime.block_on(async {
            tokio::time::timeout(LONGEST, program).await.expect("it hangs");
        });
    }
}
