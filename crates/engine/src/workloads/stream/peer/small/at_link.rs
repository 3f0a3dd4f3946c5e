//! A station at its raw link: frames in and out, and memory in use.

use std::time::Duration;

use lanlab_os::{self as os, Interest, RawFrames, RawLink, Readiness};
use lanlab_stack::ip::small::{Facts, READ_BYTES};
use lanlab_stack::ip::{FramedStation, Reach, Station, StationConfig, TcpProfile};
use lanlab_units::Instant;

use super::{LOOK_NS, peer_address};
use crate::listen::{link_failure, place_of};
use crate::messages::{Failure, OwnStack, PeerStream, StackFacts};
use crate::running::Running;
use crate::stack_facts::stack_facts;
use crate::workloads::setup::random_bytes;

/// Maximum frames read per turn, so that flows get theirs.
const TURN_FRAMES: usize = 64;

fn gone(error: &std::io::Error) -> Failure {
    Failure::system("the interface", error).hint("it was taken down or removed")
}

pub struct AtLink {
    pub framed: FramedStation,
    pub random: u64,
    link: RawLink,
    readiness: Readiness,
}

impl AtLink {
    /// Upper bound of a station's memory with this many flows.
    pub fn most_bytes(profile: &TcpProfile, flows: usize) -> u64 {
        (Station::most_bytes(profile, flows, READ_BYTES) + size_of::<Self>() - size_of::<Station>())
            as u64
    }

    /// Open the link, check that no other station has the address, and find the peer.
    pub fn open(
        request: &PeerStream,
        stack: &OwnStack,
        tcp: TcpProfile,
        running: &Running,
    ) -> Result<Self, Failure> {
        let peer = peer_address(request)?;
        let place = place_of(&stack.link)?;
        // Close the station left by earlier copies.
        lanlab_clients::small::make_way(&place).map_err(|error| link_failure(&place, &error))?;
        let link = RawLink::open(&place, RawFrames::ToAddress(stack.address))
            .map_err(|error| link_failure(&place, &error))?;
        let system = |error: std::io::Error| Failure::system("the interface", &error);
        let readiness = Readiness::new(1).map_err(system)?;
        readiness.watch(&link, 0, Interest::Read).map_err(system)?;
        let random = u64::from_le_bytes(random_bytes()?);
        let config = StationConfig {
            mac: link.mac(),
            address: stack.address,
            peer: Some(peer),
            tcp,
            connections: request.spec.flows.into(),
            seed: random,
        };
        let mut at_link = Self {
            framed: FramedStation::new(
                Station::new(config, os::monotonic()),
                Facts::new(tcp, stack.memory_bytes),
            ),
            random,
            link,
            readiness,
        };
        loop {
            let now = os::monotonic();
            running.check()?;
            let has_more = at_link.turn(now)?;
            match at_link.framed.station.reach() {
                Reach::Known => return Ok(at_link),
                Reach::Asking if has_more => {}
                Reach::Asking => at_link.wait(now, now.plus_nanos(LOOK_NS))?,
                Reach::Taken(mac) => {
                    let mac = lanlab_wire::ethernet::Mac(mac);
                    return Err(Failure::new(
                        "stack.address_taken",
                        format!("{} is the address of another station, {mac}", stack.address),
                    )
                    .hint("give one by --stack-address that no host of the network has"));
                }
                Reach::Unanswered => {
                    return Err(Failure::new(
                        "stack.no_peer",
                        format!("no station on {} answers for {peer}", at_link.link.interface()),
                    )
                    .hint(
                        "the small stack reaches hosts of the same Ethernet only, not this host",
                    ));
                }
            }
        }
    }

    pub fn turn(&mut self, now: Instant) -> Result<bool, Failure> {
        let has_more = self.arrive(now)?;
        self.depart(now)?;
        Ok(has_more)
    }

    pub fn arrive(&mut self, now: Instant) -> Result<bool, Failure> {
        let taken = self
            .framed
            .take_all(|| now, TURN_FRAMES, |into| self.link.receive(into))
            .map_err(|error| gone(&error))?;
        Ok(taken > 0)
    }

    pub fn depart(&mut self, now: Instant) -> Result<(), Failure> {
        self.framed.station.handle_timeout(now);
        self.framed.send(now, |frame| self.link.send(frame)).map_err(|error| gone(&error))?;
        while self.framed.station.interface.poll_event().is_some() {}
        self.framed
            .check_memory(size_of::<Self>() - size_of::<Station>())
            .map_err(|message| Failure::new("stack.memory", message))
    }

    /// Wait for a frame, a timer of the station, or `until`, but only briefly.
    pub fn wait(&mut self, now: Instant, until: Instant) -> Result<(), Failure> {
        let mut until = until.min(now.plus_nanos(LOOK_NS));
        if let Some(at) = self.framed.station.poll_timeout() {
            until = until.min(at);
        }
        if self.framed.is_blocked() {
            until = until.min(now.plus_nanos(LOOK_NS / 100));
        }
        let wait_ns = until.nanos_since(os::monotonic());
        let waited = self.readiness.wait(Duration::from_nanos(wait_ns));
        waited.map_err(|error| Failure::system("wait for frames", &error))?.for_each(drop);
        Ok(())
    }

    pub fn receive_buffer_bytes(&self) -> usize {
        self.framed.facts.tcp.receive_buffer_bytes
    }

    pub fn facts(&mut self) -> StackFacts {
        self.framed.facts.dropped_frames += self.link.new_drops();
        stack_facts(&self.framed.facts)
    }
}

impl Drop for AtLink {
    /// A trial that is given up, e.g. because its start is late, must not leave the peer waiting.
    fn drop(&mut self) {
        let now = os::monotonic();
        self.framed.station.interface.abort_all(now);
        let _ = self.depart(now);
    }
}
