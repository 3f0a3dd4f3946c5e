//! SMB 1 straight on IPX: a file written and read back, its frames as tshark reads them, and its pace.

use lanlab_medium::Topology;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::profile;
use lanlab_stack::redirector::Redirector;
use lanlab_stack::smb::Dialect;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::{Header, framing, socket};
use lanlab_wire::pcap;

use crate::copying::{Copying, Station, check_wire_speed, client_of, copy_over};
use crate::pair::pattern;
use crate::segment::{Faults, Segment, frames};
use crate::tshark::fields;

/// As a session says it in 802.2.
const FACTS: CarrierFacts =
    CarrierFacts { longest_message: 1467, keeps_raw: false, is_one_at_a_time: true };

const LOSS: Faults = Faults { lost: 5, doubled: 0, reordered: 0, longest_delay_ns: 0 };

fn copy(dialect: Dialect, size_bytes: usize, faults: Faults, seed: u64) -> Segment<Station> {
    let copying = Copying::new(dialect, pattern(0, size_bytes), FACTS);
    let of = ([profile::WINDOWS_NT; 2], dialect);
    let segment = copy_over(CarrierKind::Ipx, Topology::Cable, of, copying, (faults, seed));
    // A second request would only wait in the carrier.
    assert_eq!(client_of(&segment).client.facts().unwrap().depth, 1);
    segment
}

#[test]
fn files_round_trip_in_every_dialect_despite_frame_loss() {
    for dialect in Dialect::ALL {
        copy(dialect, 50_000, Faults::default(), 11);
        copy(dialect, 50_000, LOSS, 11);
    }
}

fn requests_in(capture: &[u8]) -> u64 {
    let is_request = |(_, frame): &(u64, &[u8])| {
        let packet = framing::packet(&Frame::parse(frame).unwrap()).unwrap().0;
        Header::parse(packet).unwrap().0.destination.socket == socket::SMB_SERVER
    };
    frames(&capture[pcap::FILE_HEADER_OCTETS..]).iter().filter(|one| is_request(one)).count() as u64
}

#[test]
fn multi_packet_reads_and_writes_survive_loss_duplicates_and_delays() {
    for seed in 0..60 {
        let longest_delay_ns = [1, 5, 300][seed as usize % 3] * 1_000_000;
        let faults = Faults { lost: 5, doubled: 10, reordered: 10, longest_delay_ns };
        let mut segment = copy(Dialect::Nt, 60_000, faults, seed);
        let keys = ["information_sent", "information_sent_again"];
        let [sent, again] = keys.map(|key| segment.counted(0, key));
        // Each packet of the client is counted as sent, or as sent again.
        assert_eq!(sent + again, requests_in(segment.capture.as_ref().unwrap()), "{seed}");
        assert!(again > 0, "{seed}");
    }
}

#[test]
fn tshark_reads_every_frame_as_ipx_with_names_or_smb() {
    // Reads and writes of a packet each; and those whose data is in several packets, as Windows NT announces it.
    for (dialect, of, read, write) in
        [(Dialect::Core, "ipx-core", "0x0a", "0x0b"), (Dialect::Nt, "ipx-nt", "0x1b", "0x1e")]
    {
        let segment = copy(dialect, 60_000, Faults { lost: 2, ..Faults::default() }, 11);
        let capture = segment.capture.as_ref().unwrap();
        let names =
            ["frame.protocols", "_ws.malformed", "nmpi.opcode", "smb.cmd", "ipxrip.request"];
        let Some(lines) = fields(capture, of, &names) else { return };
        assert_eq!(lines.len(), segment.sent.len());
        let (mut reads, mut writes, mut with_names) = (0, 0, 0);
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns[1], "", "{line}");
            assert!(columns[0].contains("ipx"), "{line}");
            with_names += u32::from(!columns[2].is_empty());
            reads += u32::from(columns[3] == read);
            writes += u32::from(columns[3] == write);
            let kinds = columns[2..].iter().filter(|column| !column.is_empty());
            assert_eq!(kinds.count(), 1, "{line}");
        }
        // Three claims of each station, a query and its answer.
        assert!(with_names >= 8, "{with_names}");
        assert!(reads > 43 && writes > 43, "{dialect:?}: {reads}, {writes}");
    }
}

#[test]
fn bulk_transfers_run_at_wire_speed() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        // 2.5 µs to the other end.
        check_wire_speed(&copy(dialect, 300_000, Faults::default(), 11), 0, 2_500, 1.005);
    }
}
