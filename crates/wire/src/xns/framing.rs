//! Frame types of XNS on Ethernet: Ethernet II, and 802.2 with 3Com's SAP.
//!
//! Source: IEEE's registers of types and SAPs; dissector `3com-xns` of Wireshark.

use super::idp;
use crate::Error;
use crate::ethernet::{self, Frame, Framing, Mac};
use crate::ipx::{HEADER_LEN, Header};

const ETHERNET_TYPE: u16 = 0x0600;
pub const ETHERNET_II: Framing = Framing::Type(ETHERNET_TYPE);
/// A length and SAP 80, as some 3Com stations send.
pub const THREE_COM: Framing = Framing::ThreeCom(ETHERNET_TYPE);
/// All frame types, in the order of preference of a station.
pub const ALL: [Framing; 2] = [ETHERNET_II, THREE_COM];

/// The packet of a frame, possibly with padding, and its frame type, one of [`ALL`]. `None` if the
/// frame carries another protocol.
pub fn packet<'a>(frame: &Frame<'a>) -> Option<(&'a [u8], Framing)> {
    let framing = frame.header.framing;
    ALL.contains(&framing).then_some((frame.payload, framing))
}

/// Write a frame with a packet into `out`, replacing its content.
pub fn emit(
    (to, from): (Mac, Mac),
    framing: Framing,
    header: &Header,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.clear();
    let outer = ethernet::Header { destination: to, source: from, framing };
    outer.emit((HEADER_LEN + data.len()).next_multiple_of(2), out)?;
    idp::emit(header, data, out)?;
    ethernet::pad(0, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipx::Address;
    use proptest::prelude::*;

    const TO: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const FROM: Mac = Mac([2, 0, 0, 0, 0, 7]);

    fn header() -> Header {
        let source = Address { network: 0, node: FROM.0, socket: 2 };
        let destination = Address { node: TO.0, ..source };
        Header { checksum: 0, hops: 0, kind: 2, destination, source }
    }

    #[test]
    fn each_framing_has_its_prefix() {
        let expected: [(Framing, &[u8]); 2] =
            [(ETHERNET_II, &[6, 0]), (THREE_COM, &[0, 39, 0x80, 0x80, 3, 6, 0])];
        for (framing, start) in expected {
            let mut octets = Vec::new();
            emit((TO, FROM), framing, &header(), b"abc", &mut octets).unwrap();
            assert_eq!(&octets[12..12 + start.len()], start);
            // The padding octet counts for 802.3 but not for IDP.
            assert_eq!(octets[12 + start.len() + 2..][..2], [0, 33]);
            assert_eq!(octets.len(), 60);
            assert!(emit((TO, FROM), framing, &header(), &[0; 1490], &mut octets).is_err());
        }
        let other =
            ethernet::Header { destination: TO, source: FROM, framing: Framing::Type(0x800) };
        assert_eq!(packet(&Frame { header: other, payload: b"x" }), None);
    }

    proptest! {
        #[test]
        fn packets_round_trip_in_every_framing(
            which in 0..ALL.len(), data in prop::collection::vec(any::<u8>(), 0..1465),
        ) {
            let mut octets = Vec::new();
            emit((TO, FROM), ALL[which], &header(), &data, &mut octets).unwrap();
            let frame = Frame::parse(&octets).unwrap();
            let (octets, framing) = packet(&frame).unwrap();
            prop_assert_eq!(framing, ALL[which]);
            let packet = idp::parse(octets).unwrap();
            prop_assert!(packet.is_intact && packet.data == &data[..]);
        }
    }
}
