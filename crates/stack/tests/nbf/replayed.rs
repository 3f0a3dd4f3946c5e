//! What `ClassicStack` sent over `NetBEUI`, fed to a client: each frame is answered as IBM's SC30-3587 says, and a malformed one
//! ends the session with that reason.

use lanlab_stack::node::{CarrierKind, Event, NameEvent, Node, NodeConfig, Peer, Why};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::llc::{Control, Header, Supervisory, Unnumbered};
use lanlab_wire::nbf::{SessionCommand, SessionHeader, value};
use lanlab_wire::netbios_name::{Name, suffix};

use crate::replay::{Captured, read, replay};

/// A client to which frames were fed.
struct Client {
    node: Node,
    events: Vec<Event>,
    messages: Vec<Vec<u8>>,
    /// Frames that it sent after each one.
    answers: Vec<Vec<Vec<u8>>>,
}

fn replayed(frames: &[Captured]) -> Client {
    let name = Name::new("LANLAB-307AC9", 0).unwrap();
    let mac = Mac([0x6e, 0x0c, 0x69, 0x30, 0x7a, 0xc9]);
    let carriers = CarrierKind::Nbf;
    let mut node = Node::new(&NodeConfig::new(mac, name, WINDOWS_NT, carriers), Instant::ZERO);
    let (mut message, mut frame) = (vec![], vec![]);
    let mut begin = Instant::ZERO;
    while !matches!(node.poll_event(&mut message), Some(Event::Name(NameEvent::Claimed(_)))) {
        begin = node.poll_timeout().unwrap();
        node.handle_timeout(begin);
        while node.poll_transmit(begin, &mut frame) {}
    }
    let called = Peer::Name(Name::new("CLASSIC", suffix::SERVER).unwrap());
    let session = node.open(begin, called);
    assert!(node.poll_transmit(begin, &mut frame));
    let (mut events, mut messages) = (vec![], vec![]);
    let (replayed, _) = replay(&mut node, begin, frames, |now, node| {
        while let Some(event) = node.poll_event(&mut message) {
            match event {
                Event::Opened(..) => node.send(now, session, &[1; 96]).unwrap(),
                Event::Message(_) => messages.push(message.clone()),
                _ => {}
            }
            events.push(event);
        }
    });
    Client { node, events, messages, answers: replayed.answers }
}

fn llc(octets: &[u8]) -> (Control, Vec<u8>) {
    let frame = Frame::parse(octets).unwrap();
    let (header, information) = Header::parse(frame.payload).unwrap();
    (header.control, information.to_vec())
}

fn counted(node: &Node, key: &str) -> u64 {
    node.counts().iter().filter(|(known, _)| *known == key).map(|one| one.1).sum()
}

const FRAMES: &str = include_str!("../frames/nbf-classicstack.txt");

#[test]
fn a_session_with_classicstack_opens_in_the_order_of_the_standard() {
    let frames = read(FRAMES);
    let Client { events, answers, .. } = replayed(&frames[..6]);
    // The name is found, then the station is asked for a session (NAME QUERY), and called on a link.
    let counts: Vec<_> = answers.iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 0]);
    let (control, _) = llc(&answers[1][0]);
    assert_eq!(control, Control::Unnumbered { kind: Unnumbered::Connect, poll: true });
    let (control, _) = llc(&answers[2][0]);
    let asks =
        Control::Supervisory { kind: Supervisory::ReceiveReady, receive_number: 0, poll: true };
    assert_eq!(control, asks, "who has set up the link asks once whether it stands");
    let (_, initialize) = llc(&answers[3][0]);
    let (header, _) = SessionHeader::parse(&initialize).unwrap();
    // The response correlator of NAME RECOGNIZED is repeated.
    assert_eq!(
        (header.command, header.transmit_correlator, header.destination_number),
        (SessionCommand::SessionInitialize, 1, 1)
    );
    let (control, data) = llc(&answers[4][0]);
    let (header, message) = SessionHeader::parse(&data).unwrap();
    assert_eq!((header.command, message), (SessionCommand::DataOnlyLast, &[1; 96][..]));
    let Control::Information { send_number: 1, receive_number: 1, .. } = control else {
        panic!("{control:?}")
    };
    assert!(matches!(events.last(), Some(Event::Room(_))), "DATA ACK has its number: {events:?}");
}

#[test]
fn a_malformed_frame_ends_its_session_and_is_counted_and_named() {
    let mut frames = read(FRAMES);
    let Client { node, events, messages, answers } = replayed(&frames);
    assert!(matches!(events.last(), Some(Event::Ended(_, Why::MalformedFrame))), "{events:?}");
    assert_eq!((messages.len(), counted(&node, "malformed_frames")), (0, 1));
    let ends = answers.last().unwrap().iter().find_map(|frame| {
        let information = llc(frame).1;
        let (header, _) = SessionHeader::parse(&information).ok()?;
        (header.command == SessionCommand::SessionEnd).then_some(header.data2)
    });
    assert_eq!(ends, Some(value::ABNORMAL_END));
    // With the length of the header the same frame is the answer.
    let last = &mut frames.last_mut().unwrap().frame;
    assert_eq!(last[18..20], [93, 0]);
    last[18] = 14;
    let Client { node, messages, .. } = replayed(&frames);
    assert_eq!((messages.len(), counted(&node, "malformed_frames")), (1, 0));
    assert_eq!((messages[0].len(), &messages[0][..5]), (79, &b"\xffSMB\x72"[..]));
}
