//! Frames between hosts and medium: adapter queues, destinations, delivery times. It has no clock of its own, so
//! tests run it on virtual time.

use std::io;

use lanlab_clients::Recorder;
use lanlab_medium::{Destination, Event, Loss, MIN_WIRE_BYTES, Medium, Offer, Port};
use lanlab_units::Instant;

use super::adapter::Adapter;
use super::lateness::Lateness;
use crate::messages::{MediumCounts, MediumPortCounts};

/// Longest frame without check sequence, with a VLAN's tag (IEEE 802.3-2022, 3.2.7).
const FRAME_BYTES: usize = 1518;
const PREAMBLE_BYTES: usize = 8;
const CHECK_SEQUENCE_BYTES: usize = 4;
const ADDRESS_BYTES: usize = 6;
/// Maximum frames in transit; more wait in the hosts.
const MOST_FRAMES: usize = 32_768;
pub const MEMORY_BYTES: u64 = (MOST_FRAMES * (FRAME_BYTES + 64)) as u64;

struct Frame {
    octets: Box<[u8; FRAME_BYTES]>,
    length: usize,
    wire_bytes: u32,
    destination: Destination,
    is_recorded: bool,
}

pub struct Carrier {
    medium: Medium,
    rate_bps: Option<u64>,
    adapters: Vec<Adapter>,
    addresses: Vec<([u8; ADDRESS_BYTES], Port)>,
    frames: Vec<Frame>,
    free_frames: Vec<u32>,
    extra_counts: Vec<MediumPortCounts>,
    lateness: Lateness,
    recorder: Option<Recorder>,
}

impl Carrier {
    /// A carrier between hosts with these addresses, in the order of their ports.
    pub fn new(
        medium: Medium,
        rate_bps: Option<u64>,
        is_shared: bool,
        addresses: &[[u8; ADDRESS_BYTES]],
        recorder: Option<Recorder>,
    ) -> Self {
        let mut by_address: Vec<_> = addresses.iter().copied().zip(0..).collect();
        by_address.sort_unstable();
        Self {
            medium,
            rate_bps,
            adapters: addresses.iter().map(|_| Adapter::new(rate_bps, is_shared)).collect(),
            addresses: by_address,
            frames: Vec::new(),
            free_frames: Vec::new(),
            extra_counts: vec![MediumPortCounts::default(); addresses.len()],
            lateness: Lateness::new(),
            recorder,
        }
    }

    pub fn adapter(&mut self, port: Port) -> &mut Adapter {
        &mut self.adapters[usize::from(port)]
    }

    pub fn has_room(&self, port: Port) -> bool {
        !self.adapters[usize::from(port)].is_full()
            && (self.frames.len() < MOST_FRAMES || !self.free_frames.is_empty())
    }

    /// Take a frame sent by a host, if `read` returns one. [`Self::offer_waiting`] offers it.
    pub fn take(
        &mut self,
        port: Port,
        read: impl FnOnce(&mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<bool> {
        let ticket = self.free_frames.pop().unwrap_or_else(|| {
            self.frames.push(Frame {
                octets: Box::new([0; FRAME_BYTES]),
                length: 0,
                wire_bytes: 0,
                destination: Destination::All,
                is_recorded: false,
            });
            (self.frames.len() - 1) as u32
        });
        let frame = &mut self.frames[ticket as usize];
        let length = match read(&mut frame.octets[..]) {
            // Too short for two addresses, so not a frame.
            Ok(Some(length)) if length >= 2 * ADDRESS_BYTES => length,
            Ok(found) => {
                self.free_frames.push(ticket);
                return Ok(found.is_some());
            }
            Err(error) => {
                self.free_frames.push(ticket);
                return Err(error);
            }
        };
        let on_wire = (length + PREAMBLE_BYTES + CHECK_SEQUENCE_BYTES) as u32;
        // Shorter frames are padded.
        (frame.length, frame.wire_bytes) = (length, on_wire.max(MIN_WIRE_BYTES));
        frame.is_recorded = false;
        let is_group = frame.octets[0] & 1 == 1;
        let known = (!is_group)
            .then(|| &frame.octets[..ADDRESS_BYTES])
            .and_then(|to| self.addresses.binary_search_by(|(each, _)| each[..].cmp(to)).ok())
            .map(|at| self.addresses[at].1)
            .filter(|&to| to != port);
        frame.destination = match known {
            _ if is_group => Destination::All,
            Some(to) => Destination::Port(to),
            // No host has this address; the medium expects the sender's own port then.
            None => Destination::Port(port),
        };
        self.extra_counts[usize::from(port)].unknown_destination_frames +=
            u64::from(!is_group && known.is_none());
        self.adapters[usize::from(port)].push(ticket, frame.wire_bytes);
        Ok(true)
    }

    pub fn next(&self) -> Option<Instant> {
        self.medium.poll_timeout()
    }

    /// Handle all events until `now`, each at its exact time. `deliver` hands a frame to a host,
    /// and returns the time afterwards and whether the host accepted the frame.
    pub fn advance(
        &mut self,
        now: Instant,
        deliver: &mut impl FnMut(Port, &[u8]) -> (Instant, bool),
    ) {
        while let Some(at) = self.medium.poll_timeout().filter(|&at| at <= now) {
            self.medium.handle_timeout(at);
            self.handle_events(deliver);
        }
    }

    /// Offer waiting frames of free ports to the medium. All events before `now` must be handled.
    pub fn offer_waiting(
        &mut self,
        now: Instant,
        ports: impl Iterator<Item = Port>,
        deliver: &mut impl FnMut(Port, &[u8]) -> (Instant, bool),
    ) {
        for port in ports {
            self.offer_first(port, now);
        }
        self.handle_events(deliver);
    }

    fn offer_first(&mut self, port: Port, at: Instant) {
        let adapter = &mut self.adapters[usize::from(port)];
        let Some(ticket) = adapter.first().filter(|_| self.medium.is_free(port)) else { return };
        let Frame { wire_bytes, destination, .. } = self.frames[ticket as usize];
        adapter.pop(wire_bytes);
        self.medium.offer(at, port, Offer { ticket, wire_bytes, destination });
    }

    fn handle_events(&mut self, deliver: &mut impl FnMut(Port, &[u8]) -> (Instant, bool)) {
        while let Some((at, event)) = self.medium.poll_event() {
            match event {
                Event::Free(port) => self.offer_first(port, at),
                Event::Delivered { port, ticket } => self.hand_over(at, port, ticket, deliver),
                // The frame was on the wire, even if its receiver lost it.
                Event::Lost { ticket, loss: Loss::Chance, .. } => self.record(at, ticket),
                Event::Lost { .. } => {}
                Event::Done { ticket } => self.free_frames.push(ticket),
            }
        }
    }

    fn hand_over(
        &mut self,
        at: Instant,
        port: Port,
        ticket: u32,
        deliver: &mut impl FnMut(Port, &[u8]) -> (Instant, bool),
    ) {
        let frame = &self.frames[ticket as usize];
        let (now, is_taken) = deliver(port, &frame.octets[..frame.length]);
        self.extra_counts[usize::from(port)].refused_copies += u64::from(!is_taken);
        let frame_ns = self
            .rate_bps
            .map_or(0, |rate_bps| u64::from(frame.wire_bytes) * 8_000_000_000 / rate_bps);
        self.lateness.count(now.nanos_since(at), frame_ns);
        self.record(at, ticket);
    }

    fn record(&mut self, at: Instant, ticket: u32) {
        let frame = &mut self.frames[ticket as usize];
        if let Some(recorder) = &mut self.recorder
            && !std::mem::replace(&mut frame.is_recorded, true)
        {
            recorder.record(at, &frame.octets[..frame.length]);
        }
    }

    /// Periodic work: adjust the rates of hosts (with `pace`), and write pieces of the recording.
    pub fn tick(&mut self, now: Instant, mut pace: impl FnMut(Port, u64)) {
        for (adapter, port) in self.adapters.iter_mut().zip(0..) {
            if let Some(rate_bps) = adapter.steer(now) {
                pace(port, rate_bps);
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.tick(now);
        }
    }

    pub fn gap(&mut self, ns: u64) {
        self.lateness.gap(ns);
    }

    pub fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_mut()
    }

    pub fn count_dropped_before_adapter(&mut self, port: Port, frames: u64) {
        self.extra_counts[usize::from(port)].lost_adapter_queue_frames += frames;
    }

    /// Counters since the start, and lateness since the last reading. The thread adds its own counters.
    pub fn read(&mut self) -> MediumCounts {
        let counts = self.medium.counts();
        let ports = counts.ports.iter().enumerate().map(|(number, port)| MediumPortCounts {
            frames: port.offered_frames,
            bytes: port.offered_bytes(),
            waiting_frames: self.adapters[number].waiting_frames(),
            offered_copies: port.offered_copies,
            delivered_copies: port.delivered_copies,
            lost_chance: port.lost_chance,
            lost_excessive_collisions: port.lost_excessive_collisions,
            lost_switch_queue: port.lost_switch_queue,
            in_flight_copies: port.copies_in_flight(),
            collisions: port.collisions,
            ..self.extra_counts[number]
        });
        let (recorded_frames, unrecorded_frames) =
            self.recorder.as_ref().map_or((0, 0), Recorder::counts);
        MediumCounts {
            ports: ports.collect(),
            collisions: counts.collisions,
            busy_ns: counts.busy_ns.max(counts.total().busy_ns),
            lateness: self.lateness.read(),
            recorded_frames,
            unrecorded_frames,
            socket_buffer_bytes: None,
            cpu_ns: 0,
            spun_ns: 0,
            nice: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use lanlab_medium::{LossPlan, Plan, Topology};

    use super::*;

    const MAC: [[u8; 6]; 3] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 3]];
    const RATE_BPS: u64 = 10_000_000;

    fn carrier(topology: Topology, ports: u16, loss: LossPlan) -> Carrier {
        let plan = Plan {
            topology,
            rate_bps: Some(RATE_BPS),
            ports,
            propagation_ns: 500,
            delay_ns: 0,
            loss,
            switch_queue_bytes: 64 << 10,
        };
        let medium = Medium::new(&plan, 1).unwrap();
        let is_shared = topology == Topology::Bus;
        Carrier::new(medium, Some(RATE_BPS), is_shared, &MAC[..usize::from(ports)], None)
    }

    fn take(carrier: &mut Carrier, from: u16, to: [u8; 6], length: usize) {
        let read = |into: &mut [u8]| {
            into[..6].copy_from_slice(&to);
            into[6..12].copy_from_slice(&MAC[usize::from(from)]);
            Ok(Some(length))
        };
        assert!(carrier.take(from, read).unwrap());
    }

    /// Run until nothing is left to do, with a clock that is always `late_ns` late. Returns who received
    /// which length, and when.
    fn run(carrier: &mut Carrier, late_ns: u64) -> Vec<(Port, usize, u64)> {
        let mut got = Vec::new();
        while let Some(next) = carrier.next() {
            let now = next.plus_nanos(late_ns);
            carrier.advance(now, &mut |port, frame| {
                got.push((port, frame.len(), now.as_nanos()));
                (now, true)
            });
        }
        got
    }

    fn offer(carrier: &mut Carrier, at_ns: u64, ports: std::ops::Range<u16>) {
        let none = &mut |_: Port, _: &[u8]| unreachable!("a frame takes its time");
        carrier.offer_waiting(Instant::from_nanos(at_ns), ports, none);
    }

    #[test]
    fn a_lone_frame_arrives_after_its_time_on_the_wire() {
        let mut carrier = carrier(Topology::Cable, 2, LossPlan::Never);
        take(&mut carrier, 0, MAC[1], 1514);
        offer(&mut carrier, 1_000, 0..1);
        // 8 + 1514 + 4 bytes at 0.8 µs, and 0.5 µs of cable.
        assert_eq!(run(&mut carrier, 0), [(1, 1514, 1_000 + 1_220_800 + 500)]);
    }

    #[test]
    fn a_late_thread_does_not_shift_the_schedule() {
        let mut carrier = carrier(Topology::Cable, 2, LossPlan::Never);
        (0..100).for_each(|_| take(&mut carrier, 0, MAC[1], 1514));
        offer(&mut carrier, 0, 0..1);
        let got = run(&mut carrier, 70_000);
        assert_eq!(got.len(), 100);
        // 99 frames and gaps of 1538 bytes, the last frame and the cable; late once, not 100 times.
        let exact_ns = 99 * 1_230_400 + 1_220_800 + 500;
        // Simultaneous events are handled together: the end of a frame and its arrival.
        assert!(got[99].2.abs_diff(exact_ns + 70_000) <= 500, "{}", got[99].2);
        let lateness = carrier.read().lateness;
        assert_eq!((lateness.deliveries, lateness.late_deliveries), (100, 0));
        assert!(lateness.p50_ns.abs_diff(70_000) < 700, "{}", lateness.p50_ns);
    }

    #[test]
    fn frames_reach_the_addressed_host() {
        let mut carrier = carrier(Topology::Switch, 3, LossPlan::Never);
        take(&mut carrier, 0, MAC[2], 100);
        take(&mut carrier, 0, [0xff; 6], 101);
        take(&mut carrier, 0, [2, 9, 9, 9, 9, 9], 102);
        take(&mut carrier, 0, MAC[0], 103);
        take(&mut carrier, 0, MAC[1], 104);
        offer(&mut carrier, 0, 0..3);
        let got: Vec<_> =
            run(&mut carrier, 0).iter().map(|&(to, length, _)| (to, length)).collect();
        assert_eq!(got, [(2, 100), (1, 101), (2, 101), (1, 104)]);
        let counts = carrier.read();
        let port = counts.ports[0];
        assert_eq!((port.frames, port.unknown_destination_frames), (5, 2));
        // Lengths include check sequences.
        assert_eq!(port.bytes, 100 + 101 + 102 + 103 + 104 + 5 * 4);
        assert_eq!((port.offered_copies, port.delivered_copies), (4, 4));
    }

    #[test]
    fn on_a_bus_each_frame_is_delivered_or_lost_by_name() {
        let mut carrier = carrier(Topology::Bus, 3, LossPlan::Random { ratio: 0.3 });
        for from in 0..3 {
            for _ in 0..200 {
                take(&mut carrier, from, MAC[usize::from(from + 1) % 3], 60);
            }
        }
        offer(&mut carrier, 0, 0..3);
        let got = run(&mut carrier, 20_000).len() as u64;
        let counts = carrier.read();
        let mut delivered = 0;
        for port in &counts.ports {
            assert_eq!((port.frames, port.offered_copies, port.in_flight_copies), (200, 200, 0));
            let lost = port.lost_chance + port.lost_excessive_collisions;
            assert_eq!(port.delivered_copies + lost, 200);
            assert!(port.lost_chance > 20 && port.collisions > 0, "{port:?}");
            delivered += port.delivered_copies;
        }
        assert_eq!(got, delivered);
        assert!(counts.collisions > 0);
    }

    #[test]
    fn frames_for_a_down_host_are_counted_and_invalid_ones_ignored() {
        let mut carrier = carrier(Topology::Cable, 2, LossPlan::Never);
        assert!(carrier.take(0, |_| Ok(Some(11))).unwrap());
        assert!(!carrier.take(0, |_| Ok(None)).unwrap());
        take(&mut carrier, 0, MAC[1], 60);
        offer(&mut carrier, 0, 0..1);
        while let Some(next) = carrier.next() {
            carrier.advance(next, &mut |_, _| (next, false));
        }
        let counts = carrier.read();
        assert_eq!((counts.ports[0].frames, counts.ports[1].refused_copies), (1, 1));
    }
}
