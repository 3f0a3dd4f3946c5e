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

type Fields = ([u8; 6], u16, ([u8; 6], Ipv4Addr), ([u8; 6], Ipv4Addr));

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
    pub fn parse(packet: &[u8]) -> Result<Self, Error> {
        let (kind, operation, senders, targets): Fields = Field::first(FORMAT, packet, Order::Big)?;
        if let Some(offset) = (0..KIND.len()).find(|&at| kind[at] != KIND[at]) {
            return Err(Error::forbidden(FORMAT, "kind", offset, kind[offset]));
        }
        if !matches!(operation, REQUEST | REPLY) {
            return Err(Error::forbidden(FORMAT, "operation", 6, operation));
        }
        let is_request = operation == REQUEST;
        let ((sender_mac, sender), (target_mac, target)) = (senders, targets);
        Ok(Self { is_request, sender_mac, sender, target_mac, target })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let operation = if self.is_request { REQUEST } else { REPLY };
        let Self { sender_mac, sender, target_mac, target, .. } = *self;
        (KIND, operation, (sender_mac, sender), (target_mac, target)).write(Order::Big, out);
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
