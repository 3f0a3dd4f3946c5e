//! The interface of a station: datagrams in and out, echoes and error packets.

use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx::{Address, BROADCAST, Header, MOST_HOPS};
use lanlab_wire::xns::echo::Echo;
use lanlab_wire::xns::error_packet::{self, number};
use lanlab_wire::xns::{framing, idp, packet_type, socket};

use super::counts::PacketCounts;
use crate::carrier::{StationConfig, Stray};
use crate::ipx::{Output, Place};
use crate::responders::may_answer_on_xns;

#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a> {
    pub(super) from: Place,
    pub(super) header: Header,
    pub(super) data: &'a [u8],
    octets: &'a [u8],
}

impl Packet<'_> {
    pub(super) const fn socket(&self) -> u16 {
        self.header.destination.socket
    }

    fn is_to_all(&self) -> bool {
        self.header.destination.node == BROADCAST
    }
}

#[derive(Debug)]
pub(super) struct Interface {
    mac: Mac,
    framing: Option<Framing>,
    network: Option<u32>,
    output: Output,
    pub(super) counts: PacketCounts,
}

impl Interface {
    pub(super) fn new(config: &StationConfig) -> Self {
        let (mac, framing, network) = (config.mac, config.framing, config.network);
        Self { mac, framing, network, output: Output::default(), counts: PacketCounts::default() }
    }

    fn address(&self, socket: u16) -> Address {
        Address { network: self.network.unwrap_or(0), node: self.mac.0, socket }
    }

    /// The framing for an attempt to reach a station of unknown framing: each in turn.
    pub(super) fn framing_of_attempt(&self, attempt: u32) -> Framing {
        self.framing.unwrap_or(framing::ALL[attempt as usize % framing::ALL.len()])
    }

    pub(super) const fn place(address: Address) -> Place {
        Place { address, mac: Mac(address.node), framing: framing::ETHERNET_II }
    }

    pub(super) fn everybody(&self, socket: u16) -> Place {
        Self::place(Address { node: BROADCAST, ..self.address(socket) })
    }

    pub(super) fn push(&mut self, to: Place, kind: u8, socket: u16, data: &[u8]) {
        let (source, destination) = (self.address(socket), to.address);
        let ways = (to.mac, self.mac);
        // The checksum covers the packet as written.
        let header = Header { checksum: 0, hops: 0, kind, destination, source };
        let write = |frame: &mut Vec<u8>| framing::emit(ways, to.framing, &header, data, frame);
        if !self.output.push(write) {
            self.counts.like_ipx.dropped_answers += 1;
        }
    }

    /// Report an error about a datagram, unless it was a broadcast or itself an error.
    pub(super) fn push_error(&mut self, about: &Packet<'_>, number: u16) {
        // Another responder would answer an error about its reply.
        let is_answer = about.header.kind != packet_type::SEQUENCED
            && !may_answer_on_xns(about.from.address.socket);
        if about.is_to_all() || about.header.kind == packet_type::ERROR || is_answer {
            return;
        }
        self.counts.errors_sent += 1;
        let mut data = Vec::new();
        error_packet::emit(number, 0, about.octets, &mut data);
        self.push(about.from, packet_type::ERROR, about.socket(), &data);
    }

    /// Handle a frame. Returns the datagram if it is for a program of this station.
    pub(super) fn handle_frame<'a>(
        &mut self,
        frame: &Frame<'a>,
    ) -> Result<Option<Packet<'a>>, Stray> {
        let (to, mac) = (frame.header.destination, frame.header.source);
        let octets = framing::packet(frame).filter(|_| {
            [self.mac, Mac::BROADCAST].contains(&to) && mac != self.mac && !mac.is_group()
        });
        let Some((octets, framing)) = octets else { return Err(Stray::Foreign) };
        let read = idp::parse(octets).map_err(|_| Stray::Malformed)?;
        let idp::Packet { header, data, is_intact } = read;
        let framing = self.framing.unwrap_or(framing);
        let from = Place { address: header.source, mac, framing };
        let packet = Packet { from, header, data, octets };
        if header.hops >= MOST_HOPS {
            self.counts.like_ipx.hops_exceeded += 1;
            return Ok(None);
        }
        let Address { network, node, .. } = header.destination;
        let is_here = network == 0 || self.network.is_none_or(|own| own == network);
        if !is_here || ![self.mac.0, BROADCAST].contains(&node) {
            self.counts.like_ipx.other_address_packets += 1;
            return Ok(None);
        }
        if !is_intact {
            self.counts.wrong_checksums += 1;
            self.push_error(&packet, number::BAD_CHECKSUM);
            return Ok(None);
        }
        // Only a packet that passed no router reveals the number of this network.
        if header.hops == 0 && header.source.node == mac.0 && header.source.network != 0 {
            let own = *self.network.get_or_insert(header.source.network);
            self.counts.like_ipx.network_disputes += u64::from(own != header.source.network);
        }
        if header.kind == packet_type::ECHO && packet.socket() == socket::ECHO {
            self.handle_echo(&packet);
            return Ok(None);
        }
        Ok(Some(packet))
    }

    fn handle_echo(&mut self, packet: &Packet<'_>) {
        match Echo::parse(packet.data) {
            // A broadcast echo would be answered by many stations at once.
            Ok(echo)
                if !echo.is_reply
                    && !packet.is_to_all()
                    && may_answer_on_xns(packet.from.address.socket) =>
            {
                self.counts.echoes_answered += 1;
                let mut data = Vec::new();
                Echo { is_reply: true, ..echo }.emit(&mut data);
                self.push(packet.from, packet_type::ECHO, socket::ECHO, &data);
            }
            Ok(_) => {}
            Err(_) => self.counts.like_ipx.unreadable_packets += 1,
        }
    }

    pub(super) fn poll_transmit(&mut self, into: &mut Vec<u8>) -> bool {
        self.output.poll_transmit(into)
    }
}
