//! Frame types of IPX on Ethernet: Ethernet II, raw 802.3, 802.2 and SNAP.
//!
//! Source: articles Q104024 and Q122210 of Microsoft's Knowledge Base; dissector `ipx` of Wireshark.

use super::{HEADER_LEN, Header, NO_CHECKSUM};
use crate::Error;
use crate::ethernet::{self, Frame, Framing, MAX_PAYLOAD_LEN, Mac};

const ETHERNET_TYPE: u16 = 0x8137;
const OLD_ETHERNET_TYPE: u16 = 0x8138;
const LLC_START: [u8; 3] = [0xe0, 0xe0, 0x03];

/// 802.2, the default of NetWare from 3.12 on, and of NWLink.
pub const IEEE_802_2: Framing = Framing::Llc;
pub const ETHERNET_II: Framing = Framing::Type(ETHERNET_TYPE);
/// Raw 802.3, the default of NetWare before 3.12.
pub const RAW_802_3: Framing = Framing::Raw;
pub const SNAP: Framing = Framing::Snap { organization: [0; 3], protocol: ETHERNET_TYPE };
/// All frame types, in the order of preference of a station that hears several.
pub const ALL: [Framing; 4] = [IEEE_802_2, ETHERNET_II, RAW_802_3, SNAP];

/// The packet of a frame, possibly with padding, and its frame type, one of [`ALL`]. `None` if the
/// frame carries another protocol.
pub fn packet<'a>(frame: &Frame<'a>) -> Option<(&'a [u8], Framing)> {
    let payload = frame.payload;
    match frame.header.framing {
        Framing::Type(ETHERNET_TYPE | OLD_ETHERNET_TYPE) => Some((payload, ETHERNET_II)),
        Framing::Raw => Some((payload, RAW_802_3)),
        Framing::Llc => Some((payload.strip_prefix(&LLC_START)?, IEEE_802_2)),
        Framing::Snap { organization: [0, 0, 0], protocol: ETHERNET_TYPE } => Some((payload, SNAP)),
        _ => None,
    }
}

pub const fn longest_data(framing: Framing) -> usize {
    let inner = match framing {
        Framing::Llc => LLC_START.len(),
        other => other.inner_len(),
    };
    MAX_PAYLOAD_LEN - inner - HEADER_LEN
}

/// Write a frame with a packet into `out`, replacing its content.
pub fn emit(
    (to, from): (Mac, Mac),
    framing: Framing,
    header: &Header,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    if framing == RAW_802_3 && header.checksum != NO_CHECKSUM {
        return Err(Error::forbidden("ipx", "checksum", 0, header.checksum));
    }
    let llc: &[u8] = if framing == IEEE_802_2 { &LLC_START } else { &[] };
    let length = llc.len() + HEADER_LEN + data.len();
    // Period drivers send an even number of octets if no LLC header states the length (Q122210).
    let is_odd = matches!(framing, RAW_802_3 | ETHERNET_II) && !length.is_multiple_of(2);
    out.clear();
    let outer = ethernet::Header { destination: to, source: from, framing };
    outer.emit(length + usize::from(is_odd), out)?;
    out.extend_from_slice(llc);
    header.emit(data, out)?;
    out.extend_from_slice(if is_odd { &[0] } else { &[] });
    ethernet::pad(0, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Address, socket};
    use super::*;
    use proptest::prelude::*;

    const TO: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const FROM: Mac = Mac([2, 0, 0, 0, 0, 7]);

    fn header() -> Header {
        let address = Address { network: 0x17, node: FROM.0, socket: socket::SAP };
        Header {
            checksum: NO_CHECKSUM,
            hops: 0,
            kind: 4,
            destination: Address { node: TO.0, ..address },
            source: address,
        }
    }

    #[test]
    fn each_framing_has_its_length_and_prefix() {
        let expected: [(Framing, &[u8], usize); 4] = [
            (IEEE_802_2, &[0, 36, 0xe0, 0xe0, 3, 0xff, 0xff], 1467),
            (ETHERNET_II, &[0x81, 0x37, 0xff, 0xff], 1470),
            // The padding octet counts for 802.3 but not for IPX.
            (RAW_802_3, &[0, 34, 0xff, 0xff, 0, 33], 1470),
            (SNAP, &[0, 41, 0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0x37, 0xff, 0xff], 1462),
        ];
        for (framing, start, longest) in expected {
            let mut octets = Vec::new();
            emit((TO, FROM), framing, &header(), b"abc", &mut octets).unwrap();
            assert_eq!(&octets[12..12 + start.len()], start, "{framing:?}");
            assert_eq!(longest_data(framing), longest);
            emit((TO, FROM), framing, &header(), &vec![7; longest], &mut octets).unwrap();
            let too_long = vec![7; longest + 1];
            assert!(emit((TO, FROM), framing, &header(), &too_long, &mut octets).is_err());
        }
        let summed = Header { checksum: 0x1234, ..header() };
        assert!(emit((TO, FROM), RAW_802_3, &summed, &[], &mut Vec::new()).is_err());
    }

    #[test]
    fn other_protocols_and_the_older_type_are_distinguished() {
        let of = |framing, payload| {
            let header = ethernet::Header { destination: TO, source: FROM, framing };
            packet(&Frame { header, payload })
        };
        assert_eq!(of(Framing::Type(0x8138), &b"x"[..]), Some((&b"x"[..], ETHERNET_II)));
        assert_eq!(of(Framing::Type(0x0800), &b"x"[..]), None);
        assert_eq!(of(Framing::Llc, &[0xf0, 0xf0, 3][..]), None);
        assert_eq!(of(Framing::Llc, &[0xe0, 0xe0][..]), None);
    }

    proptest! {
        #[test]
        fn packets_round_trip_in_every_framing(
            which in 0..4_usize, data in prop::collection::vec(any::<u8>(), 0..1462),
        ) {
            let mut octets = Vec::new();
            emit((TO, FROM), ALL[which], &header(), &data, &mut octets).unwrap();
            let frame = Frame::parse(&octets).unwrap();
            let (octets, framing) = packet(&frame).unwrap();
            prop_assert_eq!(framing, ALL[which]);
            prop_assert_eq!(Header::parse(octets), Ok((header(), &data[..])));
        }
    }
}
