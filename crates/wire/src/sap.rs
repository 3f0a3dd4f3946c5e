//! Service advertising of NetWare (SAP): known servers.
//!
//! Source: Novell's IPX router specification, chapter 4; dissector `ipxsap` of Wireshark. Carried
//! in IPX packets to and from socket 0452. All fields big-endian.

use crate::fields::{Field, Order};
use crate::ipx::{Address, Header, socket};
use crate::ncp::text::padded;
use crate::{Error, printable, rip};

const FORMAT: &str = "sap";
pub const SERVER_LEN: usize = Entry::LEN;
const NAME_LEN: usize = 48;
pub const GOING_DOWN_HOPS: u16 = 16;
pub const ANY_SERVER: u16 = 0xffff;
pub const FILE_SERVER: u16 = 0x0004;
pub const WINDOWS_SERVER: u16 = 0x0640;

const GENERAL_QUERY: u16 = 1;
const GENERAL_RESPONSE: u16 = 2;
const NEAREST_QUERY: u16 = 3;
const NEAREST_RESPONSE: u16 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet<'a> {
    Query {
        /// Whether only the nearest server should answer.
        is_nearest: bool,
        kind: u16,
    },
    Response {
        is_nearest: bool,
        servers: Servers<'a>,
    },
}

/// Kind, name, address and hops of a server.
type Entry = (u16, [u8; NAME_LEN], Address, u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Servers<'a>(&'a [u8]);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub kind: u16,
    pub name: String,
    pub address: Address,
    pub hops: u16,
}

impl Servers<'_> {
    pub fn iter(&self) -> impl Iterator<Item = Server> {
        self.0.chunks_exact(SERVER_LEN).map(|entry| {
            let (kind, name, address, hops) = Entry::read(entry, Order::Big);
            let end = name.iter().position(|&octet| octet == 0).unwrap_or(NAME_LEN);
            Server { kind, name: printable(&name[..end]), address, hops }
        })
    }
}

impl<'a> Packet<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let operation = u16::first(FORMAT, data, Order::Big)?;
        match operation {
            GENERAL_QUERY | NEAREST_QUERY => {
                let [_, kind] = Field::first(FORMAT, data, Order::Big)?;
                Ok(Self::Query { is_nearest: operation == NEAREST_QUERY, kind })
            }
            GENERAL_RESPONSE | NEAREST_RESPONSE => {
                let servers = &data[2..];
                Error::need(FORMAT, data, 2 + servers.len().next_multiple_of(SERVER_LEN))?;
                let is_nearest = operation == NEAREST_RESPONSE;
                Ok(Self::Response { is_nearest, servers: Servers(servers) })
            }
            other => Err(Error::forbidden(FORMAT, "operation", 0, other)),
        }
    }
}

pub fn emit_query(is_nearest: bool, kind: u16, out: &mut Vec<u8>) {
    let operation = if is_nearest { NEAREST_QUERY } else { GENERAL_QUERY };
    [operation, kind].write(Order::Big, out);
}

/// Append a response. A name is cut to 47 octets.
pub fn emit_response(is_nearest: bool, servers: &[Server], out: &mut Vec<u8>) {
    let operation = if is_nearest { NEAREST_RESPONSE } else { GENERAL_RESPONSE };
    operation.write(Order::Big, out);
    for Server { kind, name, address, hops } in servers {
        let entry: Entry = (*kind, padded(name.as_bytes()), *address, *hops);
        entry.write(Order::Big, out);
    }
}

/// Whether a packet searches for servers or, by RIP, for routers. Stations also send these in frame
/// types that they do not use.
pub fn is_question(header: &Header, data: &[u8]) -> bool {
    match header.destination.socket {
        socket::RIP => rip::Packet::parse(data).is_ok_and(|packet| !packet.is_response),
        socket::SAP => matches!(Packet::parse(data), Ok(Packet::Query { .. })),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_server_is_read_with_its_name_and_address() {
        let mut octets = vec![0, 2, 0, 4];
        octets.extend_from_slice(b"FS1");
        octets.resize(52, 0);
        octets.extend_from_slice(&[0, 0, 0xab, 0xcd, 0, 0, 0, 0, 0, 1, 4, 0x51, 0, 1]);
        let Ok(Packet::Response { is_nearest: false, servers }) = Packet::parse(&octets) else {
            panic!("no response")
        };
        let found: Vec<_> = servers.iter().collect();
        assert_eq!((found.len(), found[0].name.as_str(), found[0].hops), (1, "FS1", 1));
        assert_eq!(found[0].address.to_string(), "0000ABCD:000000000001:0451");
        let cut = Packet::parse(&octets[..65]).unwrap_err();
        assert_eq!(cut.to_string(), "sap: need 66 octets, got 65");
        let nearest = Packet::Query { is_nearest: true, kind: FILE_SERVER };
        assert_eq!(Packet::parse(&[0, 3, 0, 4, 9]), Ok(nearest));
        assert!(Packet::parse(&[0, 5, 0, 4]).is_err());
    }

    proptest! {
        #[test]
        fn queries_and_responses_round_trip(
            is_nearest: bool, kind: u16, hops: u16, network: u32, node: [u8; 6], socket: u16,
            name in "[ -~]{0,47}", count in 0..7_usize,
        ) {
            let mut octets = Vec::new();
            emit_query(is_nearest, kind, &mut octets);
            prop_assert_eq!(Packet::parse(&octets), Ok(Packet::Query { is_nearest, kind }));
            let address = Address { network, node, socket };
            let sent = vec![Server { kind, name, address, hops }; count];
            octets.clear();
            emit_response(is_nearest, &sent, &mut octets);
            let Ok(Packet::Response { is_nearest: found, servers }) = Packet::parse(&octets) else {
                panic!("no response")
            };
            prop_assert_eq!((found, servers.iter().collect::<Vec<_>>()), (is_nearest, sent));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets: Vec<u8>) {
            if let Ok(Packet::Response { servers, .. }) = Packet::parse(&octets) {
                prop_assert_eq!(servers.iter().count(), (octets.len() - 2) / SERVER_LEN);
            }
        }
    }
}
