//! Ethernet frames without preamble and check sequence, in the five frame types of historic
//! protocols.
//!
//! Source: IEEE 802.3, section 3.2.6 (length or type), IEEE 802.2, RFC 1042 (SNAP); raw IPX frames of
//! NetWare as article Q104024 of Microsoft's Knowledge Base describes them. All fields big-endian.

use core::fmt;

use crate::{Error, take};

const FORMAT: &str = "ethernet";

mod field {
    use core::ops::Range;

    pub(super) const DESTINATION: Range<usize> = 0..6;
    pub(super) const SOURCE: Range<usize> = 6..12;
    pub(super) const LENGTH_OR_TYPE: Range<usize> = 12..14;
}

pub const HEADER_LEN: usize = field::LENGTH_OR_TYPE.end;
/// Shortest frame that adapters send, without check sequence.
pub const MIN_FRAME_LEN: usize = 60;
pub const MAX_PAYLOAD_LEN: usize = 1500;

const FIRST_TYPE: u16 = 0x0600;
/// First octets of a raw IPX packet, which has no checksum.
const RAW_START: [u8; 2] = [0xff, 0xff];
const SNAP_START: [u8; 3] = [0xaa, 0xaa, 0x03];
/// LLC header of 3Com's frame type: SAP, SAP, UI.
const THREE_COM_START: [u8; 3] = [0x80, 0x80, 0x03];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    pub const BROADCAST: Self = Self([0xff; 6]);
    pub const NETBIOS_GROUP: Self = Self([0x03, 0, 0, 0, 0, 0x01]);

    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, octet) in self.0.iter().enumerate() {
            let colon = if index > 0 { ":" } else { "" };
            write!(f, "{colon}{octet:02x}")?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Type(u16),
    /// NetWare's raw 802.3: a length, then an IPX packet.
    Raw,
    /// IEEE 802.2: a length, then an LLC PDU.
    Llc,
    /// SNAP: a length, the LLC header AA AA 03, an organization and its protocol.
    Snap {
        organization: [u8; 3],
        protocol: u16,
    },
    /// 3Com: a length, the LLC header 80 80 03, a type.
    ThreeCom(u16),
}

impl Framing {
    pub const fn inner_len(self) -> usize {
        match self {
            Self::Type(_) | Self::Raw | Self::Llc => 0,
            Self::Snap { .. } => 8,
            Self::ThreeCom(_) => 5,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub destination: Mac,
    pub source: Mac,
    pub framing: Framing,
}

/// Types of VLAN tags: customer tag, provider tag, and the provider tag's former number.
const TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
const OLD_SERVICE_TAG: u16 = 0x9100;
const TAG_LEN: usize = 4;
const VLAN_NUMBER: u16 = 0x0fff;
pub const MOST_TAGS: usize = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vlans {
    numbers: [u16; MOST_TAGS],
    count: usize,
}

impl Vlans {
    pub fn numbers(&self) -> &[u16] {
        &self.numbers[..self.count]
    }

    fn push(&mut self, number: u16) -> bool {
        let has_room = self.count < MOST_TAGS;
        if has_room {
            self.numbers[self.count] = number;
            self.count += 1;
        }
        has_room
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    pub header: Header,
    /// The payload: without padding if the frame has a length, with padding if it has a type.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Read a frame and cut it to its length field.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is shorter than its header or its length field.
    /// [`Error::Forbidden`] if the field after the addresses is neither a length (at most 1500) nor
    /// a type (0600 or more).
    pub fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        Self::parse_after(frame, 0)
    }

    /// Read a frame with `tags` octets of VLAN tags before its length or type.
    fn parse_after(frame: &'a [u8], tags: usize) -> Result<Self, Error> {
        let header_len = HEADER_LEN + tags;
        Error::need(FORMAT, frame, header_len)?;
        let destination = Mac(take(frame, field::DESTINATION));
        let source = Mac(take(frame, field::SOURCE));
        let length_or_type = u16::from_be_bytes(take(frame, header_len - 2..header_len));
        let found =
            |framing, payload| Self { header: Header { destination, source, framing }, payload };
        if length_or_type >= FIRST_TYPE {
            return Ok(found(Framing::Type(length_or_type), &frame[header_len..]));
        }
        if usize::from(length_or_type) > MAX_PAYLOAD_LEN {
            let offset = header_len - 2;
            return Err(Error::forbidden(FORMAT, "length or type", offset, length_or_type));
        }
        let end = header_len + usize::from(length_or_type);
        Error::need(FORMAT, frame, end)?;
        let payload = &frame[header_len..end];
        let framing = match payload {
            [0xff, 0xff, ..] => Framing::Raw,
            [0xaa, 0xaa, 0x03, a, b, c, high, low, ..] => Framing::Snap {
                organization: [*a, *b, *c],
                protocol: u16::from_be_bytes([*high, *low]),
            },
            [0x80, 0x80, 0x03, high, low, ..] => {
                Framing::ThreeCom(u16::from_be_bytes([*high, *low]))
            }
            _ => Framing::Llc,
        };
        Ok(found(framing, &payload[framing.inner_len()..]))
    }

    /// Read a frame and the numbers of its VLANs, outermost first (IEEE 802.1Q, clause 9). With
    /// more than [`MOST_TAGS`] tags, the next tag is returned as the type.
    pub fn parse_tagged(frame: &'a [u8]) -> Result<(Self, Vlans), Error> {
        let mut vlans = Vlans::default();
        let mut found = Self::parse(frame)?;
        while let Framing::Type(TAG | SERVICE_TAG | OLD_SERVICE_TAG) = found.header.framing
            && let Some(control) = found.payload.first_chunk::<2>()
            && vlans.push(u16::from_be_bytes(*control) & VLAN_NUMBER)
        {
            found = Self::parse_after(frame, TAG_LEN * vlans.numbers().len())?;
        }
        Ok((found, vlans))
    }

    /// Append the frame, padded to [`MIN_FRAME_LEN`].
    ///
    /// # Errors
    /// As [`Header::emit`]; also [`Error::Forbidden`] if the payload would be read as another frame
    /// type.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let is_raw = self.payload.starts_with(&RAW_START);
        let is_other = match self.header.framing {
            Framing::Raw => !is_raw,
            Framing::Llc => {
                is_raw
                    || self.payload.len() >= 8 && self.payload.starts_with(&SNAP_START)
                    || self.payload.len() >= 5 && self.payload.starts_with(&THREE_COM_START)
            }
            Framing::Type(_) | Framing::Snap { .. } | Framing::ThreeCom(_) => false,
        };
        if is_other {
            let value = self.payload.first().copied().unwrap_or(0);
            return Err(Error::forbidden(FORMAT, "payload", HEADER_LEN, value));
        }
        let start = out.len();
        self.header.emit(self.payload.len(), out)?;
        out.extend_from_slice(self.payload);
        pad(start, out);
        Ok(())
    }
}

impl Header {
    /// Append the headers before a payload of `payload_len` octets. The caller appends the payload
    /// and calls [`pad`].
    ///
    /// # Errors
    /// [`Error::Forbidden`] if the payload is too long, or a type is below 0600.
    pub fn emit(&self, payload_len: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let length = self.framing.inner_len() + payload_len;
        let offset = field::LENGTH_OR_TYPE.start;
        if length > MAX_PAYLOAD_LEN {
            return Err(Error::forbidden(FORMAT, "length", offset, length as u64));
        }
        let length_or_type = match self.framing {
            Framing::Type(protocol) if protocol < FIRST_TYPE => {
                return Err(Error::forbidden(FORMAT, "type", offset, protocol));
            }
            Framing::Type(protocol) => protocol,
            _ => length as u16,
        };
        out.extend_from_slice(&self.destination.0);
        out.extend_from_slice(&self.source.0);
        out.extend_from_slice(&length_or_type.to_be_bytes());
        match self.framing {
            Framing::Type(_) | Framing::Raw | Framing::Llc => {}
            Framing::Snap { organization, protocol } => {
                out.extend_from_slice(&SNAP_START);
                out.extend_from_slice(&organization);
                out.extend_from_slice(&protocol.to_be_bytes());
            }
            Framing::ThreeCom(protocol) => {
                out.extend_from_slice(&THREE_COM_START);
                out.extend_from_slice(&protocol.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// Pad the frame that begins at `start` of `out` with zeros, as adapters do.
pub fn pad(start: usize, out: &mut Vec<u8>) {
    if out.len() < start + MIN_FRAME_LEN {
        out.resize(start + MIN_FRAME_LEN, 0);
    }
}

/// Set the length field of the frame at `start` of `out`, and pad it. For a frame whose header was
/// written before its payload length was known.
pub fn close(start: usize, out: &mut Vec<u8>) {
    let length = (out.len() - start).saturating_sub(HEADER_LEN) as u16;
    out[start + field::LENGTH_OR_TYPE.start..start + field::LENGTH_OR_TYPE.end]
        .copy_from_slice(&length.to_be_bytes());
    pad(start, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(framing: Framing) -> Header {
        Header { destination: Mac::NETBIOS_GROUP, source: Mac([2, 0, 0, 0, 0, 7]), framing }
    }

    #[test]
    fn short_llc_frames_are_padded_and_trimmed() {
        let frame = Frame { header: header(Framing::Llc), payload: &[0xf0, 0xf0, 0x7f] };
        let mut octets = Vec::new();
        frame.emit(&mut octets).unwrap();
        assert_eq!(octets.len(), MIN_FRAME_LEN);
        assert_eq!(octets[12..18], [0, 3, 0xf0, 0xf0, 0x7f, 0]);
        assert_eq!(Frame::parse(&octets), Ok(frame));
    }

    #[test]
    fn a_field_that_is_neither_length_nor_type_is_refused() {
        let mut octets = vec![0; 64];
        octets[12..14].copy_from_slice(&[0x05, 0xdd]);
        assert_eq!(
            Frame::parse(&octets).unwrap_err().to_string(),
            "ethernet: field `length or type` at octet 12 has forbidden value 0x5dd"
        );
        octets[12..14].copy_from_slice(&[0x05, 0xff]);
        assert!(Frame::parse(&octets).is_err());
        octets[12..14].copy_from_slice(&[0x06, 0x00]);
        assert_eq!(Frame::parse(&octets).unwrap().header.framing, Framing::Type(0x600));
        octets[12..14].copy_from_slice(&[0, 51]);
        assert_eq!(
            Frame::parse(&octets).unwrap_err().to_string(),
            "ethernet: need 65 octets, got 64"
        );
    }

    #[test]
    fn payloads_that_mimic_another_framing_are_not_sent() {
        let emit = |framing, payload: &[u8]| {
            Frame { header: header(framing), payload }.emit(&mut Vec::new()).is_ok()
        };
        assert!(emit(Framing::Raw, &[0xff, 0xff, 0, 30]));
        assert!(!emit(Framing::Raw, &[0xe0, 0xe0, 3]));
        assert!(!emit(Framing::Llc, &[0xff, 0xff, 3]));
        assert!(!emit(Framing::Llc, &[0x80, 0x80, 3, 6, 0]));
        assert!(!emit(Framing::Llc, &[0; MAX_PAYLOAD_LEN + 1]));
        assert!(!emit(Framing::Type(0x5ff), &[]));
    }

    fn any_framing() -> impl Strategy<Value = Framing> {
        prop_oneof![
            (0x600_u16..).prop_map(Framing::Type),
            Just(Framing::Raw),
            Just(Framing::Llc),
            (any::<[u8; 3]>(), any::<u16>())
                .prop_map(|(organization, protocol)| Framing::Snap { organization, protocol }),
            any::<u16>().prop_map(Framing::ThreeCom),
        ]
    }

    proptest! {
        #[test]
        fn frames_round_trip(
            framing in any_framing(),
            destination: [u8; 6],
            source: [u8; 6],
            mut payload in prop::collection::vec(any::<u8>(), 46..1492),
        ) {
            if framing == Framing::Raw {
                payload[..2].fill(0xff);
            } else if framing == Framing::Llc {
                payload[0] = 0xf0;
            }
            let header = Header { destination: Mac(destination), source: Mac(source), framing };
            let frame = Frame { header, payload: &payload };
            let mut octets = Vec::new();
            frame.emit(&mut octets).unwrap();
            prop_assert_eq!(Frame::parse(&octets), Ok(frame));
        }

        #[test]
        fn parsed_packets_are_emitted_unchanged(mut octets: Vec<u8>, length: u8) {
            if octets.len() > 13 {
                octets[12..14].copy_from_slice(&[0, length]);
            }
            if let Ok(frame) = Frame::parse(&octets) {
                let mut again = Vec::new();
                frame.emit(&mut again).unwrap();
                let end = HEADER_LEN + usize::from(length);
                prop_assert_eq!(&again[..end], &octets[..end]);
            }
        }
    }
}
