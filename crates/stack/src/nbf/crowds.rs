//! Eviction of stations that start a link or session and do not continue. Addresses can be forged,
//! so a limit per station would not bound the total.

use std::collections::BTreeMap;

use lanlab_units::Instant;
use lanlab_units::room::{Places, Standing};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::value;

use super::peers::MOST_LINKS;
use super::session::Phase;
use super::station::Station;
use crate::carrier::Why;
use crate::llc;

/// Maximum incoming sessions of one station, so that some numbers stay free for others.
const MOST_SESSIONS_OF_STATION: usize = 222;

impl Station {
    pub(super) fn number_for_call(&mut self, now: Instant, from: Mac) -> Option<u8> {
        let others = self.sessions.iter().filter(|session| session.is_caller).count();
        let left = usize::from(value::LAST_SESSION_NUMBER).saturating_sub(others);
        let all = left.min(self.profile.sessions.into());
        let places = Places { all, of_one: MOST_SESSIONS_OF_STATION };
        let called = self.sessions.iter().enumerate().filter(|(_, session)| !session.is_caller);
        let called = called.map(|(index, one)| {
            let requests = if one.phase == Phase::Ending { 0 } else { one.requests };
            let silent_ns = now.nanos_since(one.last_traffic);
            (index, Standing::of(one.station, requests, silent_ns))
        });
        if let Some(index) = places.room(&from, called).ok()? {
            let id = self.sessions[index].id;
            if self.sessions[index].phase == Phase::Open {
                // Notify its station, which would wait for answers.
                self.finish(index, value::ABNORMAL_END, Why::NoResources);
                let session = &mut self.sessions[index];
                let peer = self.peers.find(session.station);
                if let Some(peer) = peer.filter(|peer| peer.link.has_room()) {
                    session.next_frame(now, &mut self.correlators, peer.link.send());
                }
            }
            self.drop_session(now, id, Why::NoResources);
            self.common.counts.crowded_out += 1;
        }
        self.free_number()
    }

    /// At the limit of links, drop an unused one: first a link without pending data, then the oldest. Its station
    /// gets DM if it continues.
    pub(super) fn make_room_for_link(&mut self, station: Mac) {
        if self.peers.find(station).is_some() || self.peers.all.len() < MOST_LINKS {
            return;
        }
        // A single pass over the sessions, instead of one per link, in case of many calls.
        let mut known = BTreeMap::<Mac, (bool, bool)>::new();
        for session in &self.sessions {
            let (is_used, is_beyond) = known.entry(session.station).or_default();
            *is_used |= session.phase.uses_link();
            *is_beyond |= session.phase != Phase::Recognized;
        }
        let least = self.peers.all.iter().enumerate().filter_map(|(index, peer)| {
            let called = known.get(&peer.mac);
            let is_open = peer.link.state() == llc::State::Opened;
            (called != Some(&(true, true))).then_some(((called.is_some(), is_open, index), index))
        });
        if let Some((_, index)) = least.min() {
            let peer = self.peers.all.remove(index);
            self.ended_links = self.ended_links + peer.link.counts();
            self.common.counts.crowded_out += 1;
        }
    }
}
