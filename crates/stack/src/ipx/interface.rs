//! The IPX interface of a station: packets in and out, routing and service advertising.

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx::{
    Address, BROADCAST, Header, MOST_HOPS, NO_CHECKSUM, framing, packet_type, socket,
};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::{rip, sap};

use super::counts::Counts;
use super::discovery::{Discovery, Found};
use super::output::{Output, Place};
use super::segment::Segment;
use crate::carrier::{SegmentFacts, StationConfig, Stray};
use crate::responders::{self, Allowance};

const OWN_HOPS: u16 = 1;
/// Cost of reaching our network, ticks of 1/18 s.
const OWN_TICKS: u16 = 2;
const INTERNAL_NODE: [u8; 6] = [0, 0, 0, 0, 0, 1];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet<'a> {
    pub(crate) from: Place,
    pub(crate) kind: u8,
    pub(crate) socket: u16,
    pub(crate) is_to_all: bool,
    pub(crate) data: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Advertised {
    pub(crate) kind: u16,
    pub(crate) name: Name,
    pub(crate) socket: u16,
}

impl Advertised {
    pub(crate) const fn windows(name: Name, socket: u16) -> Self {
        Self { kind: sap::WINDOWS_SERVER, name, socket }
    }
}

#[derive(Debug)]
pub(crate) struct Interface {
    mac: Mac,
    segment: Segment,
    output: Output,
    advertised: Option<Advertised>,
    internal: Option<u32>,
    services: Allowance,
    ways: Allowance,
    pub(crate) discovery: Discovery,
    pub(crate) counts: Counts,
}

impl Interface {
    pub(crate) fn new(config: &StationConfig, now: Instant) -> Self {
        Self {
            mac: config.mac,
            segment: Segment::new(config.framing, config.network, now),
            output: Output::default(),
            advertised: None,
            internal: None,
            services: Allowance::default(),
            ways: Allowance::default(),
            discovery: Discovery::default(),
            counts: Counts::default(),
        }
    }

    /// When framing and network will be known; `None` if they are.
    pub(crate) fn known_at(&self) -> Option<Instant> {
        self.segment.known_at()
    }

    pub(crate) fn facts(&self) -> SegmentFacts {
        let network = self.segment.network(self.segment.framing());
        SegmentFacts { framing: self.segment.configured, network }
    }

    pub(crate) fn advertise(&mut self, advertised: Advertised) {
        self.advertised = Some(advertised);
    }

    /// Give this station an internal network for its server, and answer route requests for it.
    pub(crate) const fn have_internal(&mut self, network: u32) {
        self.internal = Some(network);
    }

    pub(crate) fn server_address(&self, socket: u16) -> Address {
        match self.internal {
            Some(network) => Address { network, node: INTERNAL_NODE, socket },
            None => self.address(self.segment.framing(), socket),
        }
    }

    fn address(&self, framing: Framing, socket: u16) -> Address {
        let network = self.segment.network(framing).unwrap_or(0);
        Address { network, node: self.mac.0, socket }
    }

    pub(crate) fn is_here(&self, network: u32) -> bool {
        let mut networks = framing::ALL.into_iter().map(|one| self.segment.network(one));
        network == 0 || networks.any(|own| own == Some(network))
    }

    /// Broadcast a packet on the segment. Repeats are sent in every framing, as the missing station
    /// may use one that was never heard.
    pub(crate) fn push_to_all(&mut self, is_again: bool, kind: u8, socket: u16, data: &[u8]) {
        for framing in self.segment.asked_in(is_again) {
            let address = Address { node: BROADCAST, ..self.address(framing, socket) };
            self.push(Place { address, mac: Mac::BROADCAST, framing }, kind, socket, data);
        }
    }

    pub(crate) fn neighbour(&self, address: Address) -> Place {
        Place { address, mac: Mac(address.node), framing: self.segment.framing() }
    }

    pub(crate) fn push(&mut self, to: Place, kind: u8, socket: u16, data: &[u8]) {
        self.push_from(self.address(to.framing, socket), to, kind, data);
    }

    pub(crate) fn push_from(&mut self, source: Address, to: Place, kind: u8, data: &[u8]) {
        let is_of_adapter = source.node == self.mac.0;
        let source = if is_of_adapter { self.address(to.framing, source.socket) } else { source };
        let (destination, ways) = (to.address, (to.mac, self.mac));
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let write = |frame: &mut Vec<u8>| framing::emit(ways, to.framing, &header, data, frame);
        if !self.output.push(write) {
            self.counts.dropped_answers += 1;
        }
    }

    /// Handle a frame. Returns the packet if it is for a program of this station.
    pub(crate) fn handle_frame<'a>(
        &mut self,
        now: Instant,
        frame: &Frame<'a>,
    ) -> Result<Option<Packet<'a>>, Stray> {
        let (to, mac) = (frame.header.destination, frame.header.source);
        let packet = framing::packet(frame);
        let Some((packet, framing)) = packet.filter(|_| {
            [self.mac, Mac::BROADCAST].contains(&to) && mac != self.mac && !mac.is_group()
        }) else {
            return Err(Stray::Foreign);
        };
        let (header, data) = Header::parse(packet).map_err(|_| Stray::Malformed)?;
        if header.hops >= MOST_HOPS {
            self.counts.hops_exceeded += 1;
            return Ok(None);
        }
        let answered_in = self.segment.answer_framing(framing);
        let from = Place { address: header.source, mac, framing: answered_in };
        if !sap::is_question(&header, data) {
            self.segment.hear(framing);
        }
        // Only a packet that passed no router reveals the number of this network.
        let is_neighbour = header.hops == 0 && header.source.node == mac.0;
        if is_neighbour && !self.segment.learn(framing, header.source.network) {
            self.counts.network_disputes += 1;
        }
        let Address { network, node, socket } = header.destination;
        let is_internal = self.internal == Some(network) && node == INTERNAL_NODE;
        let own = self.segment.network(framing);
        let is_here = network == 0 || own.is_none_or(|own| own == network);
        if !is_internal && (!is_here || ![self.mac.0, BROADCAST].contains(&node)) {
            self.counts.other_address_packets += 1;
            return Ok(None);
        }
        match socket {
            socket::RIP => {
                self.handle_route(now, from, data);
                Ok(None)
            }
            socket::SAP => {
                self.handle_service(now, from, data);
                Ok(None)
            }
            socket => {
                let is_to_all = node == BROADCAST || to != self.mac;
                Ok(Some(Packet { from, kind: header.kind, socket, is_to_all, data }))
            }
        }
    }

    fn handle_service(&mut self, now: Instant, from: Place, data: &[u8]) {
        let Ok(packet) = sap::Packet::parse(data) else {
            self.counts.unreadable_packets += 1;
            return;
        };
        match (packet, self.advertised) {
            (sap::Packet::Query { is_nearest, kind }, Some(own)) => {
                let is_asked = kind == own.kind || kind == sap::ANY_SERVER && !is_nearest;
                if is_asked
                    && let Some(data) = self.service(from.framing, is_nearest, OWN_HOPS)
                    && self.may_advertise(now, from, socket::SAP)
                {
                    self.push(from, packet_type::EXCHANGE, socket::SAP, &data);
                }
            }
            (sap::Packet::Response { is_nearest, servers }, _) => {
                for server in servers.iter().filter(|one| one.hops < sap::GOING_DOWN_HOPS) {
                    self.discovery.add(Found::Server { server, from, is_nearest });
                }
            }
            (sap::Packet::Query { .. }, None) => {}
        }
    }

    fn may_advertise(&mut self, now: Instant, from: Place, own: u16) -> bool {
        let allowance = if own == socket::SAP { &mut self.services } else { &mut self.ways };
        let may = responders::may_advertise(from.address.socket, own) && allowance.take(now);
        self.counts.dropped_answers += u64::from(!may);
        may
    }

    /// Advertise the server of this station, or its shutdown.
    pub(crate) fn announce(&mut self, is_leaving: bool) {
        let hops = if is_leaving { sap::GOING_DOWN_HOPS } else { OWN_HOPS };
        let Some(data) = self.service(self.segment.framing(), false, hops) else { return };
        self.push_to_all(false, packet_type::EXCHANGE, socket::SAP, &data);
    }

    fn service(&self, framing: Framing, is_nearest: bool, hops: u16) -> Option<Vec<u8>> {
        let Advertised { kind, name, socket } = self.advertised?;
        let address = match self.internal {
            Some(_) => self.server_address(socket),
            None => self.address(framing, socket),
        };
        let server = sap::Server { kind, name: name.text(), address, hops };
        let mut data = Vec::new();
        sap::emit_response(is_nearest, &[server], &mut data);
        Some(data)
    }

    fn handle_route(&mut self, now: Instant, from: Place, data: &[u8]) {
        // Malformed packets are ignored.
        let Ok(rip::Packet { is_response, entries }) = rip::Packet::parse(data) else { return };
        if is_response {
            for entry in entries.iter().filter(|one| one.hops < u16::from(MOST_HOPS)) {
                self.discovery.add(Found::Route(entry.network, from));
            }
            return;
        }
        let Some(network) = self.internal else { return };
        let is_asked = entries.iter().any(|one| [network, rip::ANY_NETWORK].contains(&one.network));
        if is_asked && self.may_advertise(now, from, socket::RIP) {
            let own = rip::Entry { network, hops: OWN_HOPS, ticks: OWN_TICKS };
            let mut data = Vec::new();
            rip::Packet { is_response: true, entries: vec![own] }.emit(&mut data);
            self.push(from, packet_type::RIP, socket::RIP, &data);
        }
    }

    pub(crate) fn push_route_question(&mut self, is_again: bool, network: u32) {
        let entries = vec![rip::Entry::asked(network)];
        let mut data = Vec::new();
        rip::Packet { is_response: false, entries }.emit(&mut data);
        self.push_to_all(is_again, packet_type::RIP, socket::RIP, &data);
    }

    pub(crate) fn push_service_question(&mut self, is_again: bool, is_nearest: bool, kind: u16) {
        let mut data = Vec::new();
        sap::emit_query(is_nearest, kind, &mut data);
        self.push_to_all(is_again, packet_type::EXCHANGE, socket::SAP, &data);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.segment.is_to_ask(now) {
            self.push_route_question(true, rip::ANY_NETWORK);
        }
    }

    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        self.segment.poll_timeout()
    }

    pub(crate) fn poll_transmit(&mut self, into: &mut Vec<u8>) -> bool {
        self.output.poll_transmit(into)
    }
}
