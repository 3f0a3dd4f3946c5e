//! How a server handles packets of clients.

use lanlab_units::Instant;
use lanlab_units::room::{Full, Places};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::error;

use super::answerer::{Answerer, refuse};
use super::connection::{NEVER, NONE, Numbers, UNKNOWN_CONNECTION};
use super::facts;
use super::station::Station;
use crate::carrier::{Event, Peer, Why};
use crate::ipx::{Packet, Place};

/// Limits on incoming sessions, in all and per station.
const PLACES: Places = Places { all: 254, of_one: 127 };

impl Station {
    pub(super) fn handle_request(&mut self, now: Instant, packet: &Packet<'_>) {
        let message = packet.data;
        let Ok(header) = Header::parse(message) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        if header.is_response() || !self.is_listening {
            self.common.counts.discarded += 1;
            return;
        }
        let connection = Numbers::of(&header).connection;
        if connection == NONE && header.command == command::NEGOTIATE {
            self.handle_first(now, packet.from, &header, message);
            return;
        }
        let known = self.answerers.iter_mut().find(|session| {
            session.connection == connection && session.client.address == packet.from.address
        });
        if let Some(session) = known {
            // The client may have moved to another router or adapter.
            session.client = packet.from;
            session.handle_request(now, &header, message, &mut self.common);
        } else {
            self.common.counts.unknown_connections += 1;
            refuse(packet.from, &header, UNKNOWN_CONNECTION, &mut self.common);
        }
    }

    fn handle_first(&mut self, now: Instant, from: Place, header: &Header, message: &[u8]) {
        let known = self.answerers.iter().position(|one| one.client.address == from.address);
        if let Some(index) = known {
            let session = &mut self.answerers[index];
            if session.handle_first_again(now, header, message, &mut self.common) {
                return;
            }
            // A restarted client loses its earlier state.
            let id = self.answerers.remove(index).id;
            self.common.event(Event::Ended(id, Why::ByPeer));
        }
        if self.make_room(now, from.mac).is_err() {
            refuse(from, header, error::TOO_MANY_SESSIONS, &mut self.common);
            return;
        }
        let id = self.ids.next();
        let connection = self.free_connection();
        let mut session = Answerer::new(id, from, connection, now);
        self.common.event(Event::Accepted {
            session: id,
            facts: facts(from.framing),
            station: from.mac,
            called: Peer::Name(self.name),
            calling: Peer::Ipx(from.address),
        });
        session.handle_first(header, message, &mut self.common);
        self.answerers.push(session);
    }

    fn free_connection(&mut self) -> u16 {
        loop {
            self.last_connection = self.last_connection.wrapping_add(1);
            let number = self.last_connection;
            let is_taken = self.answerers.iter().any(|session| session.connection == number);
            if !matches!(number, NONE | NEVER) && !is_taken {
                return number;
            }
        }
    }

    /// Make room for a session of a station by dropping a client that has done little.
    fn make_room(&mut self, now: Instant, station: Mac) -> Result<(), Full> {
        let standing = |one: &Answerer| one.standing(now);
        let clients = self.answerers.iter().map(standing).enumerate();
        let Some(index) = PLACES.room(&station, clients)? else { return Ok(()) };
        let id = self.answerers.remove(index).id;
        self.common.counts.crowded_out += 1;
        self.common.event(Event::Ended(id, Why::NoResources));
        Ok(())
    }
}
