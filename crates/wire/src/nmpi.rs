//! Names of stations with SMB directly on IPX (name management protocol over IPX).
//!
//! Source: dissector `nmpi` of Wireshark. Carried in IPX packets to and from socket 0551: queries
//! are propagated broadcasts, answers are unicast. Little-endian.

use crate::Error;
use crate::fields::{Field, Order, codes};
use crate::ipx::ROUTER_LIST_LEN;
use crate::netbios_name::Name;

const FORMAT: &str = "nmpi";
const COMMAND: usize = ROUTER_LIST_LEN;
pub const HEADER_LEN: usize = Fields::LEN;

/// Networks noted by routers, command, kind of name, message, name, source.
type Fields = ([u8; ROUTER_LIST_LEN], u8, u8, u16, Name, Name);

pub mod kind {
    pub const MACHINE: u8 = 1;
    pub const WORKGROUP: u8 = 2;
}

codes! {
    Command {
        /// Claim of a name: the station uses it unless another one objects.
        Claim = 0xf1,
        Delete = 0xf2,
        Query = 0xf3,
        Found = 0xf4,
        HangUp = 0xf5,
        MailslotSend = 0xfc,
        MailslotFind = 0xfd,
        MailslotName = 0xfe,
    }
}

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
    pub fn parse(data: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (_, code, kind, message, name, source): Fields =
            Field::first(FORMAT, data, Order::Little)?;
        let command = Command::from_wire(code)
            .ok_or_else(|| Error::forbidden(FORMAT, "command", COMMAND, code))?;
        Ok((Self { command, kind, message, name, source }, &data[HEADER_LEN..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let Self { command, kind, message, name, source } = *self;
        let fields: Fields = ([0; ROUTER_LIST_LEN], command.to_wire(), kind, message, name, source);
        fields.write(Order::Little, out);
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
            which in 0..Command::ALL.len(), kind: u8, message: u16, names: ([u8; 16], [u8; 16]),
            rest: Vec<u8>,
        ) {
            let (name, source) = (Name(names.0), Name(names.1));
            let header = Header { command: Command::ALL[which], kind, message, name, source };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets[COMMAND], Command::ALL[which].to_wire());
            octets.extend_from_slice(&rest);
            prop_assert_eq!(Header::parse(&octets), Ok((header, &rest[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Header::parse(&octets);
        }
    }
}
