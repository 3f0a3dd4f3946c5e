//! Routing information of IPX (RIP): known networks and their distance.
//!
//! Source: Novell's IPX router specification, chapter 3; dissector `ipxrip` of Wireshark. Carried
//! in IPX packets of type 1 to and from socket 0453. All fields big-endian.

use crate::Error;
use crate::fields::{Field, Order, fields};

const FORMAT: &str = "rip";
const ENTRY_LEN: usize = Entry::LEN;
const REQUEST: u16 = 1;
const RESPONSE: u16 = 2;
pub const ANY_NETWORK: u32 = 0xffff_ffff;
pub const MOST_ENTRIES: usize = 50;

fields! {
    Entry, Big => {
        network: u32,
        /// Hops to the network; 16: unreachable.
        hops: u16,
        /// Time to reach it, in 1/18 s.
        ticks: u16,
    }
}

impl Entry {
    pub const fn asked(network: u32) -> Self {
        Self { network, hops: 0xffff, ticks: 0xffff }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub is_response: bool,
    /// The networks, at most [`MOST_ENTRIES`].
    pub entries: Vec<Entry>,
}

impl Packet {
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let operation = u16::first(FORMAT, data, Order::Big)?;
        let entries = &data[2..];
        Error::need(FORMAT, data, 2 + entries.len().next_multiple_of(ENTRY_LEN))?;
        let count = entries.len() / ENTRY_LEN;
        if count > MOST_ENTRIES {
            return Err(Error::forbidden(FORMAT, "entries", 2, count as u64));
        }
        if !matches!(operation, REQUEST | RESPONSE) {
            return Err(Error::forbidden(FORMAT, "operation", 0, operation));
        }
        let entries = entries.chunks_exact(ENTRY_LEN);
        let entries = entries.map(|entry| Entry::read(entry, Order::Big)).collect();
        Ok(Self { is_response: operation == RESPONSE, entries })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let operation = if self.is_response { RESPONSE } else { REQUEST };
        operation.write(Order::Big, out);
        for entry in &self.entries {
            entry.write(Order::Big, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_for_all_networks_are_parsed_and_others_refused() {
        let octets = hex::decode("0001ffffffffffffffff").unwrap();
        let all = Packet { is_response: false, entries: vec![Entry::asked(ANY_NETWORK)] };
        assert_eq!(Packet::parse(&octets), Ok(all));
        let error = Packet::parse(&octets[..9]).unwrap_err().to_string();
        assert_eq!(error, "rip: need 10 octets, got 9");
        assert!(Packet::parse(&[0, 3]).is_err() && Packet::parse(&[0]).is_err());
        let long = [&[0, 2][..], &[0; 51 * 8]].concat();
        assert!(Packet::parse(&long).is_err());
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            is_response: bool, entries in prop::collection::vec(any::<(u32, u16, u16)>(), 0..50),
        ) {
            let entry = |(network, hops, ticks)| Entry { network, hops, ticks };
            let packet = Packet { is_response, entries: entries.into_iter().map(entry).collect() };
            let mut octets = Vec::new();
            packet.emit(&mut octets);
            prop_assert_eq!(Packet::parse(&octets), Ok(packet));
        }

        #[test]
        fn parsed_packets_are_emitted_unchanged(kind in 0..4_u16, rest: Vec<u8>) {
            let octets = [&kind.to_be_bytes()[..], &rest].concat();
            if let Ok(packet) = Packet::parse(&octets) {
                let mut again = Vec::new();
                packet.emit(&mut again);
                prop_assert_eq!(again, octets);
            }
        }
    }
}
