//! Bulk transfer by SMB 1: how much of the time the wire carries data.

use lanlab_medium::Topology;
use lanlab_stack::nbf;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::profile;
use lanlab_stack::smb::Dialect;

use crate::copying::{Copying, Stage, client_of, copy_over};
use crate::pair::pattern;
use crate::segment::Faults;

/// The share of the time in which the I frames were on the wire: in writing, then in reading.
fn shares(topology: Topology, dialect: Dialect) -> [f64; 2] {
    let copying = Copying::new(dialect, pattern(5, 1_000_000), nbf::FACTS);
    let of = ([profile::WINDOWS_NT; 2], dialect);
    let segment = copy_over(CarrierKind::Nbf, topology, of, copying, (Faults::default(), 11));
    [Stage::Writing, Stage::Reading].map(|stage| {
        let (from, to) = client_of(&segment).span(stage);
        let wire_bytes: u64 = segment
            .sent
            .iter()
            .filter(|(at, _, is_information)| *is_information && (from..to).contains(at))
            .map(|(_, bytes, _)| u64::from((*bytes).max(72)) + 12)
            .sum();
        let share = wire_bytes as f64 * 800.0 / to.nanos_since(from) as f64;
        println!("{topology} {dialect:?} {stage:?}: {share:.4}");
        share
    })
}

/// On a full-duplex cable acknowledgements of the link go at the same time as the data: only requests, data and
/// replies take time. A reply does not wait for the gap after the request, hence a little above 1.
#[test]
fn bulk_transfers_run_at_wire_speed() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        for share in shares(Topology::Cable, dialect) {
            assert!((0.97..=1.005).contains(&share), "{dialect:?}: {share}");
        }
    }
}

/// On a bus the acknowledgement and the next frame wait for the same carrier, and collide.
#[test]
fn on_a_bus_acknowledgements_collide_with_data() {
    for share in shares(Topology::Bus, Dialect::Nt) {
        assert!((0.75..0.97).contains(&share), "{share}");
    }
}
