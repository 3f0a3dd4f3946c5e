//! Directory searches: one entry per request.

use crate::fields::fields;

use super::file_entry::LEN;
use super::text::{Name, messages};

pub const FIRST: u16 = 0xffff;

fields! {
    Found, Big, "ncp search reply" => {
        place: u16,
        directory: u16,
        entry: [u8; LEN],
    }
}

fields! {
    Begun, Big, "ncp begun search" => {
        volume: u8,
        directory: u16,
        after: u16,
        rights: u8,
    }
}

messages! {
    Search<'a>, "ncp search" => {
        after: u16,
        handle: u8,
        /// Bits of [`attribute`](super::file_entry::attribute).
        attributes: u8,
        pattern: Name<'a>,
    }



    Continue<'a>, "ncp continued search" => {
        volume: u8,
        directory: u16,
        after: u16,
        /// Bits of [`attribute`](super::file_entry::attribute).
        attributes: u8,
        pattern: Name<'a>,
    }
}

/// A pattern with plain characters. Shells also write `*`, `.` and `?` with the high bit set, after
/// an escape octet.
pub fn plain_pattern(pattern: &[u8]) -> Vec<u8> {
    let octets = pattern.iter().filter(|octet| **octet != MARK);
    octets
        .map(|octet| match octet {
            0xaa => b'*',
            0xae => b'.',
            0xbf => b'?',
            other => *other,
        })
        .collect()
}

const MARK: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_wildcards_equal_plain_ones() {
        assert_eq!(plain_pattern(b"\xff\xaa\xae\xff\xaa"), b"*.*");
        assert_eq!(plain_pattern(b"A\xbf.\xaa"), b"A?.*");
        assert_eq!(plain_pattern(b"A?.*"), b"A?.*");
    }

    #[test]
    fn searches_report_where_to_continue() {
        let search = Search::parse(b"\xff\xff\x01\x06\x01*").unwrap();
        assert_eq!((search.after, search.handle, search.attributes), (FIRST, 1, 6));
        assert_eq!(search.pattern.0, b"*");
        let mut octets = Vec::new();
        Found::default().emit(&mut octets);
        assert_eq!(octets.len(), 32);
    }
}
