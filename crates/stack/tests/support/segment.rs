//! Stations on an offline medium, in virtual time: each has an adapter with room for one frame, and a program
//! that handles what its node reports.

use std::collections::BTreeMap;

use lanlab_medium::{Destination, Event as Happened, LossPlan, Medium, Offer, Plan, Topology};
use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig};
use lanlab_stack::profile::Profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::pcap;

use crate::chance::Chance;

/// What runs above a node.
pub trait Program {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, message: &mut Vec<u8>);
}

/// What becomes of copies of frames, in percent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub lost: u32,
    pub doubled: u32,
    pub reordered: u32,
    /// A late copy comes up to this later.
    pub longest_delay_ns: u64,
}

impl Faults {
    pub fn drawn(chance: &mut Chance) -> Self {
        Self {
            lost: [0, 2, 10, 30][chance.below(4) as usize],
            doubled: [0, 5, 20][chance.below(3) as usize],
            reordered: [0, 0, 5, 20][chance.below(4) as usize],
            longest_delay_ns: [1, 5, 300][chance.below(3) as usize] * 1_000_000,
        }
    }
}

struct Station<P> {
    mac: Mac,
    node: Node,
    program: P,
}

/// Stations on a medium of 10 Mbit/s.
pub struct Segment<P> {
    pub now: Instant,
    stations: Vec<Station<P>>,
    medium: Medium,
    frames: Vec<Vec<u8>>,
    unused: Vec<u32>,
    late: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    late_count: u64,
    pub faults: Faults,
    chance: Chance,
    /// Every frame that was sent, if wanted.
    pub capture: Option<Vec<u8>>,
    /// Frames sent, with their time, their bytes on the wire (preamble and check sequence, no gap), and
    /// whether they are I frames.
    pub sent: Vec<(Instant, u32, bool)>,
    pub keeps_sent: bool,
    /// Every station is called at each time, whether anything is due or not.
    pub nudges: bool,
    /// Copies of frames that stations have been given.
    pub heard: u64,
    message: Vec<u8>,
}

pub fn mac(station: usize) -> Mac {
    Mac([2, 0x60, 0x8c, 0, 0, station as u8 + 1])
}

pub fn name(station: usize) -> Name {
    Name::new(&format!("STATION{station}"), suffix::SERVER).unwrap()
}

pub fn node(carrier: CarrierKind, station: usize, profile: &Profile) -> Node {
    let carriers = carrier;
    let config = NodeConfig::new(mac(station), name(station), *profile, carriers);
    Node::new(&config, Instant::ZERO)
}

impl<P: Program> Segment<P> {
    pub fn new(topology: Topology, programs: Vec<(Profile, P)>, seed: u64) -> Self {
        Self::over(CarrierKind::Nbf, topology, programs, seed)
    }

    pub fn over(
        carrier: CarrierKind,
        topology: Topology,
        programs: Vec<(Profile, P)>,
        seed: u64,
    ) -> Self {
        let node = |index, profile: &Profile| node(carrier, index, profile);
        let with_nodes = programs.into_iter().enumerate();
        let with_nodes =
            with_nodes.map(|(index, (profile, program))| (node(index, &profile), program));
        Self::of(topology, with_nodes.collect(), seed)
    }

    pub fn of(topology: Topology, programs: Vec<(Node, P)>, seed: u64) -> Self {
        let plan = Plan {
            topology,
            rate_bps: Some(10_000_000),
            ports: programs.len() as u16,
            propagation_ns: 2_500,
            delay_ns: 0,
            loss: LossPlan::Never,
            switch_queue_bytes: 100_000,
        };
        let stations = programs.into_iter().enumerate().map(|(index, (node, program))| Station {
            mac: mac(index),
            node,
            program,
        });
        let mut segment = Self {
            now: Instant::ZERO,
            stations: stations.collect(),
            medium: Medium::new(&plan, seed).unwrap(),
            frames: vec![],
            unused: vec![],
            late: BTreeMap::new(),
            late_count: 0,
            faults: Faults::default(),
            chance: Chance::new(seed),
            capture: None,
            sent: vec![],
            keeps_sent: false,
            nudges: false,
            heard: 0,
            message: vec![],
        };
        for index in 0..segment.stations.len() {
            segment.drain(index);
        }
        segment
    }

    pub fn program(&self, station: usize) -> &P {
        &self.stations[station].program
    }

    pub fn node(&mut self, station: usize) -> &mut Node {
        &mut self.stations[station].node
    }

    pub fn counted(&mut self, station: usize, key: &str) -> u64 {
        let counts = self.node(station).counts();
        counts.iter().find(|(found, _)| *found == key).unwrap_or_else(|| panic!("{key}")).1
    }

    pub fn with<R>(
        &mut self,
        station: usize,
        act: impl FnOnce(Instant, &mut Node, &mut P) -> R,
    ) -> R {
        let Station { node, program, .. } = &mut self.stations[station];
        let result = act(self.now, node, program);
        self.drain(station);
        result
    }

    pub fn run_until(&mut self, until: Instant) {
        self.run_while(until, |_| true);
    }

    pub fn run_while(&mut self, until: Instant, goes_on: impl Fn(&Self) -> bool) -> bool {
        loop {
            if !goes_on(self) {
                return true;
            }
            let medium = self.medium.poll_timeout();
            let nodes = self.stations.iter().filter_map(|station| station.node.poll_timeout());
            let late = self.late.keys().next().map(|(at, _)| *at);
            let next = nodes.chain(medium).chain(late).min().map(|at| at.max(self.now));
            let Some(next) = next.filter(|next| *next <= until) else {
                self.now = self.now.max(until);
                return false;
            };
            self.now = next;
            self.step();
            for index in 0..self.stations.len() {
                if self.nudges {
                    self.stations[index].node.handle_timeout(next);
                    self.drain(index);
                }
            }
        }
    }

    fn step(&mut self) {
        let now = self.now;
        if self.medium.poll_timeout().is_some_and(|at| at <= now) {
            self.medium.handle_timeout(now);
            self.handle_medium();
            return;
        }
        if let Some(entry) = self.late.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, frame) = entry.remove();
            self.hear(to, &frame);
            return;
        }
        for index in 0..self.stations.len() {
            if self.stations[index].node.poll_timeout().is_some_and(|at| at <= now) {
                self.stations[index].node.handle_timeout(now);
                self.drain(index);
                return;
            }
        }
    }

    fn handle_medium(&mut self) {
        while let Some((_, happened)) = self.medium.poll_event() {
            match happened {
                Happened::Free(port) => self.drain(usize::from(port)),
                Happened::Delivered { port, ticket } => {
                    self.deliver(usize::from(port), ticket);
                }
                Happened::Lost { .. } => {}
                Happened::Done { ticket } => self.unused.push(ticket),
            }
        }
    }

    fn deliver(&mut self, to: usize, ticket: u32) {
        let frame = std::mem::take(&mut self.frames[ticket as usize]);
        if !self.chance.percent(self.faults.lost) {
            let copies = if self.chance.percent(self.faults.doubled) { 2 } else { 1 };
            for _ in 0..copies {
                if self.chance.percent(self.faults.reordered) {
                    let delay_ns = self.chance.below(self.faults.longest_delay_ns.max(1));
                    self.late_count += 1;
                    let key = (self.now.plus_nanos(delay_ns), self.late_count);
                    self.late.insert(key, (to, frame.clone()));
                } else {
                    self.hear(to, &frame);
                }
            }
        }
        self.frames[ticket as usize] = frame;
    }

    fn hear(&mut self, station: usize, frame: &[u8]) {
        self.heard += 1;
        self.stations[station].node.handle_frame(self.now, frame);
        self.drain(station);
    }

    fn drain(&mut self, index: usize) {
        loop {
            let mut message = std::mem::take(&mut self.message);
            let Station { node, program, .. } = &mut self.stations[index];
            while let Some(event) = node.poll_event(&mut message) {
                program.handle(self.now, node, event, &mut message);
            }
            self.message = message;
            if !self.medium.is_free(index as u16) || !self.send(index) {
                return;
            }
        }
    }

    fn send(&mut self, index: usize) -> bool {
        let ticket = self.unused.pop().unwrap_or_else(|| {
            self.frames.push(vec![]);
            (self.frames.len() - 1) as u32
        });
        let mut frame = std::mem::take(&mut self.frames[ticket as usize]);
        let is_sent = self.stations[index].node.poll_transmit(self.now, &mut frame);
        if is_sent {
            let to = self.stations.iter().position(|station| station.mac.0 == frame[..6]);
            let destination = match to {
                Some(port) => Destination::Port(port as u16),
                None if frame[0] & 1 != 0 => Destination::All,
                None => Destination::Port(index as u16),
            };
            // Preamble 8, check sequence 4.
            let wire_bytes = frame.len() as u32 + 12;
            if let Some(capture) = &mut self.capture {
                pcap::emit_record(800_000_000_000_000_000 + self.now.as_nanos(), &frame, capture);
            }
            if self.keeps_sent {
                // The lowest bit of the control field tells I frames from others.
                self.sent.push((self.now, wire_bytes, frame[16] & 1 == 0));
            }
            self.medium.offer(self.now, index as u16, Offer { ticket, wire_bytes, destination });
        } else {
            self.unused.push(ticket);
        }
        self.frames[ticket as usize] = frame;
        is_sent
    }
}

/// Frames of a capture without its header, each with its time in nanoseconds.
pub fn frames(capture: &[u8]) -> Vec<(u64, &[u8])> {
    let mut frames = vec![];
    let mut rest = capture;
    while rest.len() >= pcap::RECORD_HEADER_OCTETS {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let at_ns = u64::from(word(0)) * 1_000_000_000 + u64::from(word(4));
        let end = pcap::RECORD_HEADER_OCTETS + word(8) as usize;
        frames.push((at_ns, &rest[pcap::RECORD_HEADER_OCTETS..end]));
        rest = &rest[end..];
    }
    frames
}
