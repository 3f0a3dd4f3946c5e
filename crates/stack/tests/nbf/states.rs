//! States of adapters with more names than fit into one frame.

use lanlab_medium::Topology;
use lanlab_stack::node::Event;
use lanlab_stack::profile;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{AdapterStatus, NameEntry};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::pcap;

use crate::pair::ms;
use crate::peer::Peer;
use crate::segment::{Segment, mac, name};
use crate::tshark::fields;

fn group(number: usize) -> Name {
    Name::new(&format!("GROUP{number}"), 0).unwrap()
}

/// The first station asks; the second has its own name and those of this many groups.
fn stations(groups: usize, seed: u64) -> Segment<Peer> {
    let programs = (0..2).map(|_| (profile::WINDOWS_NT, Peer::sending([]))).collect();
    let mut segment = Segment::new(Topology::Cable, programs, seed);
    segment.run_until(ms(2_000));
    for first in (0..groups).step_by(100) {
        segment.with(1, |now, node, _| {
            for number in first..groups.min(first + 100) {
                assert!(node.nbf().unwrap().claim(now, group(number), true));
            }
        });
        let until = segment.now.plus_nanos(2_000_000_000);
        segment.run_until(until);
    }
    segment
}

/// Ask the second station, and give what the first one hears until the query has ended.
fn states(segment: &mut Segment<Peer>) -> Vec<(Mac, Box<AdapterStatus>)> {
    segment.with(0, |now, node, _| node.nbf().unwrap().query_status(now, name(1))).unwrap();
    let until = segment.now.plus_nanos(3_000_000_000);
    segment.run_until(until);
    let last = segment.program(0).events.last();
    assert!(matches!(last, Some((_, Event::QueryFinished(_)))), "{last:?}");
    heard(segment).collect()
}

fn heard(segment: &Segment<Peer>) -> impl Iterator<Item = (Mac, Box<AdapterStatus>)> {
    segment.program(0).events.iter().filter_map(|(_, event)| match event {
        Event::Status { station, status, .. } => Some((*station, status.clone())),
        _ => None,
    })
}

fn names(status: &AdapterStatus) -> Vec<(Name, u8)> {
    status.names.iter().map(|entry| (entry.name, entry.state)).collect()
}

fn expected(groups: usize) -> Vec<(Name, u8)> {
    let of_groups = (0..groups).map(|number| (group(number), 0x84));
    std::iter::once((name(1), NameEntry::REGISTERED)).chain(of_groups).collect()
}

#[test]
fn adapter_names_span_as_many_frames_as_needed() {
    // A frame holds 77 names behind the state, and 80 without it.
    for groups in [1, 76, 77, 156, 157, 253] {
        let mut segment = stations(groups, 3);
        let states = states(&mut segment);
        // One for each of three queries.
        assert_eq!(states.len(), 3, "{groups} groups");
        for (station, status) in states {
            assert_eq!((station, status.mac), (mac(1), mac(1)));
            assert_eq!(usize::from(status.name_count), groups + 1);
            assert_eq!(names(&status), expected(groups));
        }
    }
}

#[test]
fn lost_status_frames_are_requested_by_the_next_query() {
    let mut segment = stations(200, 3);
    segment.keeps_sent = true;
    segment.sent.clear();
    segment.with(0, |now, node, _| node.nbf().unwrap().query_status(now, name(1))).unwrap();
    // The query, its answer, and the query for what follows, which is lost.
    let until = segment.now.plus_nanos(100_000_000);
    assert!(segment.run_while(until, |segment| segment.sent.len() < 3));
    segment.faults.lost = 100;
    segment.run_until(until);
    segment.faults.lost = 0;
    let until = until.plus_nanos(3_000_000_000);
    segment.run_until(until);
    let states: Vec<_> = heard(&segment).collect();
    // The second query of three has mended it.
    assert_eq!(states.len(), 2);
    for (_, status) in states {
        assert_eq!(names(&status), expected(200));
    }
}

#[test]
fn missing_names_are_reported_with_the_known_ones() {
    let (mut whole, mut cut) = (0, 0);
    for seed in 0..20 {
        let mut segment = stations(200, seed);
        segment.faults.lost = 30;
        for (_, status) in states(&mut segment) {
            assert_eq!(usize::from(status.name_count), 201);
            let found = names(&status);
            assert_eq!(found, expected(200)[..found.len()]);
            if found.len() == 201 {
                whole += 1;
            } else {
                cut += 1;
            }
        }
    }
    assert!(whole > 5 && cut > 5, "{whole} whole, {cut} cut");
}

#[test]
fn tshark_reads_how_many_names_were_sent_and_that_the_frame_was_too_short() {
    let mut segment = stations(200, 3);
    let mut capture = vec![];
    pcap::emit_header(&mut capture);
    segment.capture = Some(capture);
    states(&mut segment);
    let capture = segment.capture.take().unwrap();
    let asked = ["netbios.command", "netbios.data2.frame", "netbios.data2.user", "_ws.malformed"];
    let Some(lines) = fields(&capture, "states", &asked) else { return };
    let answers: Vec<_> = lines.iter().filter(|line| line.starts_with("0x0f")).collect();
    let is_cut = |line: &&&String| line.contains("\t1\t0\t") || line.contains("\tTrue\tFalse\t");
    assert_eq!(answers.len(), 9, "{lines:?}");
    assert_eq!(answers.iter().filter(is_cut).count(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.ends_with('\t')), "{lines:?}");
}
