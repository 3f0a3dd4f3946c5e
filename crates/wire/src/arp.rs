//! ARP for IPv4 over Ethernet.
//!
//! Source: RFC 826; RFC 5227 (address probes and announcements). All fields big-endian.

use core::net::Ipv4Addr;

use crate::Error;
use crate::fields::{Field, Order};

const FORMAT: &str = "arp";
pub const PACKET_LEN: usize = Fields::LEN;
/// Hardware type Ethernet, protocol IPv4, and their address lengths.
const KIND: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

type Fields = ([u8; 6], u16, ([u8; 6], u32), ([u8; 6], u32));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    pub is_request: bool,
    pub sender_mac: [u8; 6],
    /// The sender's IPv4 address; `0.0.0.0` in a probe.
    pub sender: Ipv4Addr,
    /// Hardware address of the target, if the sender knows it.
    pub target_mac: [u8; 6],
    pub target: Ipv4Addr,
}

impl Packet {
    /// Read a packet. Data after it is padding.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is short, [`Error::Forbidden`] for other hardware, protocols and
    /// operations.
    pub fn parse(packet: &[u8]) -> Result<Self, Error> {
        let (kind, operation, senders, targets): Fields = Field::first(FORMAT, packet, Order::Big)?;
        if let Some(offset) = (0..KIND.len()).find(|&at| kind[at] != KIND[at]) {
            let value = u64::from(kind[offset]);
            return Err(Error::Forbidden { format: FORMAT, field: "kind", offset, value });
        }
        if !matches!(operation, REQUEST | REPLY) {
            let value = u64::from(operation);
            return Err(Error::Forbidden { format: FORMAT, field: "operation", offset: 6, value });
        }
        Ok(Self {
            is_request: operation == REQUEST,
            sender_mac: senders.0,
            sender: senders.1.into(),
            target_mac: targets.0,
            target: targets.1.into(),
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let operation = if self.is_request { REQUEST } else { REPLY };
        let senders = (self.sender_mac, self.sender.to_bits());
        let targets = (self.target_mac, self.target.to_bits());
        (KIND, operation, senders, targets).write(Order::Big, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_hardware_is_refused() {
        let mut octets = vec![0, 6, 8, 0, 6, 4, 0, 1];
        octets.resize(PACKET_LEN, 0);
        let refused = Packet::parse(&octets).unwrap_err().to_string();
        assert_eq!(refused, "arp: field `kind` at octet 1 has forbidden value 0x6");
        assert!(Packet::parse(&octets[1..]).is_err());
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            is_request: bool, sender_mac: [u8; 6], target_mac: [u8; 6], sender: u32, target: u32
        ) {
            let (sender, target) = (sender.into(), target.into());
            let packet = Packet { is_request, sender_mac, sender, target_mac, target };
            let mut octets = Vec::new();
            packet.emit(&mut octets);
            prop_assert_eq!(Packet::parse(&octets), Ok(packet));
        }
    }
}
