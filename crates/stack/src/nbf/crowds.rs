//! Stations that begin something and do not go on: they make room for others. Addresses can be forged, so
//! that no bound of one station keeps a stranger from all that there is.

use lanlab_wire::ethernet::Mac;

use super::peers::MOST_LINKS;
use super::session::{Phase, Session};
use super::station::Station;
use crate::llc;

/// Calls of one station at most that were answered, and with which it has not gone on.
const MOST_CALLS_OF_STATION: usize = 64;

/// Sessions that one station may have called: some numbers are left for others.
const MOST_SESSIONS_OF_STATION: usize = 222;

fn is_only_called(sessions: &[Session], station: Mac) -> bool {
    let mut of_station = sessions.iter().filter(|session| session.station == station);
    of_station.all(|session| session.phase == Phase::Recognized)
}

impl Station {
    /// A number for the session of a station that calls. Who has called and does not go on makes room for
    /// it: first of the station with most of these, as one could send such calls without end.
    pub(super) fn number_for_call(&mut self, from: Mac) -> Option<u8> {
        let all = self.sessions.iter().filter(|session| session.station == from);
        if all.count() >= MOST_SESSIONS_OF_STATION {
            return None;
        }
        let calls = |session: &&Session| session.phase == Phase::Recognized;
        let count = |sessions: &[Session], station: Mac| {
            sessions.iter().filter(calls).filter(|session| session.station == station).count()
        };
        let of_others = |session: &&Session| !session.is_caller && session.phase != Phase::Ending;
        let taken = self.sessions.iter().filter(of_others).count();
        let crowded = if count(&self.sessions, from) >= MOST_CALLS_OF_STATION {
            // Its own oldest one.
            self.sessions.iter().find(|session| calls(session) && session.station == from)
        } else if taken < usize::from(self.profile.sessions.value)
            && let Some(number) = self.free_number()
        {
            return Some(number);
        } else {
            // The first of those with most.
            let open = self.sessions.iter().filter(calls).rev();
            open.max_by_key(|session| count(&self.sessions, session.station))
        };
        let id = crowded?.id;
        self.sessions.retain(|session| session.id != id);
        self.counts.crowded_out += 1;
        self.free_number()
    }

    /// If there are as many links as there can be, forget one that no session uses: first one of which
    /// nothing is to come, then the one that has been there for longest. Its station gets DM when it
    /// goes on.
    pub(super) fn make_room_for_link(&mut self, station: Mac) {
        if self.peers.find(station).is_some() || self.peers.all.len() < MOST_LINKS {
            return;
        }
        let is_called = |mac: Mac| self.sessions.iter().any(|session| session.station == mac);
        let least = self.peers.all.iter().enumerate().filter_map(|(index, peer)| {
            if self.is_used(peer.mac) && !is_only_called(&self.sessions, peer.mac) {
                return None;
            }
            let is_open = peer.link.state() == llc::State::Opened;
            Some(((is_called(peer.mac), is_open, index), index))
        });
        if let Some((_, index)) = least.min() {
            let peer = self.peers.all.remove(index);
            self.ended_links = self.ended_links.plus(peer.link.counts());
            self.counts.crowded_out += 1;
        }
    }
}
