//! Frames of another encoder: what is read from them is what tshark reads, and is written the same.

mod tshark;

use lanlab_wire::ethernet::Frame;
use lanlab_wire::xns::echo::Echo;
use lanlab_wire::xns::error_packet::ErrorPacket;
use lanlab_wire::xns::{error_packet, framing, idp, packet_type, pep, spp};
use tshark::{compared, frames};

const FRAMES: &str = include_str!("frames/xns.txt");

fn node(octets: [u8; 6]) -> u64 {
    octets.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet))
}

/// What our parsers see, by tshark's names of fields.
fn seen(packet: &idp::Packet<'_>) -> Vec<(&'static str, u64)> {
    let (to, from) = (packet.header.destination, packet.header.source);
    let mut fields = vec![
        ("idp.checksum", u64::from(packet.header.checksum)),
        ("idp.len", 30 + packet.data.len() as u64),
        ("idp.hops", u64::from(packet.header.hops)),
        ("idp.packet_type", u64::from(packet.header.kind)),
        ("idp.dst.net", u64::from(to.network)),
        ("idp.dst.node", node(to.node)),
        ("idp.dst.socket", u64::from(to.socket)),
        ("idp.src.net", u64::from(from.network)),
        ("idp.src.node", node(from.node)),
        ("idp.src.socket", u64::from(from.socket)),
    ];
    if packet.header.kind == packet_type::SEQUENCED {
        let (header, data) = spp::Header::split(packet.data).unwrap();
        fields.extend([
            ("spp.ctl", u64::from(header.control)),
            ("spp.type", u64::from(header.stream)),
            ("spp.src", u64::from(header.source)),
            ("spp.dst", u64::from(header.destination)),
            ("spp.seq", u64::from(header.sequence)),
            ("spp.ack", u64::from(header.expected)),
            ("spp.alloc", u64::from(header.allocation)),
        ]);
        if data.starts_with(b"\xffSMB") {
            fields.push(("smb.cmd", u64::from(data[4])));
        }
    }
    fields
}

/// The data of a packet, as it is written again.
fn again(packet: &idp::Packet<'_>) -> Vec<u8> {
    let (data, mut out) = (packet.data, vec![]);
    match packet.header.kind {
        packet_type::ECHO => Echo::parse(data).unwrap().emit(&mut out),
        packet_type::EXCHANGE => {
            pep::Header::parse(data).unwrap().emit(&mut out);
            out.extend_from_slice(&data[pep::HEADER_LEN..]);
        }
        packet_type::SEQUENCED => {
            let (header, rest) = spp::Header::split(data).unwrap();
            header.emit(&mut out);
            out.extend_from_slice(rest);
        }
        _ => {
            let error = ErrorPacket::parse(data).unwrap();
            assert_eq!(error.header.destination.node, packet.header.source.node);
            error_packet::emit(error.start.number, error.start.parameter, &data[4..], &mut out);
        }
    }
    out
}

#[test]
fn parsed_fields_match_tshark_in_both_framings() {
    let (mut count, mut framings) = (0, vec![]);
    for (octets, expected) in frames(FRAMES) {
        let frame = Frame::parse(&octets).unwrap();
        let (packet, framing) = framing::packet(&frame).unwrap();
        framings.push(framing);
        let packet = idp::parse(packet).unwrap();
        assert!(packet.is_intact, "the sum of another program");
        let stations = (frame.header.destination, frame.header.source);
        let mut written = vec![];
        framing::emit(stations, framing, &packet.header, &again(&packet), &mut written).unwrap();
        assert_eq!(hex::encode(written), hex::encode(&octets));
        count += compared(&octets, &expected, &seen(&packet));
    }
    assert!(count > 300, "{count} fields");
    assert_eq!(framings, [[framing::ETHERNET_II; 11], [framing::THREE_COM; 11]].concat());
}
