//! Counts of a medium.

use crate::event::{Loss, Port};

const PREAMBLE_BYTES: u64 = 8;

/// Counts of the frames that one port sends.
///
/// `offered_copies` always equals `delivered_copies`, plus all losses, plus the copies in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortCounts {
    pub offered_frames: u64,
    /// Bytes of these frames on the wire, preambles included; each frame once, however many receive it.
    pub offered_wire_bytes: u64,
    pub offered_copies: u64,
    pub delivered_copies: u64,
    pub delivered_wire_bytes: u64,
    pub lost_chance: u64,
    /// Copies of the frames that were given up after 16 collisions.
    pub lost_excessive_collisions: u64,
    pub lost_switch_queue: u64,
    pub collisions: u64,
    /// Frames whose first attempt had to wait for a carrier or a gap.
    pub deferrals: u64,
    /// Transmission time of the port, ns, including collided frames. A transmission counts when it ends.
    pub busy_ns: u64,
}

impl PortCounts {
    pub fn copies_in_flight(&self) -> u64 {
        let lost = self.lost_chance + self.lost_excessive_collisions + self.lost_switch_queue;
        self.offered_copies - self.delivered_copies - lost
    }

    /// Bytes of frames offered by the adapter, as Ethernet counts them: with padding and check sequence, without
    /// preamble and gap.
    pub fn offered_bytes(&self) -> u64 {
        self.offered_wire_bytes - self.offered_frames * PREAMBLE_BYTES
    }

    pub(crate) fn add_loss(&mut self, loss: Loss, copies: u64) {
        *match loss {
            Loss::Chance => &mut self.lost_chance,
            Loss::ExcessiveCollisions => &mut self.lost_excessive_collisions,
            Loss::SwitchQueue => &mut self.lost_switch_queue,
        } += copies;
    }

    fn add(&mut self, other: &Self) {
        self.offered_frames += other.offered_frames;
        self.offered_wire_bytes += other.offered_wire_bytes;
        self.offered_copies += other.offered_copies;
        self.delivered_copies += other.delivered_copies;
        self.delivered_wire_bytes += other.delivered_wire_bytes;
        self.lost_chance += other.lost_chance;
        self.lost_excessive_collisions += other.lost_excessive_collisions;
        self.lost_switch_queue += other.lost_switch_queue;
        self.collisions += other.collisions;
        self.deferrals += other.deferrals;
        self.busy_ns += other.busy_ns;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    pub ports: Vec<PortCounts>,
    /// Time during which at least one port of the bus transmitted, ns; counted when the bus falls silent.
    /// Always 0 for cable and switch, which have no common carrier: see [`PortCounts::busy_ns`].
    pub busy_ns: u64,
    pub collisions: u64,
}

impl Counts {
    pub(crate) fn new(ports: u16) -> Self {
        let ports = vec![PortCounts::default(); usize::from(ports)];
        Self { ports, busy_ns: 0, collisions: 0 }
    }

    pub fn total(&self) -> PortCounts {
        let mut total = PortCounts::default();
        for port in &self.ports {
            total.add(port);
        }
        total
    }

    pub(crate) fn of(&mut self, port: Port) -> &mut PortCounts {
        &mut self.ports[usize::from(port)]
    }
}
