//! Names: claims and conflicts.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Event, NameEvent, Node, NodeConfig, Readiness};
use lanlab_stack::profile::{self, Profile};
use lanlab_units::Instant;

use super::hostile::station;
use crate::pair::ms;
use crate::peer::Peer;
use crate::segment::{Segment, mac, name};

fn stations(count: usize, profile: Profile) -> Segment<Peer> {
    let programs = (0..count).map(|_| (profile, Peer::sending([]))).collect();
    Segment::new(Topology::Bus, programs, 3)
}

fn events(segment: &Segment<Peer>, station: usize) -> Vec<Event> {
    segment.program(station).events.iter().map(|(_, event)| event.clone()).collect()
}

#[test]
fn a_name_is_claimed_after_all_queries_stay_unanswered() {
    for (profile, after_ms) in [(profile::WINDOWS_NT, 1_500), (profile::IBM, 3_000)] {
        let mut segment = stations(2, profile);
        segment.run_until(ms(after_ms - 1));
        assert_eq!(events(&segment, 0), []);
        segment.run_until(ms(after_ms));
        assert_eq!(events(&segment, 0), [Event::Name(NameEvent::Claimed(name(0)))]);
    }
}

fn same_name(station: usize, now: Instant) -> Node {
    let (own, profile) = (mac(station), profile::WINDOWS_NT);
    Node::new(&NodeConfig::new(own, name(0), profile, CarrierKind::Nbf), now)
}

/// What becomes of a name that two stations want, when each hears the other.
fn meet(nodes: &mut [Node; 2], mut now: Instant) -> [Vec<Event>; 2] {
    let (mut frame, mut message, mut events) = (vec![], vec![], [vec![], vec![]]);
    loop {
        for from in [0, 1, 0, 1] {
            while nodes[from].poll_transmit(now, &mut frame) {
                nodes[1 - from].handle_frame(now, &frame);
            }
        }
        for (node, events) in nodes.iter_mut().zip(&mut events) {
            events.extend(std::iter::from_fn(|| node.poll_event(&mut message)));
        }
        let Some(at) = nodes.iter().filter_map(Node::poll_timeout).min() else { return events };
        now = at;
        for node in nodes.iter_mut() {
            node.handle_timeout(now);
        }
    }
}

#[test]
fn a_name_in_use_is_a_conflict_and_its_holder_keeps_it() {
    let (holder, now) = station();
    let mut nodes = [holder, same_name(1, now)];
    let conflict = Event::Name(NameEvent::Conflict(name(0), mac(0)));
    assert_eq!(meet(&mut nodes, now), [vec![], vec![conflict]]);
    let ready = nodes.map(|node| node.readiness());
    assert_eq!(ready, [Readiness::Ready, Readiness::NameInConflict]);
}

#[test]
fn two_stations_that_claim_a_name_at_the_same_time_both_fail() {
    let mut nodes = [0, 1].map(|station| same_name(station, Instant::ZERO));
    let conflict = |other| vec![Event::Name(NameEvent::Conflict(name(0), mac(other)))];
    assert_eq!(meet(&mut nodes, Instant::ZERO), [conflict(1), conflict(0)]);
}
