//! Header of every message.
//!
//! Source: [MS-CIFS] 2.2.3.1. All fields little-endian.

pub use super::header_flags::{flags, flags2};
use super::status::Status;
use crate::{Error, take};

const FORMAT: &str = "smb1 header";

mod field {
    use core::ops::Range;

    pub(super) const PROTOCOL: Range<usize> = 0..4;
    pub(super) const COMMAND: usize = 4;
    pub(super) const STATUS: Range<usize> = 5..9;
    pub(super) const FLAGS: usize = 9;
    pub(super) const FLAGS2: Range<usize> = 10..12;
    pub(super) const PID_HIGH: Range<usize> = 12..14;
    pub(super) const SIGNATURE: Range<usize> = 14..22;
    pub(super) const TID: Range<usize> = 24..26;
    pub(super) const PID_LOW: Range<usize> = 26..28;
    pub(super) const UID: Range<usize> = 28..30;
    pub(super) const MID: Range<usize> = 30..32;
}

pub const LEN: usize = field::MID.end;
pub const SIGNATURE: core::ops::Range<usize> = field::SIGNATURE;
const PROTOCOL: [u8; 4] = *b"\xffSMB";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The first command of the message, of [`command`](super::command).
    pub command: u8,
    /// Result of the request. It is an NTSTATUS only if `flags2` has [`flags2::NT_STATUS`].
    pub status: Status,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Bits of [`flags2`].
    pub flags2: u16,
    pub pid: u32,
    pub signature: [u8; 8],
    pub tid: u16,
    pub uid: u16,
    pub mid: u16,
}

impl Header {
    pub const fn request(command: u8, flags: u8, flags2: u16) -> Self {
        Self {
            command,
            status: Status::success(flags2),
            flags,
            flags2,
            pid: 0,
            signature: [0; 8],
            tid: 0,
            uid: 0,
            mid: 0,
        }
    }

    #[must_use]
    pub const fn response(&self, status: Status) -> Self {
        Self { status, flags: self.flags | flags::REPLY, signature: [0; 8], ..*self }
    }

    pub const fn is_response(&self) -> bool {
        self.flags & flags::REPLY != 0
    }

    pub const fn is_unicode(&self) -> bool {
        self.flags2 & flags2::UNICODE != 0
    }

    /// Read the header at the start of `message`. Reserved octets are ignored.
    pub fn parse(message: &[u8]) -> Result<Self, Error> {
        Error::need(FORMAT, message, LEN)?;
        if message[field::PROTOCOL] != PROTOCOL {
            let value = u32::from_be_bytes(take(message, field::PROTOCOL));
            return Err(Error::forbidden(FORMAT, "Protocol", 0, value));
        }
        let word = |range| u16::from_le_bytes(take(message, range));
        let flags2 = word(field::FLAGS2);
        Ok(Self {
            command: message[field::COMMAND],
            status: Status::from_wire(take(message, field::STATUS), flags2),
            flags: message[field::FLAGS],
            flags2,
            pid: u32::from(word(field::PID_HIGH)) << 16 | u32::from(word(field::PID_LOW)),
            signature: take(message, field::SIGNATURE),
            tid: word(field::TID),
            uid: word(field::UID),
            mid: word(field::MID),
        })
    }

    /// Write the header. The form of the status sets or clears [`flags2::NT_STATUS`].
    pub fn emit(&self) -> [u8; LEN] {
        let mut octets = [0; LEN];
        let flags2 = match self.status {
            Status::Dos { .. } => self.flags2 & !flags2::NT_STATUS,
            Status::Nt(_) => self.flags2 | flags2::NT_STATUS,
        };
        octets[field::PROTOCOL].copy_from_slice(&PROTOCOL);
        octets[field::COMMAND] = self.command;
        octets[field::STATUS].copy_from_slice(&self.status.to_wire());
        octets[field::FLAGS] = self.flags;
        octets[field::FLAGS2].copy_from_slice(&flags2.to_le_bytes());
        octets[field::PID_HIGH].copy_from_slice(&((self.pid >> 16) as u16).to_le_bytes());
        octets[field::SIGNATURE].copy_from_slice(&self.signature);
        octets[field::TID].copy_from_slice(&self.tid.to_le_bytes());
        octets[field::PID_LOW].copy_from_slice(&(self.pid as u16).to_le_bytes());
        octets[field::UID].copy_from_slice(&self.uid.to_le_bytes());
        octets[field::MID].copy_from_slice(&self.mid.to_le_bytes());
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_of_other_protocols_are_refused() {
        let error = Header::parse(&[0; 31]).unwrap_err();
        assert_eq!(error.to_string(), "smb1 header: need 32 octets, got 31");
        let mut octets = Header::request(0x72, 0, 0).emit();
        octets[0] = 0xfe; // SMB 2.
        assert_eq!(
            Header::parse(&octets).unwrap_err().to_string(),
            "smb1 header: field `Protocol` at octet 0 has forbidden value 0xfe534d42"
        );
    }

    proptest! {
        #[test]
        fn emit_then_parse_is_identity(
            ids: (u8, u8, u16, u32, u16, u16, u16), signature: [u8; 8], status: u32,
        ) {
            let (command, flags, flags2, pid, tid, uid, mid) = ids;
            let [class, _, code @ ..] = status.to_le_bytes();
            let status = if flags2 & flags2::NT_STATUS == 0 {
                Status::Dos { class, code: u16::from_le_bytes(code) }
            } else {
                Status::Nt(status)
            };
            let header = Header { command, status, flags, flags2, pid, signature, tid, uid, mid };
            prop_assert_eq!(Header::parse(&header.emit()), Ok(header));
        }
    }
}
