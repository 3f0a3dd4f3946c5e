//! Names of stations with SMB directly on IPX (name management protocol over IPX).
//!
//! Source: dissector `nmpi` of Wireshark. Carried in IPX packets to and from socket 0551: queries
//! are propagated broadcasts, answers are unicast. Little-endian.

use crate::ipx::ROUTER_LIST_LEN;
use crate::netbios_name::{NAME_LEN, Name};
use crate::{Error, take};

const FORMAT: &str = "nmpi";
const COMMAND: usize = ROUTER_LIST_LEN;
const KIND: usize = COMMAND + 1;
const MESSAGE: usize = KIND + 1;
const NAME: usize = MESSAGE + 2;
const SOURCE: usize = NAME + NAME_LEN;
pub const HEADER_LEN: usize = SOURCE + NAME_LEN;

pub mod kind {
    pub const MACHINE: u8 = 1;
    pub const WORKGROUP: u8 = 2;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Claim of a name: the station uses it unless another one objects.
    Claim,
    Delete,
    Query,
    Found,
    HangUp,
    MailslotSend,
    MailslotFind,
    MailslotName,
}

const COMMANDS: [(u8, Command); 8] = [
    (0xf1, Command::Claim),
    (0xf2, Command::Delete),
    (0xf3, Command::Query),
    (0xf4, Command::Found),
    (0xf5, Command::HangUp),
    (0xfc, Command::MailslotSend),
    (0xfd, Command::MailslotFind),
    (0xfe, Command::MailslotName),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub command: Command,
    /// Kind of name, one of [`kind`].
    pub kind: u8,
    pub message: u16,
    pub name: Name,
    pub source: Name,
}

impl Header {
    /// Read the data of an IPX packet; also returns the data after the header. Networks noted by
    /// routers are skipped.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is short, [`Error::Forbidden`] for another command.
    pub fn parse(data: &[u8]) -> Result<(Self, &[u8]), Error> {
        let got = data.len();
        if got < HEADER_LEN {
            return Err(Error::Truncated { format: FORMAT, need: HEADER_LEN, got });
        }
        let known = COMMANDS.iter().find(|(number, _)| *number == data[COMMAND]);
        let Some(&(_, command)) = known else {
            let (offset, value) = (COMMAND, u64::from(data[COMMAND]));
            return Err(Error::Forbidden { format: FORMAT, field: "command", offset, value });
        };
        let header = Self {
            command,
            kind: data[KIND],
            message: u16::from_le_bytes(take(data, MESSAGE..NAME)),
            name: Name(take(data, NAME..SOURCE)),
            source: Name(take(data, SOURCE..HEADER_LEN)),
        };
        Ok((header, &data[HEADER_LEN..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let known = COMMANDS.iter().find(|(_, command)| *command == self.command);
        out.extend_from_slice(&[0; ROUTER_LIST_LEN]);
        out.extend_from_slice(&[known.map_or(0, |(number, _)| *number), self.kind]);
        out.extend_from_slice(&self.message.to_le_bytes());
        out.extend_from_slice(&self.name.0);
        out.extend_from_slice(&self.source.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_packet_and_an_unknown_command_are_refused() {
        let error = Header::parse(&[0; HEADER_LEN - 1]).unwrap_err().to_string();
        assert_eq!(error, "nmpi: need 68 octets, got 67");
        let error = Header::parse(&[0; HEADER_LEN]).unwrap_err().to_string();
        assert_eq!(error, "nmpi: field `command` at octet 32 has forbidden value 0x0");
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            which in 0..COMMANDS.len(), kind: u8, message: u16, names: ([u8; 16], [u8; 16]),
            rest: Vec<u8>,
        ) {
            let (name, source) = (Name(names.0), Name(names.1));
            let header = Header { command: COMMANDS[which].1, kind, message, name, source };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets[COMMAND], COMMANDS[which].0);
            octets.extend_from_slice(&rest);
            prop_assert_eq!(Header::parse(&octets), Ok((header, &rest[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Header::parse(&octets);
        }
    }
}
