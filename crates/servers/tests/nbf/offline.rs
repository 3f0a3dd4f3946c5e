//! Two nodes on the offline medium, in virtual time.

use std::collections::VecDeque;

use lanlab_medium::{Destination, Event as Happened, LossPlan, Medium, Offer, Plan, Topology};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{CarrierKind, Event, NameEvent, Node, NodeConfig, SessionId};
use lanlab_stack::profile::Profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;

use super::scripted::{MACS, name};

/// Two nodes on the offline medium.
pub struct World {
    pub now: Instant,
    pub nodes: [Node; 2],
    medium: Medium,
    frames: Vec<Vec<u8>>,
    pub sent: [Vec<Vec<u8>>; 2],
    pub claimed: [bool; 2],
    pub sessions: [Option<(SessionId, CarrierFacts)>; 2],
    pub inboxes: [VecDeque<Vec<u8>>; 2],
    pub is_over: [bool; 2],
}

impl World {
    pub fn new(carrier: CarrierKind, profile: &Profile) -> Self {
        let plan = Plan {
            topology: Topology::Cable,
            rate_bps: Some(10_000_000),
            ports: 2,
            propagation_ns: 500,
            delay_ns: 0,
            loss: LossPlan::Never,
            switch_queue_bytes: 64 << 10,
        };
        let node = |end: usize| {
            let config = NodeConfig::new(Mac(MACS[end]), name(end), *profile, carrier);
            Node::new(&config, Instant::ZERO)
        };
        let mut nodes = [node(0), node(1)];
        nodes[1].listen();
        Self {
            now: Instant::ZERO,
            nodes,
            medium: Medium::new(&plan, 1).unwrap(),
            frames: Vec::new(),
            sent: [Vec::new(), Vec::new()],
            claimed: [false; 2],
            sessions: [None; 2],
            inboxes: [VecDeque::new(), VecDeque::new()],
            is_over: [false; 2],
        }
    }

    pub fn drain(&mut self) {
        for end in 0..2 {
            loop {
                let mut message = Vec::new();
                while let Some(event) = self.nodes[end].poll_event(&mut message) {
                    match event {
                        Event::Name(NameEvent::Claimed(_)) => self.claimed[end] = true,
                        Event::Opened(session, facts) | Event::Accepted { session, facts, .. } => {
                            self.sessions[end] = Some((session, facts));
                        }
                        Event::Message(_) => {
                            self.inboxes[end].push_back(std::mem::take(&mut message));
                        }
                        Event::Ended(..) => self.is_over[end] = true,
                        _ => {}
                    }
                }
                let mut frame = Vec::new();
                if !self.medium.is_free(end as u16)
                    || !self.nodes[end].poll_transmit(self.now, &mut frame)
                {
                    break;
                }
                self.sent[end].push(frame.clone());
                let (ticket, wire_bytes) = (self.frames.len() as u32, frame.len() as u32 + 12);
                self.frames.push(frame);
                let offer = Offer { ticket, wire_bytes, destination: Destination::All };
                self.medium.offer(self.now, end as u16, offer);
            }
        }
    }

    /// Let the next thing happen, if that is before `until`.
    pub fn advance(&mut self, until: Instant) -> bool {
        self.drain();
        let nodes = self.nodes.iter().filter_map(Node::poll_timeout);
        let next = nodes.chain(self.medium.poll_timeout()).min().map(|at| at.max(self.now));
        let Some(next) = next.filter(|&next| next <= until) else { return false };
        self.now = next;
        if self.medium.poll_timeout().is_some_and(|at| at <= next) {
            self.medium.handle_timeout(next);
            while let Some((_, happened)) = self.medium.poll_event() {
                if let Happened::Delivered { port, ticket } = happened {
                    let frame = self.frames[ticket as usize].clone();
                    self.nodes[usize::from(port)].handle_frame(next, &frame);
                    self.drain();
                }
            }
        } else {
            self.nodes.iter_mut().for_each(|node| node.handle_timeout(next));
        }
        self.drain();
        true
    }
}
