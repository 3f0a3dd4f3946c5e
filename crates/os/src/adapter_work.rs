//! Work that kernels leave to the adapter, and that a packet socket sees undone: checksums, and splitting of long
//! TCP segments. Virtual adapters and bridges pass such frames on; receive offloads also join segments.
//!
//! Source: Virtual I/O Device 1.2, 5.1.6 (`virtio_net_hdr`), which the kernel gives with `PACKET_VNET_HDR`.

use std::collections::VecDeque;

pub const HEADER_BYTES: usize = 10;
/// The checksum from `csum_start` on must be computed; its field holds the pseudo-header's sum.
const NEEDS_CHECKSUM: u8 = 1;
/// Kinds of segments to split, without the ECN bit.
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const ECN: u8 = 0x80;
const ETHERNET_BYTES: usize = 14;
/// TCP flags of only the last segment, and of only the first.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undone {
    checksum: Option<(usize, usize)>,
    cut: Option<(usize, usize)>,
}

impl Undone {
    pub fn parse(header: [u8; HEADER_BYTES]) -> Self {
        let [flags, kind, ..] = header;
        let number = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let (start, offset, size) = (number(6), number(8), number(4));
        let checksum = (flags & NEEDS_CHECKSUM != 0).then_some((start, offset));
        let is_tcp = matches!(kind & !ECN, TCP_IPV4 | TCP_IPV6) && checksum.is_some() && size > 0;
        Self { checksum, cut: is_tcp.then_some((size, start)) }
    }

    pub fn is_long(&self) -> bool {
        self.cut.is_some()
    }

    pub fn complete(&self, frame: &mut [u8]) {
        if let Some((start, offset)) = self.checksum
            && start + offset + 2 <= frame.len()
        {
            let own = checksum(&frame[start..]);
            frame[start + offset..start + offset + 2].copy_from_slice(&own);
        }
    }

    /// The frames that an adapter would make of a long one; none if it is not TCP over IP.
    pub fn segments(&self, frame: &[u8]) -> VecDeque<Vec<u8>> {
        self.cut_up(frame).unwrap_or_default()
    }

    fn cut_up(&self, frame: &[u8]) -> Option<VecDeque<Vec<u8>>> {
        let (size, start) = self.cut?;
        let ip = ETHERNET_BYTES;
        let is_ipv4 = frame.get(ip)? >> 4 == 4;
        let headers = start + usize::from(*frame.get(start + 12)? >> 4) * 4;
        let length = |at: usize| {
            Some(usize::from(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?])))
        };
        // Padding after the packet is not data.
        let end = if is_ipv4 { ip + length(ip + 2)? } else { ip + 40 + length(ip + 4)? };
        let data = frame.get(headers..end.min(frame.len()))?;
        if start < ip + if is_ipv4 { 20 } else { 40 } || headers < start + 20 {
            return None;
        }
        let pseudo_length = (end - start) as u16;
        let mut all = VecDeque::new();
        for (number, part) in data.chunks(size).enumerate() {
            let mut segment = [&frame[..headers], part].concat();
            let transport = (headers - start + part.len()) as u16;
            if is_ipv4 {
                add(&mut segment[ip + 4..ip + 6], number as u16);
                let total = (start - ip) as u16 + transport;
                segment[ip + 2..ip + 4].copy_from_slice(&total.to_be_bytes());
                segment[ip + 10..ip + 12].fill(0);
                let own = checksum(&segment[ip..start]);
                segment[ip + 10..ip + 12].copy_from_slice(&own);
            } else {
                let payload = (start - ip - 40) as u16 + transport;
                segment[ip + 4..ip + 6].copy_from_slice(&payload.to_be_bytes());
            }
            let sequence = u32::from_be_bytes(*segment[start + 4..].first_chunk()?);
            let sequence = sequence.wrapping_add((number * size) as u32).to_be_bytes();
            segment[start + 4..start + 8].copy_from_slice(&sequence);
            if (number + 1) * size < data.len() {
                segment[start + 13] &= !FIN_PSH;
            }
            if number > 0 {
                segment[start + 13] &= !CWR;
            }
            // The pseudo-header's sum contains the length of the long segment.
            let place = start + 16..start + 18;
            let sum = u32::from(u16::from_be_bytes(*segment[place.clone()].first_chunk()?));
            let sum = folded(sum + u32::from(!pseudo_length) + u32::from(transport));
            segment[place].copy_from_slice(&sum.to_be_bytes());
            self.complete(&mut segment);
            all.push_back(segment);
        }
        Some(all)
    }
}

fn add(place: &mut [u8], number: u16) {
    let sum = u16::from_be_bytes([place[0], place[1]]).wrapping_add(number);
    place.copy_from_slice(&sum.to_be_bytes());
}

fn folded(mut sum: u32) -> u16 {
    while sum >> 16 > 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// RFC 1071. A sum of zero is sent as 0xffff, because zero means "no checksum" (RFC 768).
fn checksum(octets: &[u8]) -> [u8; 2] {
    let words =
        octets.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0)));
    match !folded(words.sum()) {
        0 => [0xff; 2],
        sum => sum.to_be_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel header: checksum from byte 34 on, at TCP's place, and segments of this size.
    fn header(kind: u8, size: u16) -> [u8; HEADER_BYTES] {
        let mut header = [NEEDS_CHECKSUM, kind, 54, 0, 0, 0, 0, 0, 0, 0];
        header[4..6].copy_from_slice(&size.to_ne_bytes());
        header[6..8].copy_from_slice(&34_u16.to_ne_bytes());
        header[8..10].copy_from_slice(&16_u16.to_ne_bytes());
        header
    }

    /// An IPv4 segment with this much data, whose TCP checksum is left to the adapter.
    fn frame(data: usize) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 0, 0, 9, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame[16..18].copy_from_slice(&(40 + data as u16).to_be_bytes());
        let own = checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&own);
        frame.extend([
            4, 1, 0, 80, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 1, 0x50, 0x99, 1, 0, 0, 0, 0, 0,
        ]);
        let pseudo = folded(0x0a00 + 1 + 0x0a00 + 2 + 6 + 20 + data as u32);
        frame[50..52].copy_from_slice(&pseudo.to_be_bytes());
        frame.extend((0..data).map(|at| at as u8));
        frame
    }

    /// The sum over pseudo header and segment is all ones (RFC 1071).
    fn is_right(frame: &[u8]) -> bool {
        let length = frame.len() as u16 - 34;
        let pseudo = [&frame[26..34], &[0, 6], &length.to_be_bytes()].concat();
        let words = |octets: &[u8]| -> u32 {
            octets
                .chunks(2)
                .map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0)))
                .sum()
        };
        folded(words(&pseudo) + words(&frame[34..])) == 0xffff
            && folded(words(&frame[14..34])) == 0xffff
    }

    #[test]
    fn checksums_are_completed_only_if_the_kernel_left_them_out() {
        for data in [0, 1, 1_460] {
            let (bare, mut done) = (frame(data), frame(data));
            assert!(!is_right(&bare));
            Undone::parse([0; HEADER_BYTES]).complete(&mut done);
            assert_eq!(done, bare);
            Undone::parse(header(0, 0)).complete(&mut done);
            assert!(is_right(&done));
        }
        let mut short = frame(0)[..51].to_vec();
        Undone::parse(header(0, 0)).complete(&mut short);
        assert_eq!(short, frame(0)[..51]);
    }

    #[test]
    fn long_segments_are_split_as_an_adapter_does() {
        let undone = Undone::parse(header(TCP_IPV4 | ECN, 1_000));
        let mut padded = frame(2_500);
        padded.extend([9; 3]);
        for whole in [frame(2_500), padded] {
            let cut = undone.segments(&whole);
            let numbers = |at: usize| -> Vec<u16> {
                cut.iter().map(|one| u16::from_be_bytes([one[at], one[at + 1]])).collect()
            };
            assert!(cut.iter().all(|one| is_right(one)));
            assert_eq!(numbers(16), [1_040, 1_040, 540]);
            assert_eq!(numbers(18), [9, 10, 11]);
            assert_eq!(cut.iter().map(|one| one[47]).collect::<Vec<_>>(), [0x90, 0x10, 0x19]);
            let sequences: Vec<_> = cut.iter().map(|one| one[38..42].to_vec()).collect();
            assert_eq!(
                sequences,
                [0xffff_fff0_u32, 984, 1_984].map(|one| one.to_be_bytes().to_vec())
            );
            let data: Vec<u8> = cut.iter().flat_map(|one| one[54..].to_vec()).collect();
            assert_eq!(data, whole[54..2_554]);
        }
    }

    #[test]
    fn invalid_tcp_segments_are_not_split_and_nothing_panics() {
        // The kernel's UDP_L4.
        assert!(!Undone::parse(header(5, 1_000)).is_long());
        let undone = Undone::parse(header(TCP_IPV4, 7));
        let whole = frame(50);
        for length in 0..whole.len() {
            undone.segments(&whole[..length]);
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[length] ^= 1 << bit;
                undone.segments(&damaged);
            }
        }
    }
}
