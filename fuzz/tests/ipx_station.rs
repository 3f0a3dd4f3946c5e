//! Any octets as packets for a station of each carrier on IPX or XNS, for the fuzz target and for the test that feeds it all
//! seeds: it never sends what is no packet of its own, does what is due, and ends no session twice.

use std::collections::BTreeSet;

use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, Peer, SessionId};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header, NO_CHECKSUM, framing, socket};
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::{nbipx, nmpi, rip, sap, xns};

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// Packets of one conversation, and frames that a station may send at one time.
const MOST: usize = 64;
const MOST_FRAMES: usize = 1_000;
/// Where packets of others go: to servers, names, services, routers, and to the first session of the station.
const SOCKETS: [u16; 7] = [
    socket::SMB_SERVER,
    socket::SMB_NAMES,
    socket::SAP,
    socket::RIP,
    socket::FIRST_DYNAMIC + 1,
    socket::NCP,
    socket::NETBIOS,
];

struct Station {
    node: Node,
    now: Instant,
    open: BTreeSet<SessionId>,
    ended: BTreeSet<SessionId>,
    last: Option<SessionId>,
    /// Numbers of the last message of SMB that the station sent: connection, sequence, process and number.
    numbers: [u8; 18],
    /// The last header of a session of NetBIOS that it sent.
    session: nbipx::SessionHeader,
    /// The socket from which it last sent a packet of XNS, and the header of a session and the first octets there.
    sequenced: (u16, xns::spp::Header, [u8; 12]),
}

/// One conversation: each packet is a kind, two octets, a length, and its data.
pub fn ipx_station(octets: &[u8]) {
    parsers(octets);
    for carrier in [CarrierKind::Ipx, CarrierKind::Nbipx, CarrierKind::Spp] {
        converse(carrier, octets);
    }
}

fn converse(carrier: CarrierKind, octets: &[u8]) {
    let name = Name::new("STATION", suffix::SERVER).unwrap();
    let config = NodeConfig::new(OWN, name, WINDOWS_NT, carrier);
    let mut station = Station {
        node: Node::new(&config, Instant::ZERO),
        now: Instant::ZERO,
        open: BTreeSet::new(),
        ended: BTreeSet::new(),
        last: None,
        numbers: [0; 18],
        session: nbipx::SessionHeader::default(),
        sequenced: (xns::socket::SMB, xns::spp::Header::default(), [0; 12]),
    };
    let mut rest = octets;
    for _ in 0..MOST {
        let Some((&[kind, who, value, length], data)) = rest.split_first_chunk() else { break };
        let (data, after) = data.split_at(data.len().min(usize::from(length)));
        rest = after;
        station.step(kind, who, value, data);
        station.drain();
    }
}

/// Each format alone: what is read is written the same.
fn parsers(octets: &[u8]) {
    let mut again = Vec::new();
    if let Ok(packet) = rip::Packet::parse(octets) {
        packet.emit(&mut again);
        assert_eq!(again, octets);
    }
    if let Ok((header, rest)) = nmpi::Header::parse(octets) {
        again.clear();
        header.emit(&mut again);
        again.extend_from_slice(rest);
        assert_eq!(nmpi::Header::parse(&again), Ok((header, rest)));
    }
    if let Ok(packet) = nbipx::NamePacket::parse(octets) {
        again.clear();
        packet.emit(&mut again);
        assert_eq!(nbipx::NamePacket::parse(&again), Ok(packet));
    }
    if let Ok((header, data)) = nbipx::SessionHeader::split(octets) {
        again.clear();
        header.emit(&mut again);
        assert_eq!(again, octets[..nbipx::SESSION_HEADER_LEN]);
        assert!(data.len() <= octets.len() - again.len());
    }
    if let Ok(packet) = xns::idp::parse(octets) {
        again.clear();
        xns::idp::emit(&packet.header, packet.data, &mut again).unwrap();
        let written = xns::idp::parse(&again).unwrap();
        assert!(written.is_intact && written.data == packet.data);
    }
    if let Ok(error) = xns::error_packet::ErrorPacket::parse(octets) {
        assert!(error.data.len() < octets.len());
    }
    if let Ok(sap::Packet::Response { servers, .. }) = sap::Packet::parse(octets) {
        assert!(servers.iter().count() <= octets.len() / sap::SERVER_LEN);
    }
}

impl Station {
    fn step(&mut self, kind: u8, who: u8, value: u8, data: &[u8]) {
        match kind % 8 {
            0 => self.node.listen(),
            1 => {
                let name = Name::new("SERVER", suffix::SERVER).unwrap();
                self.node.open(self.now, Peer::Name(name));
            }
            2 => {
                let past_ns = u64::from(value) * u64::from(who) * 1_000_000;
                let until = self.now.plus_nanos(past_ns);
                while let Some(at) = self.node.poll_timeout().filter(|at| *at <= until) {
                    self.now = at.max(self.now);
                    self.node.handle_timeout(self.now);
                    let due = self.node.poll_timeout();
                    assert!(
                        due.is_none_or(|due| due > self.now),
                        "due at {due:?}, now {:?}",
                        self.now
                    );
                    self.drain();
                }
                self.now = until;
            }
            3 => {
                if let Some(session) = self.last {
                    let mut message = data.to_vec();
                    self.complete(&mut message, value);
                    let _ = self.node.send(self.now, session, &message);
                }
            }
            4 => {
                if let Some(session) = self.last {
                    match value % 3 {
                        0 => self.node.close(self.now, session),
                        1 => self.node.pause(session),
                        _ => self.node.resume(session),
                    }
                }
            }
            5 => self.node.handle_frame(self.now, data),
            7 => self.packet_of_xns(who, value, data),
            _ => self.packet(who, value, data),
        }
    }

    /// A packet of another station, with what makes sense filled in as `value` says.
    fn packet(&mut self, who: u8, value: u8, data: &[u8]) {
        let from = Mac([2, 0, 0, 0, 1, who % 4]);
        let to = SOCKETS[usize::from(who >> 2) % SOCKETS.len()];
        let network = u32::from(value & 1);
        let socket = if to == socket::FIRST_DYNAMIC + 1 { socket::SMB_SERVER } else { to };
        let source = Address { network, node: from.0, socket };
        let destination = Address { network, node: OWN.0, socket: to };
        let header =
            Header { checksum: NO_CHECKSUM, hops: value >> 4, kind: 4, destination, source };
        let mut message = data.to_vec();
        if to == socket::SMB_SERVER || to == socket::FIRST_DYNAMIC + 1 {
            self.complete(&mut message, value);
        } else if to == socket::NETBIOS && value & 8 != 0 {
            self.complete_session(&mut message);
        }
        let mut frame = Vec::new();
        let framing = framing::ALL[usize::from(value >> 1) % 4];
        if framing::emit((OWN, from), framing, &header, &message, &mut frame).is_ok() {
            self.node.handle_frame(self.now, &frame);
        }
    }

    /// Make a message one of SMB, with the numbers that the station has used last.
    fn complete(&self, message: &mut Vec<u8>, value: u8) {
        if value & 8 != 0 {
            message.resize(message.len().max(35), 0);
            message[..4].copy_from_slice(b"\xffSMB");
            if value & 4 != 0 {
                message[14..32].copy_from_slice(&self.numbers);
            }
        }
    }

    /// Make a packet one of the last session: what it has of numbers is near those that the station has used last.
    fn complete_session(&self, packet: &mut Vec<u8>) {
        packet.resize(packet.len().max(nbipx::SESSION_HEADER_LEN), 0);
        let Ok(said) = nbipx::SessionHeader::parse(packet) else { return };
        let (last, data) = (self.session, packet.split_off(nbipx::SESSION_HEADER_LEN));
        packet.clear();
        let header = nbipx::SessionHeader {
            control: said.control,
            stream: nbipx::stream::DATA + said.stream % 3,
            source: last.destination.wrapping_add(said.source % 2),
            destination: last.source,
            sequence: last.expected.wrapping_add(said.sequence % 4).wrapping_sub(1),
            data_bytes: data.len() as u16,
            expected: last.sequence.wrapping_add(said.expected % 4).wrapping_sub(1),
            ..said
        };
        header.emit(packet);
        packet.extend_from_slice(&data);
    }

    /// The same on XNS.
    fn packet_of_xns(&mut self, who: u8, value: u8, data: &[u8]) {
        use xns::packet_type::{ECHO, ERROR, EXCHANGE, SEQUENCED};
        let from = Mac([2, 0, 0, 0, 1, who % 4]);
        let kind = [SEQUENCED, EXCHANGE, ERROR, ECHO][usize::from(who >> 2) % 4];
        let (own, last, first) = self.sequenced;
        let to = if value & 1 == 0 { xns::socket::SMB } else { own };
        let to = if kind == ECHO { xns::socket::ECHO } else { to };
        let theirs = if to == xns::socket::SMB { 0x4001 } else { xns::socket::SMB };
        let address = |node, socket| Address { network: 0, node, socket };
        let (source, destination) = (address(from.0, theirs), address(OWN.0, to));
        let header = Header { checksum: 0, hops: value >> 4, kind, destination, source };
        let mut octets = data.to_vec();
        if value & 8 != 0 && kind == SEQUENCED {
            octets.resize(octets.len().max(xns::spp::HEADER_LEN), 0);
            let said = xns::spp::Header::parse(&octets).unwrap();
            let data = octets.split_off(xns::spp::HEADER_LEN);
            octets.clear();
            xns::spp::Header {
                stream: [0, xns::spp::stream::END, xns::spp::stream::END_REPLY, said.stream]
                    [usize::from(said.stream % 4)],
                source: if last.destination == 0 { 5 } else { last.destination },
                destination: last.source,
                sequence: last.expected.wrapping_add(said.sequence % 5).wrapping_sub(1),
                expected: last.sequence.wrapping_add(said.expected % 4).wrapping_sub(1),
                ..said
            }
            .emit(&mut octets);
            octets.extend_from_slice(&data);
        } else if value & 8 != 0 && kind == EXCHANGE {
            // The answer to the last question.
            octets.splice(..octets.len().min(6), first[..6].iter().copied());
        } else if value & 8 != 0 && kind == ERROR {
            let number = u16::from(data.first().copied().unwrap_or(0) % 5);
            let mut about = Vec::new();
            let quoted =
                Header { kind: SEQUENCED, destination: source, source: destination, ..header };
            let mut sent = Vec::new();
            last.emit(&mut sent);
            xns::idp::emit(&quoted, &sent, &mut about).unwrap();
            octets.clear();
            xns::error_packet::emit(number, 0, &about, &mut octets);
        }
        let mut frame = Vec::new();
        let framing = xns::framing::ALL[usize::from(value >> 1) % 2];
        if xns::framing::emit((OWN, from), framing, &header, &octets, &mut frame).is_ok() {
            self.node.handle_frame(self.now, &frame);
        }
    }

    /// Whether a frame is one of XNS, which is as it is to be then.
    fn is_of_xns(&mut self, frame: &Frame<'_>) -> bool {
        let Some((packet, _)) = xns::framing::packet(frame) else { return false };
        let packet = xns::idp::parse(packet).unwrap();
        let source = packet.header.source;
        assert!(packet.is_intact && source.node == OWN.0 && packet.header.hops == 0);
        assert!(packet.data.len() <= xns::idp::LONGEST_DATA || source.socket == xns::socket::ECHO);
        if let Some(first) = packet.data.first_chunk::<12>() {
            (self.sequenced.0, self.sequenced.2) = (source.socket, *first);
        }
        if packet.header.kind == xns::packet_type::SEQUENCED {
            self.sequenced.1 = xns::spp::Header::parse(packet.data).unwrap();
        }
        true
    }

    fn drain(&mut self) {
        let (mut message, mut frame) = (Vec::new(), Vec::new());
        while let Some(event) = self.node.poll_event(&mut message) {
            match event {
                Event::Opened(id, _) | Event::Accepted { session: id, .. } => {
                    assert!(self.open.insert(id) && !self.ended.contains(&id), "{event:?}");
                    self.last = Some(id);
                }
                Event::Message(id) => {
                    assert!(self.open.contains(&id) && !self.ended.contains(&id), "{event:?}");
                    assert!(message.len() <= 65_535);
                }
                Event::Ended(id, _) => assert!(self.ended.insert(id), "{event:?} twice"),
                _ => {}
            }
        }
        for _ in 0..MOST_FRAMES {
            if !self.node.poll_transmit(self.now, &mut frame) {
                return;
            }
            assert!((60..=1514).contains(&frame.len()), "{} octets", frame.len());
            let frame = Frame::parse(&frame).unwrap();
            assert_eq!(frame.header.source, OWN);
            if self.is_of_xns(&frame) {
                continue;
            }
            let (packet, _) = framing::packet(&frame).unwrap();
            let (header, data) = Header::parse(packet).unwrap();
            assert_eq!((header.source.node, header.hops), (OWN.0, 0));
            if header.source.socket == socket::NETBIOS && nbipx::is_session(data) {
                let (session, data) = nbipx::SessionHeader::split(data).unwrap();
                assert_eq!(data.len(), usize::from(session.data_bytes));
                self.session = session;
            } else if data.starts_with(b"\xffSMB") {
                self.numbers.copy_from_slice(&data[14..32]);
            }
        }
        panic!("more than {MOST_FRAMES} frames at one time");
    }
}
