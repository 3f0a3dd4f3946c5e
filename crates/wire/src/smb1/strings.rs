//! Strings of messages: DOS code page 850 or UTF-16LE.
//!
//! Source: [MS-CIFS] 2.2.1.1; code page 850 of IBM, by Unicode's mapping.

use std::borrow::Cow;

use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    Oem(&'a [u8]),
    /// UTF-16LE. The number of octets is even.
    Utf16(&'a [u8]),
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self::Oem(&[])
    }
}

impl<'a> Text<'a> {
    pub const fn octets(&self) -> &'a [u8] {
        match self {
            Self::Oem(octets) | Self::Utf16(octets) => octets,
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.octets().is_empty()
    }

    pub const fn is_unicode(&self) -> bool {
        matches!(self, Self::Utf16(_))
    }

    pub fn is_ascii(&self, ascii: &str) -> bool {
        match self {
            Self::Oem(octets) => octets.eq_ignore_ascii_case(ascii.as_bytes()),
            Self::Utf16(octets) => {
                octets.len() == 2 * ascii.len()
                    && octets
                        .chunks_exact(2)
                        .zip(ascii.bytes())
                        .all(|(unit, octet)| unit[1] == 0 && unit[0].eq_ignore_ascii_case(&octet))
            }
        }
    }

    /// The characters. Half of a surrogate pair becomes U+FFFD; every octet of a code page is a
    /// character.
    pub fn decode(&self) -> Cow<'a, str> {
        match self {
            Self::Oem(octets) => match core::str::from_utf8(octets) {
                Ok(text) if text.is_ascii() => Cow::Borrowed(text),
                _ => Cow::Owned(octets.iter().map(|octet| character(*octet)).collect()),
            },
            Self::Utf16(octets) => {
                let units =
                    octets.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
                let characters = char::decode_utf16(units);
                Cow::Owned(characters.map(|found| found.unwrap_or('\u{fffd}')).collect())
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Encoded {
    octets: Vec<u8>,
    unicode: bool,
}

impl Encoded {
    /// Encode `text`.
    ///
    /// # Errors
    /// [`Error::Forbidden`] if `text` has a NUL or a character that is not in the code page: a
    /// substitute would name another file.
    pub fn new(text: &str, unicode: bool) -> Result<Self, Error> {
        let mut octets = Vec::with_capacity(if unicode { 2 * text.len() } else { text.len() });
        for (offset, character) in text.char_indices() {
            let forbidden = Error::Forbidden {
                format: "smb1 string",
                field: "character",
                offset,
                value: u64::from(character as u32),
            };
            if character == '\0' {
                return Err(forbidden);
            }
            if unicode {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    octets.extend_from_slice(&unit.to_le_bytes());
                }
            } else {
                octets.push(octet(character).ok_or(forbidden)?);
            }
        }
        Ok(Self { octets, unicode })
    }

    pub fn text(&self) -> Text<'_> {
        if self.unicode { Text::Utf16(&self.octets) } else { Text::Oem(&self.octets) }
    }
}

/// The character of an octet in code page 850. Octets below 128 are ASCII, control characters included.
pub const fn character(octet: u8) -> char {
    if octet < 128 { octet as char } else { CP850[octet as usize - 128] }
}

/// The octet of a character in code page 850, if it has one.
pub fn octet(character: char) -> Option<u8> {
    if character.is_ascii() {
        return Some(character as u8);
    }
    let at = CP850.iter().position(|found| *found == character)?;
    Some(at as u8 + 128)
}

/// The DOS code page of most of Europe, and Samba's unless `dos charset` is set.
#[rustfmt::skip]
const CP850: [char; 128] = [
    'Ç', 'ü', 'é', 'â', 'ä', 'à', 'å', 'ç', 'ê', 'ë', 'è', 'ï', 'î', 'ì', 'Ä', 'Å',
    'É', 'æ', 'Æ', 'ô', 'ö', 'ò', 'û', 'ù', 'ÿ', 'Ö', 'Ü', 'ø', '£', 'Ø', '×', 'ƒ',
    'á', 'í', 'ó', 'ú', 'ñ', 'Ñ', 'ª', 'º', '¿', '®', '¬', '½', '¼', '¡', '«', '»',
    '░', '▒', '▓', '│', '┤', 'Á', 'Â', 'À', '©', '╣', '║', '╗', '╝', '¢', '¥', '┐',
    '└', '┴', '┬', '├', '─', '┼', 'ã', 'Ã', '╚', '╔', '╩', '╦', '╠', '═', '╬', '¤',
    'ð', 'Ð', 'Ê', 'Ë', 'È', 'ı', 'Í', 'Î', 'Ï', '┘', '┌', '█', '▄', '¦', 'Ì', '▀',
    'Ó', 'ß', 'Ô', 'Ò', 'õ', 'Õ', 'µ', 'þ', 'Þ', 'Ú', 'Û', 'Ù', 'ý', 'Ý', '¯', '´',
    '\u{ad}', '±', '‗', '¾', '¶', '§', '÷', '¸', '°', '¨', '·', '¹', '³', '²', '■', '\u{a0}',
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn umlauts_are_encoded_in_the_code_page() {
        let encoded = Encoded::new("GRÖßE.TXT", false).unwrap();
        assert_eq!(encoded.text(), Text::Oem(b"GR\x99\xe1E.TXT"));
        assert_eq!(encoded.text().decode(), "GRÖßE.TXT");
        assert_eq!([octet('Ã'), octet('₧')], [Some(0xc7), None]);
    }

    #[test]
    fn a_character_that_the_code_page_lacks_is_an_error() {
        let error = Encoded::new("a€", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "smb1 string: field `character` at octet 1 has forbidden value 0x20ac"
        );
        assert!(Encoded::new("a\0b", true).is_err());
    }

    #[test]
    fn ascii_is_compared_without_regard_to_case() {
        let service = Encoded::new("ipc", true).unwrap();
        assert!(service.text().is_ascii("IPC") && !service.text().is_ascii("IPC$"));
        assert!(Text::Oem(b"a:").is_ascii("A:"));
    }

    proptest! {
        #[test]
        fn text_round_trips(text in "[^\0]{0,40}") {
            let encoded = Encoded::new(&text, true).unwrap();
            prop_assert_eq!(encoded.text().decode(), text);
        }

        #[test]
        fn code_page_bytes_round_trip(octets in proptest::collection::vec(1_u8.., 0..60)) {
            let text = Text::Oem(&octets).decode();
            let encoded = Encoded::new(&text, false).unwrap();
            prop_assert_eq!(encoded.text().octets(), &octets);
        }
    }
}
