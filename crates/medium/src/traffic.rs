//! Frames in transit, events and counters, common to every topology.

use std::collections::VecDeque;

use lanlab_units::Instant;

use crate::bit_time::{BitClock, Exact};
use crate::counts::Counts;
use crate::event::{Destination, Event, Loss, Offer, Port};
use crate::loss::LossProcess;
use crate::plan::{MIN_WIRE_BYTES, Plan};
use crate::random::Random;

pub(crate) type FrameId = u32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) source: Port,
    pub(crate) wire_bytes: u32,
    destination: Destination,
    ticket: u32,
    copies_on_their_way: u16,
}

#[derive(Debug)]
pub(crate) struct Traffic {
    clock: BitClock,
    ports: u16,
    frames: Vec<Frame>,
    unused: Vec<FrameId>,
    events: VecDeque<(Instant, Event)>,
    counts: Counts,
    busy: Vec<Exact>,
    is_free: Vec<bool>,
    loss: LossProcess,
}

impl Traffic {
    pub(crate) fn new(plan: &Plan, random: Random) -> Self {
        Self {
            clock: BitClock::new(plan.rate_bps),
            ports: plan.ports,
            frames: Vec::new(),
            unused: Vec::new(),
            events: VecDeque::new(),
            counts: Counts::new(plan.ports),
            busy: vec![Exact::ZERO; usize::from(plan.ports)],
            is_free: vec![true; usize::from(plan.ports)],
            loss: LossProcess::new(plan, random),
        }
    }

    pub(crate) fn begin(&mut self, source: Port, offer: Offer) -> FrameId {
        let copies = match offer.destination {
            Destination::All => self.ports - 1,
            Destination::Port(port) => u16::from(port != source && port < self.ports),
        };
        let frame = Frame {
            source,
            wire_bytes: offer.wire_bytes.max(MIN_WIRE_BYTES),
            destination: offer.destination,
            ticket: offer.ticket,
            copies_on_their_way: copies,
        };
        self.is_free[usize::from(source)] = false;
        let counts = self.counts.of(source);
        counts.offered_frames += 1;
        counts.offered_wire_bytes += u64::from(frame.wire_bytes);
        counts.offered_copies += u64::from(copies);
        if let Some(id) = self.unused.pop() {
            self.frames[id as usize] = frame;
            return id;
        }
        self.frames.push(frame);
        (self.frames.len() - 1) as FrameId
    }

    pub(crate) fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id as usize]
    }

    pub(crate) fn receivers(&self, id: FrameId) -> impl Iterator<Item = Port> + use<> {
        let Frame { source, destination, .. } = *self.frame(id);
        let ports = match destination {
            Destination::All => 0..self.ports,
            Destination::Port(port) if port < self.ports => port..port + 1,
            Destination::Port(_) => 0..0,
        };
        ports.filter(move |port| *port != source)
    }

    /// The last bit of a copy has reached `receiver`, unless randomly lost.
    pub(crate) fn arrive(&mut self, at: Exact, id: FrameId, receiver: Port) {
        if self.loss.takes_copy(receiver) {
            return self.lose_copy(at, id, receiver, Loss::Chance);
        }
        let Frame { source, wire_bytes, ticket, .. } = *self.frame(id);
        let counts = self.counts.of(source);
        counts.delivered_copies += 1;
        counts.delivered_wire_bytes += u64::from(wire_bytes);
        self.say(at, Event::Delivered { port: receiver, ticket });
        self.end_copies(at, id, 1);
    }

    pub(crate) fn arrive_at_all(&mut self, at: Exact, id: FrameId) {
        for receiver in self.receivers(id) {
            self.arrive(at, id, receiver);
        }
        self.end_without_receiver(at, id);
    }

    /// A frame without receivers is done when it reaches the end of the wire.
    pub(crate) fn end_without_receiver(&mut self, at: Exact, id: FrameId) {
        if self.receivers(id).next().is_none() {
            self.end_copies(at, id, 0);
        }
    }

    pub(crate) fn lose_copy(&mut self, at: Exact, id: FrameId, receiver: Port, loss: Loss) {
        let Frame { source, ticket, .. } = *self.frame(id);
        self.counts.of(source).add_loss(loss, 1);
        self.say(at, Event::Lost { ticket, port: Some(receiver), loss });
        self.end_copies(at, id, 1);
    }

    pub(crate) fn lose_frame(&mut self, at: Exact, id: FrameId, loss: Loss) {
        let Frame { source, ticket, copies_on_their_way, .. } = *self.frame(id);
        self.counts.of(source).add_loss(loss, u64::from(copies_on_their_way));
        self.say(at, Event::Lost { ticket, port: None, loss });
        self.end_copies(at, id, copies_on_their_way);
    }

    pub(crate) fn free(&mut self, at: Exact, port: Port) {
        self.is_free[usize::from(port)] = true;
        self.say(at, Event::Free(port));
    }

    pub(crate) fn is_free(&self, port: Port) -> bool {
        self.is_free[usize::from(port)]
    }

    pub(crate) fn was_busy(&mut self, port: Port, start: Exact, end: Exact) {
        let busy = &mut self.busy[usize::from(port)];
        *busy = self.clock.after(*busy, self.clock.between(start, end));
        self.counts.of(port).busy_ns = busy.whole_nanos();
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn counts_mut(&mut self) -> &mut Counts {
        &mut self.counts
    }

    pub(crate) fn poll_event(&mut self) -> Option<(Instant, Event)> {
        self.events.pop_front()
    }

    fn end_copies(&mut self, at: Exact, id: FrameId, copies: u16) {
        let frame = &mut self.frames[id as usize];
        frame.copies_on_their_way -= copies;
        if frame.copies_on_their_way == 0 {
            let ticket = frame.ticket;
            self.unused.push(id);
            self.say(at, Event::Done { ticket });
        }
    }

    fn say(&mut self, at: Exact, event: Event) {
        self.events.push_back((at.rounded_up(), event));
    }
}
