//! Sessions: names, messages both ways, acknowledgements, windows, silence, end.

use lanlab_stack::node::{CarrierKind, Event, NameEvent, Node, NodeConfig};
use lanlab_stack::node::{Readiness, Why};
use lanlab_stack::profile::{self, WINDOWS_9X, WINDOWS_NT, WINDOWS_WFW};
use lanlab_units::Instant;

use super::{ms, open, pair, pattern};
use crate::peer::Peer;
use crate::segment::{Faults, Segment, mac, name};

#[test]
fn packet_size_is_the_smaller_limit_of_both_ends() {
    // 802.2: 1500 octets without its header of 3, IPX's of 30 and that of the session of 18.
    for (callee, longest) in [(WINDOWS_NT, 1449), (WINDOWS_9X, 1440), (WINDOWS_WFW, 1424)] {
        let (mut segment, _) =
            pair([WINDOWS_NT, callee], [Peer::sending([pattern(1, 2 * longest)]), Peer::default()]);
        segment.run_until(ms(5_000));
        assert_eq!(segment.counted(0, "information_sent"), 2, "{}", callee.name);
        let (mut segment, _) = pair(
            [callee, WINDOWS_NT],
            [Peer::sending([pattern(1, 2 * longest + 1)]), Peer::default()],
        );
        segment.run_until(ms(5_000));
        assert_eq!(segment.counted(0, "information_sent"), 3, "{}", callee.name);
    }
}

/// A message of one packet is acknowledged with data, or after 250 ms; within a message when its window is full.
#[test]
fn acknowledgements_are_delayed_except_for_a_full_window() {
    let (mut segment, _) =
        pair([WINDOWS_NT; 2], [Peer::sending([pattern(0, 10)]), Peer::default()]);
    segment.run_until(ms(4_240));
    assert_eq!((segment.program(1).received.len(), segment.program(0).unacknowledged), (1, 1));
    segment.run_until(ms(4_260));
    assert_eq!(segment.program(0).unacknowledged, 0);
    // 41 packets of 1449 octets: after each four the window is used up; the last one waits again.
    let (mut segment, _) =
        pair([WINDOWS_NT; 2], [Peer::sending([pattern(0, 41 * 1449)]), Peer::default()]);
    segment.run_until(ms(4_200));
    assert_eq!(segment.program(1).received.len(), 1);
    assert_eq!(segment.program(0).unacknowledged, 1);
    // The answer of the call, and ten acknowledgements.
    assert_eq!(segment.counted(1, "supervisory_sent"), 11);
    // The last one is acknowledged, and nothing else is due.
    segment.run_until(ms(4_500));
    assert_eq!(segment.counted(1, "supervisory_sent"), 12);
    // A stack that does not let them wait for data.
    let (mut segment, _) =
        pair([WINDOWS_NT, profile::DOS], [Peer::sending([pattern(0, 10)]), Peer::default()]);
    segment.run_until(ms(4_010));
    assert_eq!(segment.program(0).unacknowledged, 0);
}

#[test]
fn missing_fragments_are_requested_and_resent_at_once() {
    let sent = vec![pattern(0, 60_000)];
    for seed in 0..20 {
        let (mut segment, _) =
            pair([WINDOWS_NT; 2], [Peer::sending(sent.clone()), Peer::default()]);
        segment.faults =
            Faults { doubled: seed, reordered: 10, longest_delay_ns: 3_000_000, lost: 0 };
        segment.run_until(ms(5_500));
        assert!(segment.program(1).received == sent, "{seed}");
    }
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::sending(sent.clone()), Peer::default()]);
    segment.run_until(ms(4_010));
    segment.faults.lost = 10;
    segment.run_until(ms(60_000));
    assert!(segment.program(1).received == sent);
    assert!(segment.counted(1, "rejects_sent") > 0 && segment.counted(0, "rejects_received") > 0);
}

#[test]
fn unknown_names_are_not_found_and_non_listeners_do_not_answer() {
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::default(), Peer::default()]);
    for (from, to, after_ms, why) in
        [(0, 7, 1_500, Why::NameNotFound), (1, 0, 5_000, Why::NoAnswer)]
    {
        let begin = segment.now;
        let id = open(&mut segment, from, to);
        segment.run_until(begin.plus_nanos((after_ms - 1) * 1_000_000));
        assert!(segment.program(from).ended.is_empty());
        segment.run_until(begin.plus_nanos((after_ms + 3) * 1_000_000));
        assert_eq!(segment.program(from).ended[&id], why);
    }
}

#[test]
fn a_name_belongs_to_one_station() {
    let node = |station| {
        let carriers = CarrierKind::Nbipx;
        let config = NodeConfig::new(mac(station), name(0), WINDOWS_NT, carriers);
        (Node::new(&config, Instant::ZERO), Peer::sending([]))
    };
    let topology = lanlab_medium::Topology::Cable;
    let mut segment = Segment::of(topology, vec![node(0), node(1)], 1);
    segment.run_until(ms(4_000));
    let ready = [0, 1].map(|one| segment.node(one).readiness());
    assert!(ready.contains(&Readiness::NameInConflict), "{ready:?}");
    let has_heard = |one| {
        let mut events = segment.program(one).events.iter();
        events.any(|(_, event)| matches!(event, Event::Name(NameEvent::Conflict(..))))
    };
    assert!(has_heard(0) || has_heard(1));
}
