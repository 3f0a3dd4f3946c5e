//! Stations with SMB on XNS on the offline medium, in virtual time.

#[path = "../nbf/chance.rs"]
mod chance;
#[path = "../nbf/copying.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod copying;
mod datagrams;
mod hostile;
#[path = "../nbf/peer.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod peer;
#[path = "../nbf/schedule.rs"]
mod schedule;
mod schedules;
#[path = "../nbf/segment.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod segment;
mod sessions;
mod smb;
mod stranger;
#[path = "../nbf/tshark.rs"]
mod tshark;

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Peer as Called, SessionId};
use lanlab_stack::profile::{Profile, WINDOWS_NT};
use lanlab_stack::xns::profile::XEROX;
use lanlab_units::Instant;

use peer::Peer;
use segment::{Segment, name};

/// A stack with 3+, and one as Xerox has it.
const THREE_PLUS: Profile = WINDOWS_NT;
const OF_XEROX: Profile = Profile { name: "xerox", xns: &XEROX, ..WINDOWS_NT };

/// A time in milliseconds.
fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// Octets that say where they belong.
fn pattern(message: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + message * 13 + at / 251) as u8).collect()
}

/// A caller and a station that listens: the session is being opened.
fn pair([calling, called]: [Profile; 2], [from, to]: [Peer; 2]) -> (Segment<Peer>, SessionId) {
    let programs = vec![(calling, from), (called, to)];
    let mut segment = Segment::over(CarrierKind::Spp, Topology::Cable, programs, 1);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    let id = open(&mut segment, 0, 1);
    (segment, id)
}

/// Have a station call another one.
fn open(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    segment.with(from, |now, node, _| {
        node.open(now, CarrierKind::Spp, Called::Name(name(to))).unwrap()
    })
}
