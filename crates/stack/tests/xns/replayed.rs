//! What Dodo's XNS sent, fed to a server and to a client: each packet is answered as XSIS 028112 says, and nothing is sent
//! again.

use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, Peer, SessionId};
use lanlab_stack::smb::Dialect;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::Address;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::xns::spp::{Header, control};
use lanlab_wire::xns::{echo::Echo, framing, idp, packet_type, pep, socket};

use super::THREE_PLUS;
use crate::copying::{Serving, Station};
use crate::replay::{Captured, Replayed, read, replay};
use crate::segment::Program as _;

const LANLAB: Mac = Mac([0x6e, 0x0c, 0x69, 0x30, 0x7a, 0xc9]);
const DODO: [u8; 6] = [0x10, 0x00, 0xff, 0x12, 0x34, 0x01];
const SEND_ACK: u8 = control::SYSTEM | control::ACKNOWLEDGE;

/// The station of lanlab in a capture, whose first connection has this number.
fn station(connection: u16) -> (Node, Instant) {
    let begin = Instant::from_nanos(u64::from(connection - 1) * 1_000_000);
    let name = Name::new("JUDGED", suffix::SERVER).unwrap();
    let carriers = CarrierKind::Spp;
    let mut node = Node::new(&NodeConfig::new(LANLAB, name, THREE_PLUS, carriers), begin);
    while node.poll_event(&mut vec![]).is_some() {}
    (node, begin)
}

fn datagram(frame: &[u8]) -> (u8, u16, Vec<u8>) {
    let frame = Frame::parse(frame).unwrap();
    let packet = idp::parse(framing::packet(&frame).unwrap().0).unwrap();
    assert!(packet.is_intact);
    let Address { node, socket, .. } = packet.header.destination;
    assert!([DODO, LANLAB.0, Mac::BROADCAST.0].contains(&node));
    (packet.header.kind, socket, packet.data.to_vec())
}

fn sequenced(frame: &[u8]) -> (Header, Vec<u8>) {
    let (kind, _, data) = datagram(frame);
    assert_eq!(kind, packet_type::SEQUENCED);
    let (header, data) = Header::split(&data).unwrap();
    (header, data.to_vec())
}

/// Every packet that came was answered once at most; each answer acknowledges all that has come, and allows three more
/// (XSIS 028112, 6.4: the acknowledge number is that of the first packet that has not been received, the allocation
/// number that of the last one that is accepted). Gives the numbers of data packets that were sent.
fn conversation(frames: &[Captured], replayed: &Replayed) -> Vec<u16> {
    let (mut expected, mut numbers) = (0, vec![]);
    for (captured, answers) in frames.iter().zip(&replayed.answers) {
        let (theirs, _) = sequenced(&captured.frame);
        if theirs.control & control::SYSTEM == 0 && theirs.sequence == expected {
            expected += 1;
        }
        for answer in answers {
            let (ours, _) = sequenced(answer);
            assert_eq!((ours.expected, ours.allocation), (expected, expected + 2), "{ours:?}");
            assert!(ours.destination == theirs.source && ours.stream == 0);
            assert_eq!(ours.sequence, numbers.len() as u16, "{ours:?}");
            if ours.control & control::SYSTEM == 0 {
                numbers.push(ours.sequence);
            }
        }
        if theirs.control & SEND_ACK == SEND_ACK {
            assert!(!answers.is_empty(), "an acknowledgement is asked for");
        }
    }
    numbers
}

/// For a minute after the last frame nothing is sent again.
fn rests(node: &mut Node, mut now: Instant) {
    let end = now.plus_nanos(60_000_000_000);
    let mut frame = vec![];
    while let Some(at) = node.poll_timeout().filter(|at| *at <= end) {
        now = now.max(at);
        node.handle_timeout(now);
        while node.poll_transmit(now, &mut frame) {
            let (header, _) = sequenced(&frame);
            assert!(header.control & control::SYSTEM != 0, "{header:?}");
        }
    }
    assert_eq!(counted(node, "information_sent_again"), 0);
    assert_eq!(counted(node, "t1_expiries"), 0);
}

fn counted(node: &Node, key: &str) -> u64 {
    node.counts().iter().find(|(known, _)| *known == key).unwrap().1
}

#[test]
fn dodo_works_as_client_despite_acknowledging_one_packet_too_many() {
    let frames = read(include_str!("../frames/xns-dodo-client.txt"));
    let (mut node, begin) = station(0x595a);
    node.listen();
    let mut server = Station::Server(Box::new(Serving::new(Dialect::Core)));
    let mut message = vec![];
    let (replayed, now) = replay(&mut node, begin, &frames, |now, node| {
        while let Some(event) = node.poll_event(&mut message) {
            server.handle(now, node, event, &mut message);
        }
    });
    assert_eq!(conversation(&frames, &replayed), [0, 1, 2, 3, 4]);
    // SMB: the answer has the command and the number of its request.
    let smb = |data: &[u8]| (data[4], data[9] & 0x80, data[30..32].to_vec());
    for (captured, answers) in frames.iter().zip(&replayed.answers).skip(1).take(5) {
        let (request, answer) = (sequenced(&captured.frame).1, sequenced(&answers[0]).1);
        let (command, _, number) = smb(&request);
        assert_eq!((answers.len(), smb(&answer)), (1, (command, 0x80, number)));
    }
    assert_eq!(counted(&node, "acknowledged_unsent"), 5);
    rests(&mut node, now);
}

#[test]
fn a_two_packet_message_from_dodo_arrives_whole() {
    let frames = read(include_str!("../frames/xns-dodo-client-mended.txt"));
    let (mut node, begin) = station(0x7322);
    node.listen();
    let (mut message, mut messages) = (vec![], vec![]);
    let (replayed, now) = replay(&mut node, begin, &frames, |now, node| {
        while let Some(event) = node.poll_event(&mut message) {
            if let Event::Message(session) = event {
                messages.push(message.clone());
                node.send(now, session, &message[..32]).unwrap();
            }
        }
    });
    assert_eq!(conversation(&frames, &replayed).len(), messages.len());
    assert!(messages.iter().all(|one| one.starts_with(b"\xffSMB")));
    // WRITE ANDX (2Fh) of 960 octets each: 12 words, and a pad.
    let written: Vec<_> = messages.iter().filter(|one| one[4] == 0x2f).collect();
    assert_eq!(written.iter().map(|one| one.len()).collect::<Vec<_>>(), [1_020; 2]);
    assert_eq!(counted(&node, "acknowledged_unsent"), 0);
    rests(&mut node, now);
}

#[test]
fn dodo_as_server_answers_every_message_of_a_client_once() {
    let frames = read(include_str!("../frames/xns-dodo-server.txt"));
    let (mut node, begin) = station(0xb73c);
    let to = Address { network: 0, node: DODO, socket: socket::SMB };
    let session = node.open(begin, Peer::Ipx(to));
    let mut call = vec![];
    assert!(node.poll_transmit(begin, &mut call));
    let (header, _) = sequenced(&call);
    assert_eq!((header.control, header.source, header.destination), (SEND_ACK, 0xb73c, 0));
    let (mut message, mut messages, mut sent) = (vec![], vec![], 0);
    let mut say = |now: Instant, node: &mut Node, to: SessionId| {
        node.send(now, to, &[sent; 61]).unwrap();
        sent += 1;
    };
    let (replayed, now) = replay(&mut node, begin, &frames, |now, node| {
        while let Some(event) = node.poll_event(&mut message) {
            match event {
                Event::Opened(id, _) => {
                    assert_eq!(id, session);
                    say(now, node, id);
                }
                Event::Message(id) => {
                    messages.push(message.clone());
                    if messages.len() < 4 {
                        say(now, node, id);
                    }
                }
                Event::Room(_) => {}
                event => panic!("{event:?}"),
            }
        }
    });
    let (_, of_session, _) = datagram(&replayed.answers[0][0]);
    assert_eq!(of_session, 0x4000, "the socket of the session, not the one that was called");
    assert_eq!(conversation(&frames, &replayed), [0, 1, 2, 3]);
    let expected: Vec<_> = frames[1..5].iter().map(|one| sequenced(&one.frame).1).collect();
    assert_eq!(messages, expected);
    rests(&mut node, now);
}

#[test]
fn echoes_and_name_queries_are_answered() {
    let frames = read(include_str!("../frames/xns-dodo-datagrams.txt"));
    let (mut node, begin) = station(1);
    node.listen();
    let (replayed, _) = replay(&mut node, begin, &frames, |_, _| {});
    assert_eq!(frames.len(), 3);
    for (captured, answers) in frames.iter().zip(&replayed.answers) {
        let (kind, _, asked) = datagram(&captured.frame);
        let (to, said) = (datagram(&answers[0]).1, datagram(&answers[0]).2);
        assert_eq!((answers.len(), datagram(&answers[0]).0), (1, kind));
        if kind == packet_type::ECHO {
            let (asked, said) = (Echo::parse(&asked).unwrap(), Echo::parse(&said).unwrap());
            assert_eq!((said.is_reply, said.data, to), (true, asked.data, 0x4000));
        } else {
            // The same number, type and name.
            assert_eq!((said, to), (asked.clone(), 0x3fff));
            assert_eq!(asked.len(), pep::HEADER_LEN + 16);
        }
    }
}
