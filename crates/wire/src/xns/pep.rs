//! Packet exchange: a request, and a reply with the same number.
//!
//! Source: XSIS 028112, section 7.

use crate::fields::fields;

pub const HEADER_LEN: usize = 6;

fields! {
    Header, Big, "pep" => {
        id: u32,
        client: u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(id: u32, client: u16, rest: Vec<u8>) {
            let header = Header { id, client };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets.len(), HEADER_LEN);
            octets.extend_from_slice(&rest);
            prop_assert_eq!(Header::parse(&octets), Ok(header));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..9)) {
            let _ = Header::parse(&octets);
        }
    }
}
