//! SMB 1 on XNS: a file written and read back, its frames as tshark reads them, its pace.

use std::collections::BTreeMap;

use lanlab_medium::Topology;
use lanlab_stack::nbf::FACTS;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::profile::Profile;
use lanlab_stack::smb::Dialect;

use super::{OF_XEROX, THREE_PLUS, pattern};
use crate::copying::{Copying, Station, check_wire_speed, copy_over};
use crate::segment::{Faults, Segment};
use crate::tshark::fields;

fn copy(
    dialect: Dialect,
    profiles: &[Profile; 2],
    size_bytes: usize,
    lost: u32,
) -> Segment<Station> {
    let copying = Copying::new(dialect, pattern(5, size_bytes), FACTS);
    let faults = Faults { lost, ..Faults::default() };
    copy_over(CarrierKind::Spp, Topology::Cable, (*profiles, dialect), copying, (faults, 11))
}

#[test]
fn files_round_trip_in_every_dialect_despite_frame_loss() {
    for dialect in Dialect::ALL {
        copy(dialect, &[THREE_PLUS; 2], 50_000, 0);
        copy(dialect, &[THREE_PLUS, OF_XEROX], 50_000, 5);
        copy(dialect, &[OF_XEROX, THREE_PLUS], 50_000, 5);
    }
}

type Numbered = BTreeMap<(String, u64), bool>;

#[test]
fn tshark_reads_every_frame_as_idp_with_spp_and_smb() {
    for (of, lost) in [("xns-core", 0), ("xns-lost", 2)] {
        let segment = copy(Dialect::Core, &[THREE_PLUS; 2], 60_000, lost);
        let capture = segment.capture.as_ref().unwrap();
        let names = ["frame.protocols", "_ws.malformed", "idp.packet_type", "spp.type", "eth.src"];
        let numbers = ["spp.ctl.sys", "spp.seq", "spp.ctl.eom"];
        let Some(lines) = fields(capture, of, &[&names[..], &numbers].concat()) else { return };
        assert_eq!(lines.len(), segment.sent.len());
        let columns: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
        let is_numbered = |line: &&Vec<&str>| line[5] == "0";
        let number = |line: &Vec<&str>| (line[4].to_owned(), line[6].parse().unwrap());
        let numbered: Numbered =
            columns.iter().filter(is_numbered).map(|line| (number(line), line[7] == "1")).collect();
        let (mut whole, mut with_smb, mut ends) = (0, 0, vec![]);
        for line in &columns {
            let is_sequenced = line[0].starts_with("eth:ethertype:idp:spp");
            // The question for the name and its answer, and all else.
            assert_eq!(line[2], if is_sequenced { "5" } else { "4" }, "{line:?}");
            with_smb += u32::from(line[0].contains(":smb"));
            if ["0xfe", "0xff"].contains(&line[3]) {
                ends.push(line[3]);
            }
            // tshark reads each part of a message as a whole one: that says something of whole ones only.
            let is_part = is_numbered(&line) && {
                let (from, at) = number(line);
                let before = at.checked_sub(1).and_then(|at| numbered.get(&(from, at)));
                line[7] == "0" || before == Some(&false)
            };
            assert!(is_part || line[1].is_empty(), "{line:?}");
            whole += u32::from(!is_part);
        }
        // All requests to read and answers to write, and what is before and after them; acknowledgements.
        assert!(with_smb > 200 && whole > 80, "{with_smb} {whole}");
        assert_eq!(ends.first().unwrap(), &"0xfe");
        assert!(lost > 0 || ends == ["0xfe", "0xff", "0xff"], "{ends:?}");
    }
}

/// Within a message each third packet waits for its acknowledgement.
#[test]
fn bulk_transfers_run_at_wire_speed() {
    check_wire_speed(&copy(Dialect::Core, &[THREE_PLUS; 2], 300_000, 0), 12, 0, 1.02);
}
