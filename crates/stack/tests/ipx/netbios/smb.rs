//! SMB 1 in sessions of NetBIOS over IPX: a file written and read back, its frames as tshark reads them, its pace.

use lanlab_medium::Topology;
use lanlab_stack::nbf::FACTS;
use lanlab_stack::node::{CarrierKind, Peer as Called};
use lanlab_stack::profile::{Profile, WINDOWS_9X, WINDOWS_NT};
use lanlab_stack::smb::Dialect;
use lanlab_wire::pcap;

use super::{ms, pattern};
use crate::copying::{Copying, Serving, Stage, Station, client_of};
use crate::segment::{Segment, name};
use crate::tshark::fields;

/// Write a file and read it back. Gives the segment with its capture.
fn copy(dialect: Dialect, profile: Profile, size_bytes: usize, lost: u32) -> Segment<Station> {
    let copying = Copying::new(dialect, pattern(5, size_bytes), FACTS);
    let client = Station::Client(Box::new(copying));
    let server = Station::Server(Box::new(Serving::new(dialect)));
    let programs = vec![(profile, client), (profile, server)];
    let mut segment = Segment::over(CarrierKind::Nbipx, Topology::Cable, programs, 11);
    let mut capture = vec![];
    pcap::emit_header(&mut capture);
    segment.capture = Some(capture);
    segment.keeps_sent = true;
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    segment.faults.lost = lost;
    let id = segment
        .with(0, |now, node, _| node.open(now, CarrierKind::Nbipx, Called::Name(name(1))).unwrap());
    let is_done =
        segment.run_while(ms(3_000_000), |segment| client_of(segment).stage != Stage::Ending);
    assert!(is_done, "{dialect:?}: in {:?}", client_of(&segment).stage);
    segment.with(0, |now, node, _| node.close(now, id));
    assert!(client_of(&segment).read == client_of(&segment).octets);
    segment
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

/// Requests and answers follow each other, and within a message each fourth packet waits for its acknowledgement.
#[test]
fn bulk_transfers_run_at_wire_speed() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        let segment = copy(dialect, WINDOWS_NT, 300_000, 0);
        for stage in [Stage::Writing, Stage::Reading] {
            let (from, to) = client_of(&segment).span(stage);
            let within = segment.sent.iter().filter(|(at, ..)| (from..to).contains(at));
            // Bits at 10 Mbit/s with the gap behind, and 2.5 µs to the other end.
            let frames_ns: u64 = within.map(|(_, bytes, _)| u64::from(*bytes + 12) * 800).sum();
            let share = frames_ns as f64 / to.nanos_since(from) as f64;
            println!("{dialect:?} {stage:?}: {share:.4}");
            assert!((0.97..=1.02).contains(&share), "{dialect:?} {stage:?}: {share}");
        }
    }
}
