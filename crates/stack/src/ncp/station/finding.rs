//! How client sessions begin: find the server by name or the nearest one, then the route to its network.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{Address, socket};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::sap;

use super::Station;
use super::caller::{Caller, Stage};
use crate::carrier::{Event, Peer, SessionId, Why};
use crate::ipx::{Found, Packet, Place};

const MOST_CALLERS: usize = 254;

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        let id = self.ids.next();
        if self.callers.len() >= MOST_CALLERS {
            self.common.event(Event::Ended(id, Why::NoResources));
            return id;
        }
        let socket = self.free_socket();
        let mut session = Caller::new(id, socket, to, self.netware.most_tries);
        self.common.interface.discovery.is_wanted = true;
        if let Peer::Ipx(address) = to {
            session.goes_to(Address { socket: socket::NCP, ..address });
        }
        self.callers.push(session);
        self.search(now, self.callers.len() - 1);
        id
    }

    /// A socket that no session of this station uses; the next one is free, too.
    fn free_socket(&mut self) -> u16 {
        loop {
            self.last_socket = match self.last_socket {
                number if number >= socket::LAST_DYNAMIC - 3 => socket::FIRST_DYNAMIC + 2,
                number => number + 2,
            };
            let number = self.last_socket;
            if !self.callers.iter().any(|caller| caller.socket == number) {
                return number;
            }
        }
    }

    /// Search for the server or route that the session lacks, or request a connection.
    fn search(&mut self, now: Instant, index: usize) {
        let (_, interval_ns) = self.netware.searches;
        let caller = &mut self.callers[index];
        let is_again = caller.searches > 0;
        caller.searches += 1;
        caller.deadline = Some(now.plus_nanos(interval_ns));
        let interface = &mut self.common.interface;
        if let (Stage::Routing, Some(address)) = (caller.stage, caller.wanted) {
            if interface.is_here(address.network) {
                let server = interface.neighbour(address);
                caller.found(now, server, &mut self.common);
            } else {
                interface.push_route_question(is_again, address.network);
            }
        } else {
            let is_nearest = caller.name.is_none();
            interface.push_service_question(is_again, is_nearest, sap::FILE_SERVER);
        }
    }

    pub(super) fn handle_found(&mut self, now: Instant, found: &Found) {
        for index in 0..self.callers.len() {
            let caller = &mut self.callers[index];
            match (found, caller.stage, caller.wanted) {
                (Found::Server { server, from, is_nearest }, Stage::Looking, _)
                    if server.kind == sap::FILE_SERVER
                        && caller.name.map_or(*is_nearest, |name| is_named(server, name)) =>
                {
                    caller.goes_to(server.address);
                    // The answer came from the server itself, or the server is on this network and
                    // uses the same framing.
                    let Address { network, node, .. } = server.address;
                    if from.mac.0 == node || self.common.interface.is_here(network) {
                        let (address, mac) = (server.address, Mac(node));
                        caller.found(now, Place { address, mac, ..*from }, &mut self.common);
                    } else {
                        self.search(now, index);
                    }
                }
                (Found::Route(network, from), Stage::Routing, Some(address))
                    if *network == address.network =>
                {
                    caller.found(now, Place { address, ..*from }, &mut self.common);
                }
                _ => {}
            }
        }
        if !self.callers.iter().any(Caller::is_searching) {
            self.common.interface.discovery.is_wanted = false;
        }
    }

    /// Handle a packet for the socket of a session. False if there is none.
    pub(super) fn handle_reply(&mut self, now: Instant, packet: &Packet<'_>) -> bool {
        let Some(index) = self.callers.iter().position(|one| one.socket == packet.socket) else {
            return false;
        };
        let caller = &mut self.callers[index];
        let is_server = caller.server.as_mut().is_some_and(|server| server.follow(&packet.from));
        if !is_server {
            self.common.counts.discarded += 1;
            return true;
        }
        if let Some(why) = caller.handle_reply(now, packet.data, &mut self.common) {
            self.end_caller(index, why);
        }
        true
    }

    pub(super) fn end_caller(&mut self, index: usize, why: Why) {
        let id = self.callers.remove(index).id;
        self.common.event(Event::Ended(id, why));
    }

    pub(super) fn handle_caller_timeouts(&mut self, now: Instant) {
        let (most, _) = self.netware.searches;
        for index in (0..self.callers.len()).rev() {
            let caller = &mut self.callers[index];
            if caller.deadline.is_none_or(|at| at > now) {
                continue;
            }
            let why = match caller.stage {
                Stage::Looking | Stage::Routing if caller.searches < most => {
                    self.search(now, index);
                    None
                }
                Stage::Looking => Some(Why::NameNotFound),
                Stage::Routing => Some(Why::NoAnswer),
                _ => caller.handle_timeout(now, &mut self.common),
            };
            if let Some(why) = why {
                self.end_caller(index, why);
            }
        }
    }
}

fn is_named(server: &sap::Server, name: Name) -> bool {
    server.name.eq_ignore_ascii_case(&name.text())
}
