//! Protocol of an echo's datagrams: UDP, with headers from the system, or ICMP.

use lanlab_wire::icmp::{Echo, HEADER_LEN, Version};

/// Longest IPv4 header, which a raw socket includes in received packets (RFC 791, section 3.1).
const MOST_IPV4_HEADER_BYTES: usize = 60;

#[derive(Debug, Clone, Copy)]
pub enum Envelope {
    Udp,
    Icmp {
        version: Version,
        /// Identifies our replies; `None` if the system assigns it and filters replies.
        identifier: Option<u16>,
    },
}

impl Envelope {
    pub fn header_bytes(self) -> usize {
        match self {
            Self::Udp => 0,
            Self::Icmp { .. } => HEADER_LEN,
        }
    }

    pub fn most_bytes(self) -> usize {
        match self {
            Self::Udp => 0,
            Self::Icmp { .. } => MOST_IPV4_HEADER_BYTES + HEADER_LEN,
        }
    }

    /// Complete a message. `datagram` begins with room for its header.
    pub fn seal(self, sequence: u64, datagram: &mut [u8]) {
        if let Self::Icmp { version, identifier } = self {
            let echo = Echo { identifier: identifier.unwrap_or(0), sequence: sequence as u16 };
            echo.emit_request(version, datagram);
        }
    }

    pub fn put(self, sequence: u64, message: &[u8], datagram: &mut Vec<u8>) {
        datagram.clear();
        datagram.resize(self.header_bytes(), 0);
        datagram.extend_from_slice(message);
        self.seal(sequence, datagram);
    }

    /// The message of a received datagram; `None` if it is not a reply to this program.
    pub fn open(self, datagram: &[u8]) -> Option<&[u8]> {
        let Self::Icmp { version, identifier } = self else { return Some(datagram) };
        // Replies we expect never begin like an IPv4 header.
        let header_bytes = match datagram.first() {
            Some(first) if version == Version::V4 && first >> 4 == 4 => usize::from(first & 15) * 4,
            _ => 0,
        };
        let (echo, message) = Echo::parse_reply(version, datagram.get(header_bytes..)?).ok()?;
        identifier.is_none_or(|own| own == echo.identifier).then_some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn icmp(identifier: Option<u16>) -> Envelope {
        Envelope::Icmp { version: Version::V4, identifier }
    }

    #[test]
    fn replies_are_matched_by_number_with_or_without_ipv4_header() {
        let mut datagram = Vec::new();
        icmp(Some(0x1234)).put(3, b"message", &mut datagram);
        assert_eq!(datagram[4..], *b"\x12\x34\0\x03message");
        assert_eq!(icmp(None).open(&datagram), None, "a request");
        datagram[0] = 0;
        let packet = [&[0x46; 24][..], &datagram].concat();
        for received in [&datagram, &packet] {
            assert_eq!(icmp(Some(0x1234)).open(received), Some(&b"message"[..]));
            assert_eq!(icmp(None).open(received), Some(&b"message"[..]));
            assert_eq!(icmp(Some(0x1235)).open(received), None);
        }
        for short in 0..datagram.len() - 7 {
            assert_eq!(icmp(None).open(&datagram[..short]), None);
        }
        assert_eq!(icmp(None).open(&[0x4f; 20]), None);
    }

    #[test]
    fn udp_payloads_are_unchanged() {
        let mut datagram = vec![9];
        Envelope::Udp.put(3, b"message", &mut datagram);
        assert_eq!(datagram, b"message");
        assert_eq!(Envelope::Udp.open(&datagram), Some(&b"message"[..]));
    }
}
