//! Names of 8 characters, a dot and 3 characters for files with longer ones.
//!
//! A name of this form is its own short name, in upper case. Any other name becomes two of its characters, four
//! hash digits and a number, as in Windows NT from the fifth similar name on. The short name does not depend on
//! other files, except that the number distinguishes names with the same hash.

/// Characters of a short name in addition to letters and digits (MS-DOS).
const ALLOWED: &str = "!#$%&'()-@^_`{}~";
/// Largest number that distinguishes files with the same hash in one directory.
pub const MAX_NUMBER: u32 = 9;

/// The name in upper case, if it is a valid short name.
pub fn own(name: &str) -> Option<String> {
    is_own(name).then(|| name.to_ascii_uppercase())
}

pub fn is_own(name: &str) -> bool {
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_part =
        |part: &str| part.chars().all(|one| one.is_ascii_alphanumeric() || ALLOWED.contains(one));
    let fits = (1..=8).contains(&base.len()) && extension.len() <= 3;
    let ends = !name.ends_with('.');
    fits && ends && is_part(base) && is_part(extension)
}

/// The short name generated for a longer name; `number` starts at 1.
pub fn made(name: &str, number: u32) -> String {
    let (base, extension) = match name.rsplit_once('.') {
        Some((base, extension)) if !base.is_empty() => (base, extension),
        _ => (name, ""),
    };
    let part = |part: &str, most| {
        part.chars()
            .filter(char::is_ascii_alphanumeric)
            .take(most)
            .map(|one| one.to_ascii_uppercase())
            .collect::<String>()
    };
    let (start, extension) = (part(base, 2), part(extension, 3));
    let dot = if extension.is_empty() { "" } else { "." };
    format!("{start}{:04X}~{number}{dot}{extension}", hash(name))
}

/// The generated short name with its number replaced by 1. `None` if the name was not generated.
pub fn first_of(short_name: &str) -> Option<String> {
    let (start, end) = short_name.split_once('~')?;
    let extension = end.strip_prefix(|number: char| matches!(number, '1'..='9'))?;
    let has_form = (4..=6).contains(&start.len())
        && start.bytes().all(|one| one.is_ascii_alphanumeric())
        && (extension.is_empty() || extension.starts_with('.'));
    has_form.then(|| format!("{start}~1{extension}").to_ascii_uppercase())
}

/// FNV-1a of the bytes, folded to 16 bits.
fn hash(name: &str) -> u16 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, octet| (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193));
    (hash >> 16) as u16 ^ hash as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_valid_short_name_stays_unchanged() {
        for (name, short) in [
            ("readme.txt", Some("README.TXT")),
            ("A", Some("A")),
            ("12345678.123", Some("12345678.123")),
            ("123456789", None),
            ("a.text", None),
            ("a.b.c", None),
            (".profile", None),
            ("a b", None),
            ("a.", None),
            ("größe", None),
            ("a~1", Some("A~1")),
        ] {
            assert_eq!(own(name).as_deref(), short, "{name}");
        }
    }

    #[test]
    fn numbers_in_generated_names_are_replaced() {
        let name = "a long name.text";
        assert!(made(name, 1).starts_with("AL") && made(name, 1).ends_with("~1.TEX"));
        assert_eq!(first_of(&made(name, 7).to_lowercase()), Some(made(name, 1)));
        assert_eq!(first_of(&made("größe", 2)), Some(made("größe", 1)));
        for none in ["README.TXT", "A~1", "ABCDEFG~1", "AB12CD~0", "AB12CD~12", "AB12~1x", "~1"] {
            assert_eq!(first_of(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn generated_names_are_valid_short_names(name: String, number in 1..=MAX_NUMBER) {
            let made = made(&name, number);
            prop_assert_eq!(own(&made), Some(made.clone()));
        }
    }
}
