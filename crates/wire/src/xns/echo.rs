//! Echo: the other end returns the data.
//!
//! Source: XSIS 028112, section 5.

use crate::Error;
use crate::fields::{Field, Order};

const FORMAT: &str = "xns echo";
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo<'a> {
    pub is_reply: bool,
    pub data: &'a [u8],
}

impl<'a> Echo<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let operation = u16::first(FORMAT, data, Order::Big)?;
        if !matches!(operation, REQUEST | REPLY) {
            return Err(Error::forbidden(FORMAT, "operation", 0, operation));
        }
        Ok(Self { is_reply: operation == REPLY, data: &data[u16::LEN..] })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        (if self.is_reply { REPLY } else { REQUEST }).write(Order::Big, out);
        out.extend_from_slice(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_operations_are_refused() {
        let said = |octets: &[u8]| Echo::parse(octets).unwrap_err().to_string();
        assert_eq!(said(&[1]), "xns echo: need 2 octets, got 1");
        assert_eq!(said(&[0, 3]), "xns echo: field `operation` at octet 0 has forbidden value 0x3");
        assert_eq!(Echo::parse(b"\0\x01ab"), Ok(Echo { is_reply: false, data: b"ab" }));
    }

    proptest! {
        #[test]
        fn echoes_round_trip(is_reply: bool, data: Vec<u8>) {
            let echo = Echo { is_reply, data: &data };
            let mut octets = Vec::new();
            echo.emit(&mut octets);
            prop_assert_eq!(Echo::parse(&octets), Ok(echo));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..8)) {
            let _ = Echo::parse(&octets);
        }
    }
}
