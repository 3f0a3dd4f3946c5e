//! Two stations with a session between them, over any carrier.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Peer as Called, SessionId};
use lanlab_stack::profile::Profile;
use lanlab_units::Instant;

use crate::peer::Peer;
use crate::segment::{Segment, name};

pub fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

pub fn pattern(message: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + message * 13 + at / 251) as u8).collect()
}

/// A caller and a station that listens: after their names are claimed, the session is being opened.
pub fn pair_over(
    carrier: CarrierKind,
    [calling, called]: [Profile; 2],
    [from, to]: [Peer; 2],
    seed: u64,
) -> (Segment<Peer>, SessionId) {
    let programs = vec![(calling, from), (called, to)];
    let mut segment = Segment::over(carrier, Topology::Cable, programs, seed);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    let id = open_over(&mut segment, 0, 1);
    (segment, id)
}

pub fn open_over(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    segment.with(from, |now, node, _| node.open(now, Called::Name(name(to))))
}
