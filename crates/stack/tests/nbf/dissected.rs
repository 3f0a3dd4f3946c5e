//! Frames of the offline medium as tshark reads them.

use lanlab_stack::profile;
use lanlab_stack::smb::Dialect;
use lanlab_wire::pcap;

use super::smb::copy;
use crate::segment::frames;
use crate::tshark::fields;

#[test]
fn tshark_reads_every_frame_as_llc_netbios_or_smb() {
    for (dialect, profile, of) in [
        (Dialect::Core, profile::DOS, "core-dos"),
        (Dialect::Nt, profile::WINDOWS_NT, "nt-nt"),
        (Dialect::LanMan2, profile::IBM, "lanman-ibm"),
    ] {
        let segment = copy(dialect, profile, 120_000, (2, None));
        let capture = segment.capture.as_ref().unwrap();
        let names = ["frame.protocols", "_ws.malformed", "netbios.unknown_command_data"];
        let Some(lines) = fields(capture, &format!("nbf-{of}"), &names) else { return };
        let sent = frames(&capture[pcap::FILE_HEADER_OCTETS..]);
        assert_eq!(lines.len(), sent.len());
        let mut with_smb = 0;
        for (line, (_, frame)) in lines.iter().zip(sent) {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns[1..], ["", ""], "{line}: {}", hex::encode(frame));
            // Every part of a message and every frame of names is of NetBIOS; S and U frames are not.
            let is_netbios = frame.get(14..16).is_some_and(|saps| saps[0] == 0xf0)
                && frame[18..].windows(2).take(3).any(|pair| pair == [0xff, 0xef]);
            let expected = if is_netbios { "eth:llc:netbios" } else { "eth:llc" };
            assert!(columns[0].starts_with(expected), "{line}: {}", hex::encode(frame));
            with_smb += u32::from(columns[0].contains(":smb"));
        }
        assert!(with_smb > 15, "{with_smb} frames of SMB");
    }
}
