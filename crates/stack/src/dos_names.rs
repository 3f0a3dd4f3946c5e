//! File names that DOS and Windows can use.

use lanlab_wire::smb1::status::error::{self, Row};
use lanlab_wire::smb1::wildcard;

const MAX_CHARACTERS: usize = 255;
const FORBIDDEN: [char; 5] = ['/', ':', '|', '\u{fffd}', '\u{7f}'];
/// Device names of DOS and Windows, with any extension.
const DEVICES: [&str; 5] = ["CON", "PRN", "AUX", "NUL", "CLOCK$"];

/// Whether a name is valid for a file, or as a search pattern.
pub fn check(name: &str) -> Result<(), Row> {
    let is_forbidden = |one: char| one.is_control() || FORBIDDEN.contains(&one);
    if name.chars().count() > MAX_CHARACTERS {
        return Err(error::NAME_TOO_LONG);
    }
    if name == ".." || name.contains(is_forbidden) || is_device(name) {
        return Err(error::OBJECT_NAME_INVALID);
    }
    // Windows strips trailing dots and blanks, so two names would become one.
    let is_pattern = wildcard::is_pattern(name);
    if !is_pattern && name.ends_with([' ', '.']) {
        return Err(error::OBJECT_NAME_INVALID);
    }
    Ok(())
}

/// Whether a client can request this file name. One with `\\` or a wildcard is read differently.
pub fn can_be_asked_for(name: &str) -> bool {
    let is_another = name.is_empty() || name == "." || name.contains('\\');
    !is_another && !wildcard::is_pattern(name) && check(name).is_ok()
}

fn is_device(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let numbered = base.strip_prefix("COM").or_else(|| base.strip_prefix("LPT"));
    DEVICES.contains(&base.as_str())
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_the_share_are_refused() {
        for name in
            ["..", "a:b", "a/b", "CON", "con.txt", "LPT1", "com9.x", "nul ", "a\u{1}", "a.", "..."]
        {
            assert!(check(name).is_err(), "{name}");
        }
        for name in ["console", "LPT10", "COMA", "a", "größe.txt", "*.*"] {
            assert!(check(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn unrepresentable_requests_are_refused() {
        for name in ["", ".", "..", "a\\b", "co:lon", "CON", "a\nb", "what?", "a*", "<", "a.", "b "]
        {
            assert!(!can_be_asked_for(name), "{name:?}");
        }
        for name in ["console", ".profile", "größe.txt", "a~1", "a;b", "[x]"] {
            assert!(can_be_asked_for(name), "{name:?}");
        }
    }
}
