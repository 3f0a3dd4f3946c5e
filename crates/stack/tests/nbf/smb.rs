//! SMB 1 over two nodes: a file written and read back.

use lanlab_medium::Topology;
use lanlab_stack::nbf;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::profile::{self, Profile};
use lanlab_stack::smb::Dialect;
use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::llc::{Control, Header};
use lanlab_wire::nbf::{SessionCommand, SessionHeader};
use lanlab_wire::pcap;

use crate::copying::{Copying, Stage, Station, client_of, copy_over};
use crate::pair::pattern;
use crate::segment::{Faults, Segment, frames, mac};

/// Write a file and read it back. Gives the segment with its capture.
pub fn copy(
    dialect: Dialect,
    profile: Profile,
    size_bytes: usize,
    (lost, read_bytes): (u32, Option<u32>),
) -> Segment<Station> {
    let mut copying = Copying::new(dialect, pattern(5, size_bytes), nbf::FACTS);
    copying.read_bytes = read_bytes;
    let faults = Faults { lost, ..Faults::default() };
    copy_over(CarrierKind::Nbf, Topology::Bus, ([profile; 2], dialect), copying, (faults, 11))
}

#[test]
fn files_round_trip_in_every_dialect_and_profile() {
    for profile in profile::ALL {
        for dialect in Dialect::ALL {
            copy(dialect, profile, 50_000, (0, None));
        }
    }
}

#[test]
fn files_round_trip_at_5_percent_frame_loss() {
    for dialect in [Dialect::Core, Dialect::Nt] {
        copy(dialect, profile::WINDOWS_NT, 100_000, (5, None));
    }
}

/// Frames between two times by what they are: I frames from each end by command, and S frames.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    requests: u32,
    data: u32,
    data_acks: u32,
    supervisory: u32,
}

fn count(segment: &Segment<Station>, from: Instant, to: Instant) -> Count {
    let mut count = Count::default();
    let capture = segment.capture.as_ref().unwrap();
    let base_ns = 800_000_000_000_000_000;
    for (at_ns, frame) in frames(&capture[pcap::FILE_HEADER_OCTETS..]) {
        let at = Instant::from_nanos(at_ns - base_ns);
        if at < from || at >= to {
            continue;
        }
        let frame = Frame::parse(frame).unwrap();
        let (header, information) = Header::parse(frame.payload).unwrap();
        match header.control {
            Control::Supervisory { .. } => count.supervisory += 1,
            Control::Information { .. } => {
                let (session, _) = SessionHeader::parse(information).unwrap();
                if session.command == SessionCommand::DataAck {
                    count.data_acks += 1;
                } else if frame.header.source == mac(0) {
                    count.requests += 1;
                } else {
                    count.data += 1;
                }
            }
            Control::Unnumbered { .. } => {}
        }
    }
    count
}

/// What one core READ of 4 KB costs: one request, three frames of data, acknowledgements by the profile.
#[test]
fn a_4_kb_core_read_takes_as_many_frames_as_its_profile_says() {
    let per_read = |profile: Profile| {
        let segment = copy(Dialect::Core, profile, 200_000, (0, Some(4096)));
        let reads: Vec<Instant> = client_of(&segment)
            .times
            .iter()
            .filter(|(stage, _)| *stage == Stage::Reading)
            .map(|(_, at)| *at)
            .collect();
        // Ten reads from the third on: the first one asks for RECEIVE CONTINUE.
        count(&segment, reads[3], reads[13])
    };
    // With piggy-backing no frame only acknowledges a message.
    let nt = per_read(profile::WINDOWS_NT);
    println!("{nt:?}");
    assert_eq!((nt.requests, nt.data, nt.data_acks), (10, 30, 0));
    // N3 of 2: an RR for each second frame that does not go with an I frame.
    assert_eq!(nt.supervisory, 10);
    // Without, each message costs a DATA ACK, and each frame an RR that does not go with an I frame.
    let dos = per_read(profile::DOS);
    println!("{dos:?}");
    assert_eq!((dos.requests, dos.data, dos.data_acks), (10, 30, 20));
}
