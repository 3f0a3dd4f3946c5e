//! The header fields that direct hosting uses in place of the signature: key, connection identifier and sequence
//! number.

use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::{Header, LEN};
use lanlab_wire::smb1::status::error::Row;

const CONNECTION: usize = 18;
const SEQUENCE: usize = 20;
/// Offset of the next command in a chain, after the word count.
const NEXT_COMMAND: usize = LEN + 1;
const FIRST_SEQUENCE: u16 = 1;

pub(super) const NONE: u16 = 0;
pub(super) const NEVER: u16 = 0xffff;

const fn server_error(name: &'static str, code: u16) -> Row {
    Row { name, class: 2, code, nt: (code as u32) << 16 | 2 }
}

pub(super) const UNKNOWN_CONNECTION: Row = server_error("no such connection", 0x10);
pub(super) const WORKING: Row = server_error("still working", 0x11);
pub(super) const OTHER_NAME: Row = server_error("not my name", 0x12);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) connection: u16,
    /// Zero: the request may be executed again.
    pub(super) sequence: u16,
}

impl Numbers {
    pub(super) fn of(header: &Header) -> Self {
        let [_, _, _, _, low, high, sequence @ ..] = header.signature;
        Self { connection: u16::from_le_bytes([low, high]), sequence: u16::from_le_bytes(sequence) }
    }

    /// Write the fields to a message with a complete header, in place of the signature.
    pub(super) fn put(self, message: &mut [u8]) {
        message[CONNECTION - 4..CONNECTION].fill(0);
        message[CONNECTION..SEQUENCE].copy_from_slice(&self.connection.to_le_bytes());
        message[SEQUENCE..SEQUENCE + 2].copy_from_slice(&self.sequence.to_le_bytes());
    }
}

pub(super) const fn next_sequence(last: u16) -> u16 {
    match last.checked_add(1) {
        Some(next) => next,
        None => FIRST_SEQUENCE,
    }
}

/// Whether a request changes nothing, so that it needs no sequence number and may be executed twice.
pub(super) fn is_repeatable(header: &Header, message: &[u8]) -> bool {
    let is_alone = || message.get(NEXT_COMMAND) == Some(&command::NONE);
    match header.command {
        command::NEGOTIATE
        | command::ECHO
        | command::READ
        | command::READ_MPX
        | command::CHECK_DIRECTORY
        | command::QUERY_INFORMATION
        | command::QUERY_INFORMATION2
        | command::QUERY_INFORMATION_DISK => true,
        command::READ_ANDX => is_alone(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_numbers_use_the_signature_field() {
        let mut message = Header::request(command::READ, 0, 0).emit();
        let numbers = Numbers { connection: 0x1234, sequence: 0x5678 };
        numbers.put(&mut message);
        // [MS-CIFS] 2.2.3.1: key at 14, connection at 18, sequence number at 20.
        assert_eq!(message[14..24], [0, 0, 0, 0, 0x34, 0x12, 0x78, 0x56, 0, 0]);
        assert_eq!(Numbers::of(&Header::parse(&message).unwrap()), numbers);
    }

    #[test]
    fn changing_requests_never_have_sequence_number_zero() {
        assert_eq!([0, 1, 0xfffe, 0xffff].map(next_sequence), [1, 2, 0xffff, 1]);
    }

    #[test]
    fn a_chained_read_has_a_sequence_number() {
        let header = Header::request(command::READ_ANDX, 0, 0);
        let with = |next| [&header.emit()[..], &[12, next]].concat();
        assert!(is_repeatable(&header, &with(command::NONE)));
        assert!(!is_repeatable(&header, &with(command::CLOSE)));
        assert!(!is_repeatable(&header, &header.emit()));
        let write = Header::request(command::WRITE_ANDX, 0, 0);
        assert!(!is_repeatable(&write, &with(command::NONE)));
    }
}
