//! Packets of the NetBIOS session service, and the framing of SMB directly over TCP.
//!
//! Source: RFC 1002, section 4.3, on port 139; [MS-SMB] 2.1 on port 445, where the length has 24
//! bits and there is no session request. All fields big-endian.

use core::net::Ipv4Addr;

use crate::Error;
use crate::fields::{Field, Order, codes};
use crate::netbios_name::{Name, PLAIN_LEN};

const FORMAT: &str = "nbss";

/// Length of the header before each packet, octets.
pub const HEADER_LEN: usize = 4;
/// Longest packet with [`Framing::Session`]: 17 bits of length.
pub const MAX_SESSION_LEN: usize = 0x1_ffff;
/// Longest packet with [`Framing::Direct`]: 24 bits of length.
pub const MAX_DIRECT_LEN: usize = 0xff_ffff;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Port 139: seven flags that are zero, then 17 bits of length.
    Session,
    /// Port 445: 24 bits of length.
    Direct,
}

impl Framing {
    pub const fn max_len(self) -> usize {
        match self {
            Self::Session => MAX_SESSION_LEN,
            Self::Direct => MAX_DIRECT_LEN,
        }
    }
}

codes! {
    /// What a packet is for (RFC 1002, section 4.3.1).
    Kind {
        Message = 0x00,
        Request = 0x81,
        Positive = 0x82,
        Negative = 0x83,
        /// The caller must connect to another address.
        Retarget = 0x84,
        KeepAlive = 0x85,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    pub len: usize,
}

impl Header {
    /// Read the header at the start of `octets`.
    pub fn parse(octets: &[u8], framing: Framing) -> Result<Self, Error> {
        Error::need(FORMAT, octets, HEADER_LEN)?;
        let forbidden = |field, offset| Error::forbidden(FORMAT, field, offset, octets[offset]);
        let kind = Kind::from_wire(octets[0]).ok_or_else(|| forbidden("TYPE", 0))?;
        if framing == Framing::Session && octets[1] & 0xfe != 0 {
            return Err(forbidden("FLAGS", 1));
        }
        let len = u32::from_be_bytes([0, octets[1], octets[2], octets[3]]) as usize;
        Ok(Self { kind, len })
    }

    pub fn emit(self, framing: Framing) -> Result<[u8; HEADER_LEN], Error> {
        if self.len > framing.max_len() {
            return Err(Error::forbidden(FORMAT, "LENGTH", 1, self.len as u64));
        }
        let [_, high, middle, low] = (self.len as u32).to_be_bytes();
        Ok([self.kind.to_wire(), high, middle, low])
    }
}

/// Why a session is refused (RFC 1002, section 4.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotListeningOnCalledName,
    NotListeningForCallingName,
    CalledNameNotPresent,
    InsufficientResources,
    /// Any other reason, 8F in the specification.
    Unspecified(u8),
}

impl Refusal {
    const fn to_wire(self) -> u8 {
        match self {
            Self::NotListeningOnCalledName => 0x80,
            Self::NotListeningForCallingName => 0x81,
            Self::CalledNameNotPresent => 0x82,
            Self::InsufficientResources => 0x83,
            Self::Unspecified(code) => code,
        }
    }

    const fn from_wire(code: u8) -> Self {
        match code {
            0x80 => Self::NotListeningOnCalledName,
            0x81 => Self::NotListeningForCallingName,
            0x82 => Self::CalledNameNotPresent,
            0x83 => Self::InsufficientResources,
            code => Self::Unspecified(code),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet<'a> {
    Message(&'a [u8]),
    Request {
        called: Name,
        calling: Name,
    },
    Positive,
    Negative(Refusal),
    /// The caller must connect to another address.
    Retarget {
        address: Ipv4Addr,
        port: u16,
    },
    KeepAlive,
}

impl<'a> Packet<'a> {
    /// Read `payload`, the `len` octets after a header.
    pub fn parse(kind: Kind, payload: &'a [u8]) -> Result<Self, Error> {
        Ok(match kind {
            Kind::Message => Self::Message(payload),
            Kind::Request => {
                let (called, called_len) = Name::parse_and_skip_scope(payload)?;
                let (calling, _) = Name::parse_and_skip_scope(&payload[called_len..])?;
                Self::Request { called, calling }
            }
            Kind::Positive => Self::Positive,
            Kind::Negative => {
                Self::Negative(Refusal::from_wire(Field::first(FORMAT, payload, Order::Big)?))
            }
            Kind::Retarget => {
                let (address, port) = Field::first(FORMAT, payload, Order::Big)?;
                Self::Retarget { address, port }
            }
            Kind::KeepAlive => Self::KeepAlive,
        })
    }

    pub fn emit(&self, framing: Framing, out: &mut Vec<u8>) -> Result<(), Error> {
        let (kind, len) = match self {
            Self::Message(message) => (Kind::Message, message.len()),
            Self::Request { .. } => (Kind::Request, 2 * PLAIN_LEN),
            Self::Positive => (Kind::Positive, 0),
            Self::Negative(_) => (Kind::Negative, 1),
            Self::Retarget { .. } => (Kind::Retarget, 6),
            Self::KeepAlive => (Kind::KeepAlive, 0),
        };
        out.extend_from_slice(&Header { kind, len }.emit(framing)?);
        match self {
            Self::Message(message) => out.extend_from_slice(message),
            Self::Request { called, calling } => {
                called.emit_plain(out);
                calling.emit_plain(out);
            }
            Self::Negative(refusal) => out.push(refusal.to_wire()),
            Self::Retarget { address, port } => {
                (*address, *port).write(Order::Big, out);
            }
            Self::Positive | Self::KeepAlive => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_session_request_has_the_bytes_of_the_specification() {
        // RFC 1001, section 14.1, encodes "FRED" padded with blanks as EGFCEFEECACA…
        let packet = Packet::Request {
            called: Name::new("FRED", 0x20).unwrap(),
            calling: Name::new("A", 0).unwrap(),
        };
        let mut octets = Vec::new();
        packet.emit(Framing::Session, &mut octets).unwrap();
        assert_eq!(octets[..5], [0x81, 0, 0, 68, 32]);
        assert_eq!(&octets[5..37], b"EGFCEFEECACACACACACACACACACACACA");
        assert_eq!(octets[37..39], [0, 32]);
        assert_eq!(octets.len(), 72);
        assert_eq!(Packet::parse(Kind::Request, &octets[4..]), Ok(packet));
    }

    #[test]
    fn the_length_has_17_bits_on_port_139_and_24_on_port_445() {
        let header = [0, 1, 0xff, 0xff];
        assert_eq!(Header::parse(&header, Framing::Session).unwrap().len, MAX_SESSION_LEN);
        let header = [0, 2, 0, 0];
        assert_eq!(Header::parse(&header, Framing::Direct).unwrap().len, 0x2_0000);
        assert_eq!(
            Header::parse(&header, Framing::Session).unwrap_err().to_string(),
            "nbss: field `FLAGS` at octet 1 has forbidden value 0x2"
        );
        let long = Header { kind: Kind::Message, len: MAX_SESSION_LEN + 1 };
        assert!(long.emit(Framing::Session).is_err());
        assert_eq!(long.emit(Framing::Direct), Ok(header));
    }

    #[test]
    fn errors_of_short_or_unknown_packets_name_the_fault() {
        let error = Header::parse(&[0, 0, 1], Framing::Direct).unwrap_err();
        assert_eq!(error.to_string(), "nbss: need 4 octets, got 3");
        let error = Header::parse(&[0x86, 0, 0, 0], Framing::Direct).unwrap_err();
        assert_eq!(error.to_string(), "nbss: field `TYPE` at octet 0 has forbidden value 0x86");
        let error = Packet::parse(Kind::Retarget, &[1, 2, 3, 4, 5]).unwrap_err();
        assert_eq!(error.to_string(), "nbss: need 6 octets, got 5");
    }

    #[test]
    fn other_packets_round_trip() {
        for packet in [
            Packet::Message(b"hello"),
            Packet::Positive,
            Packet::Negative(Refusal::CalledNameNotPresent),
            Packet::Negative(Refusal::Unspecified(0x8f)),
            Packet::Retarget { address: Ipv4Addr::new(10, 0, 0, 1), port: 139 },
            Packet::KeepAlive,
        ] {
            let mut octets = Vec::new();
            packet.emit(Framing::Session, &mut octets).unwrap();
            let header = Header::parse(&octets, Framing::Session).unwrap();
            assert_eq!(header.len, octets.len() - HEADER_LEN);
            assert_eq!(Packet::parse(header.kind, &octets[HEADER_LEN..]), Ok(packet));
        }
    }

    proptest! {
        #[test]
        fn parse_never_panics(octets: Vec<u8>) {
            let _ = Header::parse(&octets, Framing::Direct);
            for kind in [Kind::Request, Kind::Negative, Kind::Retarget] {
                let _ = Packet::parse(kind, &octets);
            }
        }
    }
}
