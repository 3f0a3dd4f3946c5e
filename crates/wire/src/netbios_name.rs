//! NetBIOS names: 16 octets, of which the last gives the type of name.
//!
//! Source: RFC 1001, section 14.1, and RFC 1002, section 4.1 (first-level encoding: each half of an
//! octet becomes a letter from `A` to `P`; a scope follows as labels of a domain name).

use crate::{Error, printable};

const FORMAT: &str = "netbios name";

pub const NAME_LEN: usize = 16;
/// Length of the part that people write; the last octet is the suffix.
pub const MAX_TEXT_LEN: usize = 15;
/// Length of an encoded name without a scope: length, letters, end.
pub const PLAIN_LEN: usize = 34;
/// Maximum length of a name with its scope (RFC 1002, section 4.1).
pub const MAX_ENCODED_LEN: usize = 255;

pub mod suffix {
    pub const WORKSTATION: u8 = 0x00;
    pub const SERVER: u8 = 0x20;
}

/// A name of 16 octets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub [u8; NAME_LEN]);

impl Name {
    /// The wildcard name in a status request: `*` and 15 zeros.
    pub const ANY: Self = Self(*b"*\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");

    /// `text` in upper case, padded with blanks, and `suffix`.
    ///
    /// # Errors
    /// [`Error::Forbidden`] if `text` is empty, longer than 15 octets or not printable ASCII. Names
    /// with other characters depend on the code page of each host.
    pub fn new(text: &str, suffix: u8) -> Result<Self, Error> {
        if text.is_empty() || text.len() > MAX_TEXT_LEN {
            return Err(Error::forbidden(FORMAT, "length", 0, text.len() as u64));
        }
        let mut name = [b' '; NAME_LEN];
        for (at, octet) in text.bytes().enumerate() {
            if !(b' '..=b'~').contains(&octet) {
                return Err(Error::forbidden(FORMAT, "character", at, octet));
            }
            name[at] = octet.to_ascii_uppercase();
        }
        name[MAX_TEXT_LEN] = suffix;
        Ok(Self(name))
    }

    pub const fn suffix(&self) -> u8 {
        self.0[MAX_TEXT_LEN]
    }

    /// The name as people write it, without padding. Octets outside ASCII become `?`.
    pub fn text(&self) -> String {
        let text = &self.0[..MAX_TEXT_LEN];
        let end = text.iter().rposition(|octet| !matches!(octet, b' ' | 0)).map_or(0, |at| at + 1);
        printable(&text[..end])
    }

    /// Append the encoded name without a scope: [`PLAIN_LEN`] octets.
    pub fn emit_plain(&self, out: &mut Vec<u8>) {
        self.emit_label(out);
        out.push(0);
    }

    /// Append the encoded name with the labels of `scope`, such as `NETBIOS.COM` or none.
    pub fn emit(&self, scope: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        let forbidden =
            |value| Error::Forbidden { format: FORMAT, field: "scope", offset: 33, value };
        if scope.len() + PLAIN_LEN + 1 > MAX_ENCODED_LEN {
            return Err(forbidden(scope.len() as u64));
        }
        if scope.split('.').any(|label| label.len() > 63 || label.is_empty()) && !scope.is_empty() {
            return Err(forbidden(0));
        }
        self.emit_label(out);
        for label in scope.split('.').filter(|label| !label.is_empty()) {
            out.push(label.len() as u8);
            out.extend_from_slice(label.as_bytes());
        }
        out.push(0);
        Ok(())
    }

    /// Read a name at the start of `octets`, and skip its scope. Also returns the number of octets
    /// read.
    pub fn parse_and_skip_scope(octets: &[u8]) -> Result<(Self, usize), Error> {
        let forbidden =
            |field, offset: usize| Error::forbidden(FORMAT, field, offset, octets[offset]);
        Error::need(FORMAT, octets, PLAIN_LEN)?;
        if octets[0] != 32 {
            return Err(forbidden("length", 0));
        }
        let mut name = [0; NAME_LEN];
        for (index, octet) in name.iter_mut().enumerate() {
            for at in [1 + 2 * index, 2 + 2 * index] {
                let half = octets[at].wrapping_sub(b'A');
                if half > 15 {
                    return Err(forbidden("letter", at));
                }
                *octet = *octet << 4 | half;
            }
        }
        let mut at = 33;
        loop {
            Error::need(FORMAT, octets, at + 1)?;
            let label = octets[at];
            if label > 63 || at + 1 + usize::from(label) > MAX_ENCODED_LEN {
                return Err(forbidden("scope", at));
            }
            at += 1 + usize::from(label);
            if label == 0 {
                return Ok((Self(name), at));
            }
        }
    }

    fn emit_label(&self, out: &mut Vec<u8>) {
        out.push(32);
        for octet in self.0 {
            out.extend_from_slice(&[b'A' + (octet >> 4), b'A' + (octet & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_published_example_is_encoded_as_published() {
        // RFC 1001, section 14.1: "The NetBIOS name" in the scope SCOPE.ID.COM.
        let name = Name(*b"The NetBIOS name");
        let mut octets = Vec::new();
        name.emit("SCOPE.ID.COM", &mut octets).unwrap();
        assert_eq!(octets[0], 32);
        assert_eq!(&octets[1..33], b"FEGIGFCAEOGFHEECEJEPFDCAGOGBGNGF");
        assert_eq!(&octets[33..], b"\x05SCOPE\x02ID\x03COM\0");
        assert_eq!(Name::parse_and_skip_scope(&octets), Ok((name, octets.len())));
    }

    #[test]
    fn a_name_is_in_upper_case_and_padded_with_blanks() {
        let name = Name::new("server", suffix::SERVER).unwrap();
        assert_eq!(&name.0, b"SERVER         \x20");
        assert_eq!((name.text().as_str(), name.suffix()), ("SERVER", 0x20));
        assert_eq!(Name::ANY.text(), "*");
    }

    #[test]
    fn an_invalid_name_is_refused() {
        for text in ["", "SIXTEEN-LETTERS-", "ü"] {
            assert!(Name::new(text, 0).is_err(), "{text}");
        }
        let mut octets = Vec::new();
        Name::ANY.emit_plain(&mut octets);
        octets[7] = b'Q';
        assert_eq!(
            Name::parse_and_skip_scope(&octets).unwrap_err().to_string(),
            "netbios name: field `letter` at octet 7 has forbidden value 0x51"
        );
        assert!(Name::ANY.emit("a..b", &mut Vec::new()).is_err());
        assert!(Name::ANY.emit(&"a".repeat(64), &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn parse_never_panics_nor_reads_past_the_longest_name(octets: Vec<u8>, labels: Vec<u8>) {
            let _ = Name::parse_and_skip_scope(&octets);
            let mut encoded = Vec::new();
            Name::ANY.emit_plain(&mut encoded);
            encoded.pop();
            encoded.extend_from_slice(&labels);
            if let Ok((_, len)) = Name::parse_and_skip_scope(&encoded) {
                prop_assert!(len <= MAX_ENCODED_LEN && len <= encoded.len());
            }
        }

        #[test]
        fn names_round_trip(octets: [u8; 16]) {
            let mut encoded = Vec::new();
            Name(octets).emit_plain(&mut encoded);
            prop_assert_eq!(Name::parse_and_skip_scope(&encoded), Ok((Name(octets), PLAIN_LEN)));
        }
    }
}
