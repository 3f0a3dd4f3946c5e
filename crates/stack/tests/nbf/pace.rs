//! What timers and windows make of the pace: the published stall, the published back-off, frames of a read.

use lanlab_stack::node::Event;
use lanlab_stack::profile::{self, LinkProfile, Profile};

use super::sessions::pair;
use crate::pair::{ms, pattern};
use crate::peer::Peer;

/// Microsoft, Q192496: a sender with a window of one against a receiver that waits T2 of 150 ms for a second
/// frame gets one frame through for each T2.
#[test]
fn a_window_of_one_with_delayed_acknowledgements_moves_10_kb_per_second() {
    let sender = Profile {
        link: LinkProfile { window: profile::DOS.link.window, ..profile::WINDOWS_NT.link },
        ..profile::DOS
    };
    let receiver = profile::WINDOWS_NT;
    assert_eq!((receiver.link.t2_ns, receiver.link.n3), (150_000_000, 2));
    assert_eq!(sender.link.window, 1);
    let sent: Vec<_> = (0..4).map(|index| pattern(index, 65_535)).collect();
    let (mut segment, _) = pair([sender, receiver], [Peer::sending(sent), Peer::sending([])], 1);
    segment.run_until(ms(5_000));
    segment.run_while(ms(100_000), |segment| segment.program(1).received.len() < 4);
    assert_eq!(segment.program(1).received.len(), 4);
    // Without the first second, in which the session was set up and some parts went.
    let first = segment
        .program(1)
        .events
        .iter()
        .find(|(_, event)| matches!(event, lanlab_stack::node::Event::Message(_)));
    let first = first.unwrap().0;
    let bytes = 3.0 * 65_535.0;
    let rate_bytes_per_s = bytes / (segment.now.nanos_since(first) as f64 / 1e9);
    println!("{rate_bytes_per_s:.0} B/s");
    assert!((9_500.0..=10_500.0).contains(&rate_bytes_per_s), "{rate_bytes_per_s} B/s");
}

/// Goodput of 40 messages of 60,000 octets in one direction, as a share of what full frames allow.
fn one_way_share(profile: Profile) -> f64 {
    let sent: Vec<_> = (0..40).map(|index| pattern(index, 60_000)).collect();
    let (mut segment, _) = pair([profile; 2], [Peer::sending(sent), Peer::sending([])], 1);
    segment.run_while(ms(60_000), |segment| segment.program(1).received.len() < 40);
    let events = &segment.program(1).events;
    let times: Vec<_> = events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Message(_)))
        .map(|(at, _)| *at)
        .collect();
    let took_s = times[39].nanos_since(times[0]) as f64 / 1e9;
    let goodput_bps = 39.0 * 60_000.0 * 8.0 / took_s;
    // A part takes 8 + 14 + 18 + 1482 + 4 octets and a gap of 12.
    goodput_bps / (1e7 * 1482.0 / 1538.0)
}

/// Where acknowledgements do not wait for data, the wire is never idle for long.
#[test]
fn a_window_above_one_fills_the_wire() {
    let share = one_way_share(Profile { piggybacks: false, ..profile::WINDOWS_NT });
    println!("{share:.4} of the limit");
    assert!(share > 0.97, "{share}");
}

/// Microsoft, Q90180: in one direction only, each message waits for an acknowledgement that waits for data,
/// until T2 expires.
#[test]
fn delayed_acknowledgements_slow_one_way_traffic() {
    let share = one_way_share(profile::WINDOWS_NT);
    // 50.6 ms of frames (41 parts) in each 150 ms more.
    assert!((0.23..0.27).contains(&share), "{share}");
}
