//! Datagrams without a session: echoes, errors, checksums, networks, framings, questions for names.

use lanlab_wire::ipx::{Address, BROADCAST};
use lanlab_wire::xns::error_packet::number;
use lanlab_wire::xns::{framing, packet_type, pep, socket};

use super::stranger::{SOCKET, Server, frame, packet};
use crate::by_hand::CLIENT;
use crate::segment::{mac, name};

#[test]
fn echoes_use_the_framing_of_the_request() {
    let mut server = Server::new();
    for framing in framing::ALL {
        for data in [&b"\0\x01"[..], b"\0\x01an odd one"] {
            let asked = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
            let said = server.hear_frame(&frame(framing, &asked, data));
            assert_eq!((said.len(), said[0].framing), (1, framing));
            assert_eq!((said[0].data[1], &said[0].data[2..]), (2, &data[2..]));
            assert_eq!(said[0].packet.destination, asked.source);
            assert_eq!(said[0].packet.source, asked.destination);
        }
    }
    let asked = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
    assert!(server.hear_packet(&asked, b"\0\x02").is_empty(), "an answer");
    assert!(server.hear_packet(&asked, b"\0").is_empty(), "short");
    let destination = Address { node: BROADCAST, ..asked.destination };
    assert!(
        server
            .hear_packet(&lanlab_wire::ipx::Header { destination, ..asked }, b"\0\x01")
            .is_empty()
    );
    assert_eq!((server.counted("echoes_answered"), server.counted("unreadable_packets")), (4, 1));
}

#[test]
fn an_unknown_socket_causes_an_error_packet_but_errors_cause_none() {
    let mut server = Server::new();
    for kind in [0, packet_type::ECHO, packet_type::EXCHANGE, packet_type::SEQUENCED, 99] {
        let asked = packet(CLIENT, SOCKET, 0x777, kind);
        let said = server.hear_packet(&asked, &[7; 100]);
        assert_eq!((said.len(), said[0].error()), (1, number::NO_SOCKET));
        assert_eq!((said[0].packet.destination, said[0].data.len()), (asked.source, 46));
        let destination = Address { node: BROADCAST, ..asked.destination };
        let to_all = lanlab_wire::ipx::Header { destination, ..asked };
        assert!(server.hear_packet(&to_all, &[7; 100]).is_empty());
    }
    let error = packet(CLIENT, SOCKET, 0x777, packet_type::ERROR);
    assert!(server.hear_packet(&error, &[0; 46]).is_empty());
    assert!(server.hear_packet(&error, &[0; 3]).is_empty());
    assert_eq!((server.counted("errors_sent"), server.counted("unknown_socket_packets")), (5, 10));
}

#[test]
fn a_wrong_checksum_is_reported_and_a_missing_one_accepted() {
    let mut server = Server::new();
    let asked = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
    let mut octets = frame(framing::ETHERNET_II, &asked, b"\0\x01data");
    octets[47] ^= 1;
    let said = server.hear_frame(&octets);
    assert_eq!((said.len(), said[0].error()), (1, number::BAD_CHECKSUM));
    assert_eq!((server.counted("wrong_checksums"), server.counted("echoes_answered")), (1, 0));
    octets[14..16].fill(0xff);
    assert_eq!(server.hear_frame(&octets)[0].data[1], 2);
}

#[test]
fn packets_with_16_hops_foreign_networks_or_false_lengths_are_dropped() {
    let mut server = Server::new();
    let asked = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
    let of = |change: &dyn Fn(&mut lanlab_wire::ipx::Header)| {
        let mut header = asked;
        change(&mut header);
        frame(framing::ETHERNET_II, &header, b"\0\x01")
    };
    assert_eq!(server.hear_frame(&of(&|header| header.hops = 15)).len(), 1);
    assert!(server.hear_frame(&of(&|header| header.hops = 16)).is_empty());
    // The first neighbour with a network says which one this is.
    assert_eq!(server.hear_frame(&of(&|header| header.source.network = 7)).len(), 1);
    assert!(server.hear_frame(&of(&|header| header.destination.network = 8)).is_empty());
    assert_eq!(server.hear_frame(&of(&|header| header.destination.network = 7)).len(), 1);
    assert_eq!(server.hear_frame(&of(&|header| header.source.network = 9)).len(), 1);
    assert!(server.hear_frame(&of(&|header| header.destination.node = CLIENT.0)).is_empty());
    let counted = ["hops_exceeded", "other_address_packets", "network_disputes"];
    assert_eq!(counted.map(|key| server.counted(key)), [1, 2, 1]);
    let mut octets = of(&|_| {});
    // A length beyond the frame, and one below the header.
    for length in [47, 0xffff, 29, 0] {
        octets[16..18].copy_from_slice(&u16::to_be_bytes(length));
        assert!(server.hear_frame(&octets).is_empty());
    }
    assert_eq!(server.node.stray_counts().malformed_frames, 4);
}

#[test]
fn only_the_named_server_answers_and_only_to_the_asker() {
    let mut server = Server::new();
    let ask = |server: &mut Server, name: &[u8], id| {
        let mut data = vec![];
        pep::Header { id, client: 0 }.emit(&mut data);
        data.extend_from_slice(name);
        let mut asked = packet(CLIENT, SOCKET, socket::SMB, packet_type::EXCHANGE);
        asked.destination.node = BROADCAST;
        server.hear_packet(&asked, &data)
    };
    let said = ask(&mut server, &name(0).0, 5);
    assert_eq!((said.len(), said[0].packet.source.socket), (1, socket::SMB));
    assert_eq!(said[0].packet.source.node, mac(0).0);
    assert_eq!((&said[0].data[..6], &said[0].data[6..]), (&[0, 0, 0, 5, 0, 0][..], &name(0).0[..]));
    assert!(ask(&mut server, &name(1).0, 6).is_empty());
    assert!(ask(&mut server, &name(0).0[..15], 7).is_empty());
    let asked = packet(CLIENT, SOCKET, socket::SMB, packet_type::EXCHANGE);
    assert!(server.hear_packet(&asked, &[0; 5]).is_empty());
    assert_eq!(server.counted("unreadable_packets"), 1);
}
