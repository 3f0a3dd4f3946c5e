//! The protocol of a frame.

use std::collections::BTreeMap;

use lanlab_wire::ethernet::{Frame, Framing};
use lanlab_wire::llc::{self, sap};

use super::MOST;
use crate::messages::{FramingHeard, ProtocolHeard};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Arp,
    Ipv4,
    Netbeui,
    Ipx,
    Xns,
    Other,
}

pub struct Protocol<'a> {
    pub name: String,
    pub family: Family,
    pub payload: &'a [u8],
}

const TYPES: [(u16, &str, Family); 18] = [
    (0x0600, "XNS", Family::Xns),
    (0x0800, "IPv4", Family::Ipv4),
    (0x0806, "ARP", Family::Arp),
    (0x0bad, "Banyan VINES", Family::Other),
    (0x6003, "DECnet", Family::Other),
    (0x6004, "LAT", Family::Other),
    (0x8035, "RARP", Family::Other),
    (0x809b, "AppleTalk", Family::Other),
    (0x80f3, "AppleTalk ARP", Family::Other),
    (0x8100, "VLAN tag", Family::Other),
    (0x8137, "IPX", Family::Ipx),
    (0x8138, "IPX", Family::Ipx),
    (0x86dd, "IPv6", Family::Other),
    (0x8808, "Ethernet flow control", Family::Other),
    (0x8863, "PPPoE discovery", Family::Other),
    (0x888e, "802.1X", Family::Other),
    (0x88cc, "LLDP", Family::Other),
    (0x9000, "loopback test", Family::Other),
];
const SAPS: [(u8, &str); 8] = [
    (sap::NULL, "LLC of the station"),
    (0x04, "SNA"),
    (0x06, "IPv4 on LLC"),
    (0x42, "spanning tree"),
    (0xbc, "Banyan VINES"),
    (0xf4, "IBM LAN management"),
    (0xf8, "remote program load"),
    (0xfe, "ISO network layer"),
];

pub fn protocol<'a>(frame: &Frame<'a>) -> Protocol<'a> {
    let payload = frame.payload;
    match frame.header.framing {
        Framing::Raw => Protocol { name: "IPX".to_owned(), family: Family::Ipx, payload },
        Framing::Type(kind) | Framing::ThreeCom(kind) => of_type(kind, payload),
        // OUI zero means an Ethernet II type (RFC 1042), 00 00 f8 a bridge between different networks.
        Framing::Snap { organization: [0, 0, 0 | 0xf8], protocol } => of_type(protocol, payload),
        Framing::Snap { organization: [a, b, c], protocol } => Protocol {
            name: format!("SNAP {a:02x}-{b:02x}-{c:02x} {protocol:#06x}"),
            family: Family::Other,
            payload,
        },
        Framing::Llc => of_sap(payload),
    }
}

fn of_type(kind: u16, payload: &[u8]) -> Protocol<'_> {
    let known = TYPES.iter().find(|(known, ..)| *known == kind);
    let (name, family) = known.map_or_else(
        || (format!("type {kind:#06x}"), Family::Other),
        |&(_, name, family)| (name.to_owned(), family),
    );
    Protocol { name, family, payload }
}

fn of_sap(pdu: &[u8]) -> Protocol<'_> {
    let named = |name: &str, family, payload| Protocol { name: name.to_owned(), family, payload };
    match *pdu {
        [to, from, control, ..] => {
            // The lowest bits describe the PDU, not the SAP.
            let pair = (to & !1, from & !1);
            match pair {
                (sap::NETBIOS, sap::NETBIOS) => named("NetBEUI", Family::Netbeui, pdu),
                (sap::IPX, sap::IPX) if control == 0x03 => {
                    named("IPX", Family::Ipx, &pdu[llc::UNNUMBERED_LEN..])
                }
                (to, from) => {
                    let known = SAPS.iter().find(|(known, _)| *known == from.max(to));
                    let name = known.map_or_else(
                        || format!("LLC SAP {to:#04x} from {from:#04x}"),
                        |(_, name)| (*name).to_owned(),
                    );
                    Protocol { name, family: Family::Other, payload: pdu }
                }
            }
        }
        _ => named("LLC, too short", Family::Other, pdu),
    }
}

pub const fn framing_heard(framing: Framing) -> FramingHeard {
    match framing {
        Framing::Type(_) => FramingHeard::EthernetIi,
        Framing::Raw => FramingHeard::Raw8023,
        Framing::Snap { .. } => FramingHeard::Snap,
        Framing::ThreeCom(_) => FramingHeard::ThreeCom,
        Framing::Llc => FramingHeard::Llc,
    }
}

#[derive(Debug, Default)]
pub struct Protocols {
    found: BTreeMap<(FramingHeard, String), (u64, u64)>,
    pub others: u64,
}

impl Protocols {
    pub fn see(&mut self, framing: FramingHeard, name: String, bytes: u64) {
        let key = (framing, name);
        if self.found.len() >= MOST && !self.found.contains_key(&key) {
            self.others += 1;
            return;
        }
        let (frames, sum) = self.found.entry(key).or_default();
        *frames += 1;
        *sum += bytes;
    }

    pub fn heard(&self) -> Vec<ProtocolHeard> {
        let heard =
            |((framing, protocol), (frames, bytes)): (&(_, String), &(u64, u64))| ProtocolHeard {
                framing: *framing,
                protocol: protocol.clone(),
                frames: *frames,
                bytes: *bytes,
            };
        self.found.iter().map(heard).collect()
    }
}
