//! The links of a station: one to each other station, shared by their sessions.

use lanlab_units::Instant;
use lanlab_wire::ethernet::{self, Mac};
use lanlab_wire::llc::sap;

use super::output::begin;
use crate::llc::{Link, State};
use crate::profile::LinkProfile;

pub(super) const MOST_LINKS: usize = 256;

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) mac: Mac,
    pub(super) link: Link,
    pub(super) idle_until: Option<Instant>,
    /// We have ended the last session: the link ends once everything is acknowledged.
    pub(super) hangs_up: bool,
}

#[derive(Debug, Default)]
pub(super) struct Peers {
    pub(super) all: Vec<Peer>,
    turn: usize,
}

impl Peers {
    pub(super) fn find(&mut self, mac: Mac) -> Option<&mut Peer> {
        self.all.iter_mut().find(|peer| peer.mac == mac)
    }

    /// The link to a station, created if needed. `None` if there are too many.
    pub(super) fn get(&mut self, mac: Mac, profile: &LinkProfile) -> Option<&mut Peer> {
        let index = match self.all.iter().position(|peer| peer.mac == mac) {
            Some(index) => index,
            None if self.all.len() >= MOST_LINKS => return None,
            None => {
                let link = Link::new(profile, sap::NETBIOS);
                self.all.push(Peer { mac, link, idle_until: None, hangs_up: false });
                self.all.len() - 1
            }
        };
        Some(&mut self.all[index])
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.all.iter().fold(None, |first, peer| {
            Instant::earliest([first, peer.link.poll_timeout(), peer.idle_until])
        })
    }

    /// Remove closed links.
    pub(super) fn tidy(&mut self) -> Vec<Peer> {
        let is_closed = |peer: &mut Peer| peer.link.state() == State::Disconnected;
        let closed: Vec<_> = self.all.extract_if(.., is_closed).collect();
        if !closed.is_empty() {
            self.turn = 0;
        }
        closed
    }

    /// The next frame of a link, which may call `feed` for I frames.
    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        own: Mac,
        into: &mut Vec<u8>,
        mut feed: impl FnMut(Mac, &mut Link),
    ) -> bool {
        let count = self.all.len();
        begin(Mac::BROADCAST, own, into);
        let turn = self.turn.min(count);
        for index in (turn..count).chain(0..turn) {
            let peer = &mut self.all[index];
            feed(peer.mac, &mut peer.link);
            if peer.link.poll_transmit(now, into) {
                into[..peer.mac.0.len()].copy_from_slice(&peer.mac.0);
                ethernet::close(0, into);
                self.turn = (index + 1) % count;
                return true;
            }
        }
        into.clear();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::WINDOWS_NT;

    #[test]
    fn busy_links_send_in_turn() {
        let now = Instant::from_nanos(0);
        let macs = [1, 2, 3].map(|last| Mac([2, 0, 0, 0, 0, last]));
        let mut peers = Peers::default();
        for mac in macs {
            // UA for the caller, and an answer to each of two polls.
            let link = &mut peers.get(mac, &WINDOWS_NT.link).unwrap().link;
            link.accept(now, true);
            for _ in 0..2 {
                link.handle_frame(now, &[sap::NETBIOS, sap::NETBIOS, 0x01, 0x01]);
            }
        }
        let mut order = vec![];
        let mut frame = vec![];
        while peers.poll_transmit(now, Mac([2, 0, 0, 0, 0, 9]), &mut frame, |_, _| {}) {
            order.push(frame[5]);
            frame.clear();
        }
        assert_eq!(order, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }
}
