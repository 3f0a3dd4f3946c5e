//! A station driven by hand: packets of strangers come in, and what it sends at once is read.

use lanlab_stack::node::CarrierKind;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx::{Address, Header as Packet};
use lanlab_wire::xns::spp::{Header, control};
use lanlab_wire::xns::{framing, idp, packet_type, socket};

use crate::by_hand::{CLIENT, Carried, Hand};
use crate::segment::mac;

/// Connection and socket of the client.
pub const THEIRS: u16 = 0x1234;
pub const SOCKET: u16 = 0x4321;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub framing: Framing,
    pub packet: Packet,
    pub data: Vec<u8>,
}

impl Sent {
    pub fn header(&self) -> Header {
        assert_eq!(self.packet.kind, packet_type::SEQUENCED);
        Header::parse(&self.data).unwrap()
    }

    pub fn error(&self) -> u16 {
        assert_eq!(self.packet.kind, packet_type::ERROR);
        u16::from_be_bytes([self.data[0], self.data[1]])
    }
}

pub enum Xns {}

impl Carried for Xns {
    const KIND: CarrierKind = CarrierKind::Spp;
    type Packet = Sent;

    fn read(frame: &Frame<'_>) -> Option<Sent> {
        let (octets, framing) = framing::packet(frame).unwrap();
        let packet = idp::parse(octets).unwrap();
        assert!(packet.is_intact && octets.len() <= 576);
        Some(Sent { framing, packet: packet.header, data: packet.data.to_vec() })
    }
}

pub type Server = Hand<Xns>;

impl Server {
    pub fn hear_packet(&mut self, packet: &Packet, data: &[u8]) -> Vec<Sent> {
        self.hear_frame(&frame(framing::ETHERNET_II, packet, data))
    }

    pub fn hear(&mut self, from: Mac, header: Header, data: &[u8]) -> Vec<Header> {
        let mut octets = vec![];
        header.emit(&mut octets);
        octets.extend_from_slice(data);
        let packet = packet(from, SOCKET, socket::SMB, packet_type::SEQUENCED);
        let answers = self.hear_packet(&packet, &octets);
        answers.iter().map(Sent::header).collect()
    }

    pub fn call(&mut self, from: Mac, source: u16) -> Vec<Header> {
        self.hear(from, call(source), b"")
    }

    pub fn session(&mut self) -> u16 {
        let answers = self.call(CLIENT, THEIRS);
        assert_eq!(answers.len(), 1);
        let Header { control, destination, expected, allocation, source, .. } = answers[0];
        assert_eq!((control, destination, expected), (control::SYSTEM, THEIRS, 0));
        assert_eq!(allocation, 2, "three buffers");
        source
    }
}

/// The packet by which a session is asked for.
pub fn call(source: u16) -> Header {
    let control = control::SYSTEM | control::ACKNOWLEDGE;
    Header { control, source, allocation: 2, ..Header::default() }
}

pub fn part(destination: u16, sequence: u16) -> Header {
    let (control, source) = (control::END_OF_MESSAGE, THEIRS);
    Header { control, source, destination, sequence, allocation: 2, ..Header::default() }
}

pub fn packet(from: Mac, source: u16, destination: u16, kind: u8) -> Packet {
    Packet {
        checksum: 0,
        hops: 0,
        kind,
        destination: Address { network: 0, node: mac(0).0, socket: destination },
        source: Address { network: 0, node: from.0, socket: source },
    }
}

pub fn frame(framing: Framing, packet: &Packet, data: &[u8]) -> Vec<u8> {
    let to = if packet.destination.node == [0xff; 6] { Mac::BROADCAST } else { mac(0) };
    let mut octets = vec![];
    framing::emit((to, Mac(packet.source.node)), framing, packet, data, &mut octets).unwrap();
    octets
}
