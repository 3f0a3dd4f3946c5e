//! What `ClassicStack` sent over IPX, fed to a station: its name query for SMB straight on IPX and its NBIPX one are
//! answered as [MS-CIFS] and the period's traces have them, and its own answers open a session.

use lanlab_stack::node::{CarrierKind, Event, NameEvent, Node, NodeConfig, Peer};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Header, framing, packet_type, socket};
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::nmpi;
use lanlab_wire::smb1::command;

use super::exchange::request;
use crate::replay::{Captured, read, replay};

/// lanlab's adapter in the capture.
const OURS: Mac = Mac([0x6e, 0x0c, 0x69, 0x30, 0x7a, 0xc9]);
const CLASSIC: Mac = Mac([0x22, 0x40, 0x17, 0x42, 0x97, 0xc8]);
/// Frames of the capture, by what they are.
const RIP: usize = 0;
const NBIPX_FIND: usize = 1;
const NMPI_CLAIM: usize = 2;
/// Its answer to the first request follows.
const NMPI_FOUND: usize = 3;

fn frames() -> Vec<Captured> {
    read(include_str!("../frames/ipx-classicstack.txt"))
}

/// A station that has heard the answer to RIP, and holds its name.
fn station(carrier: CarrierKind, name: Name) -> (Node, Instant) {
    let carriers = carrier;
    let mut node = Node::new(&NodeConfig::new(OURS, name, WINDOWS_NT, carriers), Instant::ZERO);
    let (mut message, mut frame) = (vec![], vec![]);
    while node.poll_transmit(Instant::ZERO, &mut frame) {}
    node.handle_frame(Instant::ZERO, &frames()[RIP].frame);
    let mut now = Instant::ZERO;
    while !matches!(node.poll_event(&mut message), Some(Event::Name(NameEvent::Claimed(_)))) {
        now = node.poll_timeout().unwrap();
        node.handle_timeout(now);
        while node.poll_transmit(now, &mut frame) {}
    }
    (node, now)
}

fn packet(octets: &[u8]) -> (Mac, Header, Vec<u8>) {
    let frame = Frame::parse(octets).unwrap();
    let (packet, found) = framing::packet(&frame).unwrap();
    assert_eq!(found, framing::ETHERNET_II, "the framing in which it was heard");
    let (header, data) = Header::parse(packet).unwrap();
    (frame.header.destination, header, data.to_vec())
}

fn at_once(mut frames: Vec<Captured>) -> Vec<Captured> {
    let first = frames[0].after_ns;
    for one in &mut frames {
        one.after_ns -= first;
    }
    frames
}

#[test]
fn a_direct_ipx_session_opens_and_its_first_request_is_answered() {
    let (mut node, now) = station(CarrierKind::Ipx, Name::new("LANLAB-307AC9", 0).unwrap());
    let name = Name::new("CLASSIC", suffix::SERVER).unwrap();
    let session = node.open(now, Peer::Name(name));
    let mut octets = vec![];
    assert!(node.poll_transmit(now, &mut octets));
    let (to, header, data) = packet(&octets);
    let (query, _) = nmpi::Header::parse(&data).unwrap();
    assert_eq!((to, header.destination.socket), (Mac::BROADCAST, socket::SMB_NAMES));
    assert_eq!((query.command, query.name), (nmpi::Command::Query, name));

    let mut messages = vec![];
    let mut work = |now, node: &mut Node| {
        let mut message = vec![];
        while let Some(event) = node.poll_event(&mut message) {
            match event {
                Event::Opened(..) => {
                    node.send(now, session, &request(command::NEGOTIATE, 1)).unwrap();
                }
                Event::Message(_) => messages.push(message.clone()),
                Event::Ended(_, why) => panic!("{why:?}"),
                _ => {}
            }
        }
    };
    let mut answers = at_once(frames().split_off(NMPI_FOUND));
    let mut negotiated = answers.pop().unwrap();
    let (replayed, now) = replay(&mut node, now, &answers, &mut work);
    let [asked] = &replayed.answers[0][..] else { panic!("{:?}", replayed.answers) };
    let (to, header, _) = packet(asked);
    assert_eq!((to, header.destination.node), (CLASSIC, CLASSIC.0));
    assert_eq!(
        (header.kind, header.destination.socket),
        (packet_type::EXCHANGE, socket::SMB_SERVER)
    );
    // The answer goes to the socket that asked: another one than in the capture.
    negotiated.frame[30..32].copy_from_slice(&header.source.socket.to_be_bytes());
    negotiated.after_ns = 0;
    replay(&mut node, now, &[negotiated], &mut work);
    assert_eq!(messages.len(), 1);
    assert_eq!((&messages[0][..5], messages[0].len()), (&b"\xffSMB\x72"[..], 79));
}

#[test]
fn only_the_name_holder_answers_claims_and_queries() {
    for (carrier, asked) in [(CarrierKind::Ipx, NMPI_CLAIM), (CarrierKind::Nbipx, NBIPX_FIND)] {
        for (own, is_holder) in [("CLASSIC", true), ("OTHER", false)] {
            let (mut node, now) = station(carrier, Name::new(own, suffix::SERVER).unwrap());
            let asked = at_once(vec![frames().swap_remove(asked)]);
            let (replayed, _) = replay(&mut node, now, &asked, |_, _| {});
            let answered = replayed.answers[0].iter().map(|one| packet(one).0);
            let expected = if is_holder { vec![CLASSIC] } else { vec![] };
            assert_eq!(answered.collect::<Vec<_>>(), expected, "{carrier:?} {own}");
        }
    }
}
