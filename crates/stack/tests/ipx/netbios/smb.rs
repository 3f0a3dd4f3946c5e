//! SMB 1 in sessions of NetBIOS over IPX: a file written and read back, its frames as tshark reads them, its pace.

use lanlab_medium::Topology;
use lanlab_stack::nbf::FACTS;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::profile::{Profile, WINDOWS_9X, WINDOWS_NT};
use lanlab_stack::smb::Dialect;

use super::pattern;
use crate::copying::{Copying, Station, check_wire_speed, copy_over};
use crate::segment::{Faults, Segment};
use crate::tshark::fields;

fn copy(dialect: Dialect, profile: Profile, size_bytes: usize, lost: u32) -> Segment<Station> {
    let copying = Copying::new(dialect, pattern(5, size_bytes), FACTS);
    let faults = Faults { lost, ..Faults::default() };
    let of = ([profile; 2], dialect);
    copy_over(CarrierKind::Nbipx, Topology::Cable, of, copying, (faults, 11))
}

#[test]
fn files_round_trip_in_every_dialect_despite_frame_loss() {
    for dialect in Dialect::ALL {
        copy(dialect, WINDOWS_NT, 50_000, 0);
        copy(dialect, WINDOWS_9X, 50_000, 5);
    }
}

#[test]
fn tshark_reads_every_frame_as_nbipx() {
    for (dialect, of) in [(Dialect::Core, "nbipx-core"), (Dialect::Nt, "nbipx-nt")] {
        let segment = copy(dialect, WINDOWS_NT, 60_000, 2);
        let capture = segment.capture.as_ref().unwrap();
        let names = ["frame.protocols", "_ws.malformed", "nmpi.packettype", "ipxrip.request"];
        let Some(lines) = fields(capture, of, &names) else { return };
        assert_eq!(lines.len(), segment.sent.len());
        let (mut with_smb, mut with_names) = (0, 0);
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns[1], "", "{line}");
            assert!(columns[2].is_empty() == (columns[3] == "1"), "{line}");
            with_names += u32::from(["0x01", "0x02", "0x03"].contains(&columns[2]));
            with_smb += u32::from(columns[0].contains(":smb"));
        }
        // Three claims of each station, a query and its answer.
        assert!(with_names >= 8, "{with_names}");
        assert!(with_smb > 20, "{with_smb}");
    }
}

/// Within a message each fourth packet waits for its acknowledgement.
#[test]
fn bulk_transfers_run_at_wire_speed() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        check_wire_speed(&copy(dialect, WINDOWS_NT, 300_000, 0), 12, 0, 1.02);
    }
}
