//! Octets as hexadecimal digits, in small letters.

use std::fmt::Write as _;

/// Two small digits for each octet.
pub fn written(octets: &[u8]) -> String {
    octets.iter().fold(String::with_capacity(2 * octets.len()), |mut text, octet| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// Read 32 octets that [`written`] wrote. `None` if it did not.
pub fn read(text: &str) -> Option<[u8; 32]> {
    let digit = |octet: u8| match octet {
        b'0'..=b'9' => Some(octet - b'0'),
        b'a'..=b'f' => Some(octet - b'a' + 10),
        _ => None,
    };
    let mut octets = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (octet, pair) in octets.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *octet = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sigv4::OF_NOTHING;

    #[test]
    fn only_a_whole_hash_is_read() {
        assert_eq!(read(OF_NOTHING).map(|hash| written(&hash)).as_deref(), Some(OF_NOTHING));
        for odd in ["", &OF_NOTHING[1..], &OF_NOTHING.to_uppercase(), &"é".repeat(32)] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
