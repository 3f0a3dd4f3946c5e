//! Frames of another encoder: what is read from them is what tshark reads, and is written the same.

mod tshark;

use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::{Header, framing, packet_type, socket};
use lanlab_wire::smb1::header;
use lanlab_wire::{nbipx, nmpi, rip, sap};
use tshark::{compared, frames};

const FRAMES: [&str; 2] = [include_str!("frames/ipx.txt"), include_str!("frames/nbipx.txt")];

fn node(octets: [u8; 6]) -> u64 {
    octets.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet))
}

/// What our parsers see, by tshark's names of fields. Also the data of the packet as it is written again.
fn seen(header: &Header, data: &[u8]) -> (Vec<(&'static str, u64)>, Vec<u8>) {
    let (to, from) = (header.destination, header.source);
    let mut fields = vec![
        ("ipx.len", 30 + data.len() as u64),
        ("ipx.hops", u64::from(header.hops)),
        ("ipx.packet_type", u64::from(header.kind)),
        ("ipx.dst.net", u64::from(to.network)),
        ("ipx.dst.node", node(to.node)),
        ("ipx.dst.socket", u64::from(to.socket)),
        ("ipx.src.net", u64::from(from.network)),
        ("ipx.src.node", node(from.node)),
        ("ipx.src.socket", u64::from(from.socket)),
    ];
    let mut again = vec![];
    let sockets = [to.socket, from.socket];
    if sockets.contains(&socket::RIP) {
        let packet = rip::Packet::parse(data).unwrap();
        let name = if packet.is_response { "ipxrip.response" } else { "ipxrip.request" };
        fields.push((name, 1));
        packet.emit(&mut again);
    } else if sockets.contains(&socket::SAP) {
        match sap::Packet::parse(data).unwrap() {
            sap::Packet::Query { is_nearest, kind } => {
                sap::emit_query(is_nearest, kind, &mut again);
            }
            sap::Packet::Response { is_nearest, servers } => {
                let servers: Vec<_> = servers.iter().collect();
                assert_eq!(servers[0].name, "CNCFILES");
                assert_eq!(servers[0].address.to_string(), "00000017:0000C0123456:0550");
                sap::emit_response(is_nearest, &servers, &mut again);
            }
        }
    } else if sockets.contains(&socket::NETBIOS) {
        if header.kind == packet_type::PROPAGATED || !nbipx::is_session(data) {
            let packet = nbipx::NamePacket::parse(data).unwrap();
            packet.emit(&mut again);
            // Windows 98 says more of itself there.
            again[..32].copy_from_slice(&data[..32]);
            let is_set = |flag| u64::from(packet.flags & flag != 0);
            fields.extend([
                ("nmpi.packettype", u64::from(packet.command.to_wire())),
                ("nmpi.name_flags", u64::from(packet.flags)),
                ("nmpi.name_flags.group", is_set(nbipx::name_flag::GROUP)),
                ("nmpi.name_flags.in_use", is_set(nbipx::name_flag::IN_USE)),
                ("nmpi.name_flags.registered", is_set(nbipx::name_flag::REGISTERED)),
            ]);
        } else {
            let (session, data) = nbipx::SessionHeader::split(data).unwrap();
            session.emit(&mut again);
            if session.control & nbipx::control::CONNECT != 0 {
                nbipx::Opening::parse(data).unwrap().emit(&mut again);
            } else {
                again.extend_from_slice(data);
            }
            fields.extend([
                ("nmpi.packettype", u64::from(session.stream)),
                ("nmpi.conn_control", u64::from(session.control)),
                ("nmpi.session.src_conn_id", u64::from(session.source)),
                ("nmpi.session.dest_conn_id", u64::from(session.destination)),
                ("nmpi.session.send_seq_number", u64::from(session.sequence)),
                ("nmpi.session.total_data_length", u64::from(session.total_bytes)),
                ("nmpi.session.offset", u64::from(session.offset)),
                ("nmpi.session.data_length", u64::from(session.data_bytes)),
                ("nmpi.session.recv_seq_number", u64::from(session.expected)),
                ("nmpi.session.bytes_received", u64::from(session.window_end)),
            ]);
        }
    } else if sockets.contains(&socket::SMB_NAMES) {
        let (names, rest) = nmpi::Header::parse(data).unwrap();
        names.emit(&mut again);
        fields.extend([
            ("nmpi.opcode", u64::from(again[32])),
            ("nmpi.name_type", u64::from(names.kind)),
            ("nmpi.messageid", u64::from(names.message)),
        ]);
        again.extend_from_slice(rest);
    } else {
        let smb = header::Header::parse(data).unwrap();
        // Key, connection and sequence number, where others have a signature.
        let [a, b, c, d, low, high, sequence @ ..] = smb.signature;
        fields.extend([
            ("smb.cmd", u64::from(smb.command)),
            ("smb.key", u64::from(u32::from_le_bytes([a, b, c, d]))),
            ("smb.sessid", u64::from(u16::from_le_bytes([low, high]))),
            ("smb.sequence_num", u64::from(u16::from_le_bytes(sequence))),
            ("smb.mid", u64::from(smb.mid)),
        ]);
        again.extend_from_slice(data);
    }
    (fields, again)
}

#[test]
fn parsed_fields_match_tshark_in_every_framing() {
    let (mut count, mut framings) = (0, vec![]);
    for (octets, expected) in FRAMES.into_iter().flat_map(frames) {
        let frame = Frame::parse(&octets).unwrap();
        let (packet, framing) = framing::packet(&frame).unwrap();
        framings.push(framing);
        let (header, data) = Header::parse(packet).unwrap();
        let (found, data) = seen(&header, data);
        let mut again = vec![];
        let stations = (frame.header.destination, frame.header.source);
        framing::emit(stations, framing, &header, &data, &mut again).unwrap();
        assert_eq!(hex::encode(again), hex::encode(&octets));
        count += compared(&octets, &expected, &found);
    }
    assert!(count > 440, "{count} fields");
    for framing in framing::ALL {
        assert!(framings.iter().filter(|one| **one == framing).count() >= 2, "{framing:?}");
    }
}
