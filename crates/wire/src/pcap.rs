//! Files of captured frames, as tcpdump and Wireshark read them: the format of libpcap 2.4 with
//! nanoseconds (draft-ietf-opsawg-pcap, sections 4 and 5), little-endian, Ethernet frames without
//! check sequence.

const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LINK_TYPE: u32 = 1;
const SNAP_LENGTH: u32 = 262_144;

pub const FILE_HEADER_OCTETS: usize = 24;
pub const RECORD_HEADER_OCTETS: usize = 16;

pub fn emit_header(into: &mut Vec<u8>) {
    into.extend_from_slice(&MAGIC.to_le_bytes());
    for part in VERSION {
        into.extend_from_slice(&part.to_le_bytes());
    }
    // Time zone and accuracy of times: unused, zero.
    into.extend_from_slice(&[0; 8]);
    into.extend_from_slice(&SNAP_LENGTH.to_le_bytes());
    into.extend_from_slice(&LINK_TYPE.to_le_bytes());
}

/// Write a frame with its time, nanoseconds since 1970.
pub fn emit_record(realtime_ns: u64, frame: &[u8], into: &mut Vec<u8>) {
    let seconds = (realtime_ns / 1_000_000_000) as u32;
    let nanoseconds = (realtime_ns % 1_000_000_000) as u32;
    let length = frame.len() as u32;
    for word in [seconds, nanoseconds, length, length] {
        into.extend_from_slice(&word.to_le_bytes());
    }
    into.extend_from_slice(frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_fields_of_the_format_in_their_places() {
        let mut file = Vec::new();
        emit_header(&mut file);
        assert_eq!(file.len(), FILE_HEADER_OCTETS);
        assert_eq!(file[..8], [0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(file[20..], [1, 0, 0, 0]);
        emit_record(1_700_000_000_000_000_007, &[0xab; 60], &mut file);
        assert_eq!(file.len(), 24 + RECORD_HEADER_OCTETS + 60);
        assert_eq!(file[24..28], 1_700_000_000_u32.to_le_bytes());
        assert_eq!(file[28..40], [7, 0, 0, 0, 60, 0, 0, 0, 60, 0, 0, 0]);
    }
}
