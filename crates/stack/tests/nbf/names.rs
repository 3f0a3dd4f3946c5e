//! Names: claims, conflicts, groups.

use lanlab_medium::Topology;
use lanlab_stack::node::Event;
use lanlab_stack::profile::{self, Profile};
use lanlab_wire::netbios_name::Name;

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
        assert_eq!(events(&segment, 0), [Event::Claimed(name(0))]);
    }
}

#[test]
fn a_name_in_use_is_a_conflict_and_its_holder_keeps_it() {
    let mut segment = stations(2, profile::WINDOWS_NT);
    segment.run_until(ms(2_000));
    segment.with(1, |now, node, _| assert!(node.nbf().unwrap().claim(now, name(0), false)));
    segment.run_until(ms(5_000));
    assert_eq!(events(&segment, 1)[1..], [Event::Conflict(name(0), mac(0))]);
    assert_eq!(events(&segment, 0).len(), 1);
    // It may be claimed once the holder gives it up.
    segment.with(0, |_, node, _| node.nbf().unwrap().release(name(0)));
    segment.with(1, |now, node, _| assert!(node.nbf().unwrap().claim(now, name(0), false)));
    segment.run_until(ms(8_000));
    assert_eq!(events(&segment, 1)[2..], [Event::Claimed(name(0))]);
}

#[test]
fn two_stations_that_claim_a_name_at_the_same_time_both_fail() {
    let mut segment = stations(2, profile::WINDOWS_NT);
    segment.run_until(ms(2_000));
    for station in 0..2 {
        segment.with(station, |now, node, _| node.nbf().unwrap().claim(now, name(9), false));
    }
    segment.run_until(ms(5_000));
    assert_eq!(events(&segment, 0)[1..], [Event::Conflict(name(9), mac(1))]);
    assert_eq!(events(&segment, 1)[1..], [Event::Conflict(name(9), mac(0))]);
}

#[test]
fn a_group_name_has_many_members_and_excludes_a_unique_name() {
    let mut segment = stations(3, profile::WINDOWS_NT);
    let group = Name::new("SHOP", 0).unwrap();
    segment.run_until(ms(2_000));
    for station in 0..2 {
        segment.with(station, |now, node, _| node.nbf().unwrap().claim(now, group, true));
    }
    segment.run_until(ms(5_000));
    assert_eq!(events(&segment, 0)[1..], [Event::Claimed(group)]);
    assert_eq!(events(&segment, 1)[1..], [Event::Claimed(group)]);
    segment.with(2, |now, node, _| node.nbf().unwrap().claim(now, group, false));
    segment.run_until(ms(9_000));
    let third = events(&segment, 2);
    // Every member objects; the first objection ends the claim.
    assert_eq!(third.len(), 2, "{third:?}");
    assert!(matches!(third[1], Event::Conflict(found, _) if found == group));
}
