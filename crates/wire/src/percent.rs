//! Names in a URL (RFC 3986, section 2).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

pub fn encode(path: &str) -> String {
    utf8_percent_encode(path, ENCODED).to_string()
}

/// Decode the output of [`encode`] or of another encoder. `None` if it is not UTF-8. A `%` without
/// two digits is kept.
pub fn decode(encoded: &str) -> Option<String> {
    percent_decode_str(encoded).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_percent_encoded() {
        assert_eq!(encode("a b/50%#?.txt"), "a%20b/50%25%23%3F.txt");
        assert_eq!(encode("ü'~"), "%C3%BC%27~");
        assert_eq!(decode("%c3%bc+'~%2").as_deref(), Some("ü+'~%2"));
        assert_eq!(decode("%ff"), None);
    }
}
