//! Names in a URL (RFC 3986, section 2).

use std::fmt::Write as _;

/// Write names joined by `/` as the path of a URL: all but letters, digits, `-._~` and the `/`
/// between them as `%` and two digits.
pub fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for octet in path.bytes() {
        match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(octet));
            }
            _ => {
                let _ = write!(encoded, "%{octet:02X}");
            }
        }
    }
    encoded
}

/// Read what [`encode`] wrote, or another encoder. `None` if it is not UTF-8, or a `%` stands
/// alone.
pub fn decode(encoded: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(octet) = rest.next() {
        let octet = match octet {
            b'%' => hexadecimal(rest.next()?)? << 4 | hexadecimal(rest.next()?)?,
            other => other,
        };
        octets.push(octet);
    }
    String::from_utf8(octets).ok()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_means_something_in_a_url_is_written_by_its_number() {
        assert_eq!(encode("a b/50%#?.txt"), "a%20b/50%25%23%3F.txt");
        assert_eq!(encode("ü'~"), "%C3%BC%27~");
        assert_eq!(decode("%c3%bc+'~").as_deref(), Some("ü+'~"));
        for bad in ["%", "%4", "%zz", "%ff", "a%-1"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn encode_then_decode_is_identity(path in ".*") {
            let encoded = encode(&path);
            prop_assert!(encoded.is_ascii() && !encoded.contains([' ', '?', '#']));
            prop_assert_eq!(decode(&encoded), Some(path));
        }

        #[test]
        fn decode_never_panics(text in ".*") {
            let _ = decode(&text);
        }
    }
}
