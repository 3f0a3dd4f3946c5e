//! Announcements of the servers of a workgroup, by the computer browser service.
//!
//! Source: [MS-BRWS] 2.2.1 (host announcement), 2.2.3 (domain announcement), 2.2.10 (local master) in a
//! transaction to a mailslot, [MS-CIFS] 2.2.4.33 and [MS-MAIL] 2.2.1. Little-endian.

use crate::{Error, printable, take};

const FORMAT: &str = "browser";
const SIGNATURE: [u8; 4] = *b"\xffSMB";
const TRANSACTION: u8 = 0x25;
const DATA_COUNT: usize = 33 + 22;
const DATA_OFFSET: usize = 33 + 24;
const MAILSLOT: &[u8] = b"\\MAILSLOT\\BROWSE\0";
const ANNOUNCEMENT_LEN: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Host,
    Domain,
    LocalMaster,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub kind: Kind,
    pub name: String,
    pub version: (u8, u8),
    /// Services of the host, as bits (`SV_TYPE_…`); 2 is a file server.
    pub server_type: u32,
}

impl Announcement {
    pub fn parse(message: &[u8]) -> Result<Self, Error> {
        let forbidden =
            |field, offset, value: u8| Err(Error::forbidden(FORMAT, field, offset, value));
        Error::need(FORMAT, message, DATA_OFFSET + 2)?;
        if message[..4] != SIGNATURE || message[4] != TRANSACTION {
            return forbidden("command", 4, message[4]);
        }
        let word = |at| usize::from(u16::from_le_bytes(take(message, at..at + 2)));
        let (count, offset) = (word(DATA_COUNT), word(DATA_OFFSET));
        Error::need(FORMAT, message, offset + count)?;
        let data = &message[offset..offset + count];
        let between = &message[DATA_OFFSET..offset.max(DATA_OFFSET)];
        if !between.windows(MAILSLOT.len()).any(|name| name.eq_ignore_ascii_case(MAILSLOT)) {
            return forbidden("mailslot", DATA_OFFSET, 0);
        }
        if data.len() < ANNOUNCEMENT_LEN {
            return Err(Error::truncated(FORMAT, message, offset + ANNOUNCEMENT_LEN));
        }
        let kind = match data[0] {
            1 => Kind::Host,
            12 => Kind::Domain,
            15 => Kind::LocalMaster,
            other => return forbidden("opcode", offset, other),
        };
        let name: [u8; 16] = take(data, 6..22);
        let end = name.iter().position(|octet| *octet == 0).unwrap_or(name.len());
        let name = printable(&name[..end]);
        let server_type = u32::from_le_bytes(take(data, 24..28));
        Ok(Self { kind, name, version: (data[22], data[23]), server_type })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn announced(opcode: u8) -> Vec<u8> {
        let mut message = SIGNATURE.to_vec();
        message.push(TRANSACTION);
        message.resize(DATA_OFFSET + 12, 0);
        message.extend_from_slice(MAILSLOT);
        let offset = message.len() as u16;
        message[DATA_COUNT..DATA_COUNT + 2].copy_from_slice(&33_u16.to_le_bytes());
        message[DATA_OFFSET..DATA_OFFSET + 2].copy_from_slice(&offset.to_le_bytes());
        message.extend_from_slice(&[opcode, 0, 0, 0, 0, 0]);
        message.extend_from_slice(b"CNCFILES\0\0\0\0\0\0\0\0");
        message.extend_from_slice(&[4, 0, 3, 0x10, 0, 0, 15, 1, 0x55, 0xaa, 0]);
        message
    }

    #[test]
    fn host_announcements_are_parsed_and_others_refused() {
        let found = Announcement::parse(&announced(1)).unwrap();
        assert_eq!((found.kind, found.name.as_str()), (Kind::Host, "CNCFILES"));
        assert_eq!((found.version, found.server_type), ((4, 0), 0x1003));
        assert!(Announcement::parse(&announced(8)).is_err());
        let message = announced(12);
        assert!(Announcement::parse(&message[..message.len() - 1]).is_err());
        assert!(Announcement::parse(&message[1..]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(at in 0..120_usize, value: u8, length in 0..130_usize) {
            let mut message = announced(1);
            if let Some(octet) = message.get_mut(at) {
                *octet = value;
            }
            message.truncate(length);
            let _ = Announcement::parse(&message);
        }
    }
}
