//! Sessions: names, requests and answers, silence, end.

use lanlab_medium::Topology;
use lanlab_stack::node::{
    CarrierKind, Event, NameEvent, NotSent, Peer as Called, Readiness, SessionId, Why,
};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ipx::Address;
use lanlab_wire::smb1::command;

use super::exchange::{Peer, READY, open, pair, request, requests};
use crate::segment::{Segment, mac, name};

fn after(from: Instant, seconds: u64) -> Instant {
    from.plus_nanos(seconds * 1_000_000_000)
}

#[test]
fn requests_are_sent_once_and_answered_in_order() {
    let asked = requests([command::WRITE, command::READ, command::CLOSE]);
    let mut segment = pair(Peer::asking(asked), Peer::default(), 1);
    let id = open(&mut segment, 0, 1);
    segment.run_until(after(READY, 1));
    assert_eq!(segment.program(0).answers, [7, 14, 21, 28]);
    assert_eq!(segment.program(1).carried_out, 4);
    assert_eq!(segment.counted(0, "information_sent"), 4);
    assert_eq!(segment.counted(0, "information_sent_again"), 0);
    segment.with(0, |now, node, _| node.close(now, id));
    assert_eq!(segment.program(0).ended[&id].1, Why::Closed);
    assert_eq!(segment.with(0, |now, node, _| node.send(now, id, b"x")), Err(NotSent::NoSession));
}

#[test]
fn a_station_can_be_called_by_address() {
    let mut segment = pair(Peer::asking(requests([])), Peer::default(), 1);
    let address = Address { network: 0, node: mac(1).0, socket: 0 };
    segment.with(0, |now, node, _| node.open(now, Called::Ipx(address)));
    segment.run_until(after(READY, 1));
    assert_eq!(segment.program(0).answers, [7]);
}

#[test]
fn messages_larger_than_a_packet_are_refused_and_the_queue_is_bounded() {
    let mut segment = pair(Peer::default(), Peer { is_slow: true, ..Peer::default() }, 1);
    let id = open(&mut segment, 0, 1);
    segment.run_until(after(READY, 1));
    segment.with(0, |now, node, _| {
        // 802.2: 1500 octets without its header of 3 and IPX's of 30.
        assert_eq!(node.send(now, id, &[0; 1468]), Err(NotSent::TooLong));
        assert_eq!(node.send(now, id, &request(command::NEGOTIATE, 1)), Ok(()));
        for number in 2..6 {
            assert_eq!(node.send(now, id, &request(command::WRITE, number)), Ok(()));
        }
        assert_eq!(node.send(now, id, &request(command::WRITE, 9)), Err(NotSent::Full));
        assert_eq!(node.send(now, SessionId(99), b"x"), Err(NotSent::NoSession));
    });
    // One request at a time: the others wait for its answer.
    segment.run_until(after(READY, 2));
    assert_eq!(segment.program(1).carried_out, 1);
}

#[test]
fn a_slow_server_sends_busy_replies_and_the_client_waits() {
    let mut segment =
        pair(Peer::asking(requests([])), Peer { is_slow: true, ..Peer::default() }, 1);
    open(&mut segment, 0, 1);
    segment.run_until(after(READY, 600));
    assert_eq!(segment.program(1).carried_out, 1);
    assert!(segment.counted(0, "working_received") > 100);
    assert!(segment.program(0).ended.is_empty() && segment.program(1).ended.is_empty());
    segment.with(1, |now, node, program| program.answer(now, node));
    segment.run_until(after(READY, 601));
    assert_eq!(segment.program(0).answers, [7]);
}

#[test]
fn an_unanswered_name_is_not_found_after_three_queries() {
    let mut segment = pair(Peer::default(), Peer::default(), 1);
    for (from, to) in [(0, 7), (1, 0)] {
        let begin = segment.now;
        let id = open(&mut segment, from, to);
        segment.run_until(begin.plus_nanos(1_499_000_000));
        assert!(segment.program(from).ended.is_empty());
        segment.run_until(begin.plus_nanos(1_501_000_000));
        assert_eq!(segment.program(from).ended[&id].1, Why::NameNotFound);
    }
}

#[test]
fn a_name_belongs_to_one_station() {
    let nt = profile::WINDOWS_NT;
    let mut segment = pair(Peer::default(), Peer::default(), 1);
    segment.run_until(READY);
    assert_eq!([0, 1].map(|one| segment.node(one).readiness()), [Readiness::Ready; 2]);
    // The second station takes the name of the first.
    let second = {
        use lanlab_stack::node::{Node, NodeConfig};
        let carriers = CarrierKind::Ipx;
        let node = |station| {
            let config = NodeConfig::new(mac(station), name(0), nt, carriers);
            Node::new(&config, Instant::ZERO)
        };
        vec![(node(0), Peer::default()), (node(1), Peer::default())]
    };
    let mut segment = Segment::of(Topology::Cable, second, 1);
    segment.run_until(READY);
    let ready = [0, 1].map(|one| segment.node(one).readiness());
    assert!(ready.contains(&Readiness::NameInConflict), "{ready:?}");
    let conflicts = [0, 1].map(|one| {
        let events = &segment.program(one).events;
        events.iter().filter(|event| matches!(event, Event::Name(NameEvent::Conflict(..)))).count()
    });
    assert!(conflicts.contains(&1));
}

#[test]
fn sessions_of_one_station_are_separate_and_can_pause() {
    let mut segment = pair(Peer::asking(requests([command::WRITE])), Peer::default(), 1);
    open(&mut segment, 0, 1);
    segment.run_until(after(READY, 1));
    segment.with(0, |_, _, program| {
        program.opened = None;
        program.to_ask = requests([command::WRITE, command::WRITE]);
    });
    let second = open(&mut segment, 0, 1);
    segment.run_until(after(READY, 2));
    let writes: Vec<_> = segment.program(1).writes.values().cloned().collect();
    assert_eq!(writes, [vec![14], vec![14, 21]]);
    // What comes while a session is held back is kept.
    segment.with(0, |now, node, _| {
        node.pause(second);
        node.send(now, second, &request(command::WRITE, 4)).unwrap();
    });
    segment.run_until(after(READY, 3));
    assert_eq!(segment.program(0).answers.len(), 5);
    segment.with(0, |_, node, _| node.resume(second));
    segment.run_until(after(READY, 4));
    assert_eq!(segment.program(0).answers.last(), Some(&28));
}
