//! Names of 8 characters, a dot and 3 characters for files with longer ones.
//!
//! A name that has this form is its own short name, in upper case. Another one gets two of its
//! characters, four digits of a hash of all of it, and a number: as Windows NT does from its fifth
//! similar name on. So it stays the same whatever else comes or goes; only where two names of one
//! directory have one hash does the number tell them apart, in the order of their names.

use std::collections::BTreeSet;

/// Characters of a short name beside letters and digits (MS-DOS).
const ALLOWED: &str = "!#$%&'()-@^_`{}~";
/// Files of one directory that have one hash are told apart by these numbers at most.
const MAX_NUMBER: u32 = 9;

/// The name itself in upper case, if that is a short name.
pub fn own(name: &str) -> Option<String> {
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_part =
        |part: &str| part.chars().all(|one| one.is_ascii_alphanumeric() || ALLOWED.contains(one));
    let fits = (1..=8).contains(&base.len()) && extension.len() <= 3;
    let ends = !name.ends_with('.');
    (fits && ends && is_part(base) && is_part(extension)).then(|| name.to_ascii_uppercase())
}

/// Short names of all files of a directory, in their order. `None` where there is none left.
pub fn of_directory<T: AsRef<str>>(names: &[T]) -> Vec<Option<String>> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let mut taken = BTreeSet::new();
    let mut short = vec![None; names.len()];
    let mut order: Vec<usize> = (0..names.len()).collect();
    // Where two names differ in case alone, the first of them has the name.
    order.sort_by_key(|at| names[*at]);
    for at in &order {
        if let Some(name) = own(names[*at])
            && taken.insert(name.clone())
        {
            short[*at] = Some(name);
        }
    }
    for at in order {
        if short[at].is_none() {
            short[at] = (1..=MAX_NUMBER)
                .map(|number| made(names[at], number))
                .find(|name| taken.insert(name.clone()));
        }
    }
    short
}

/// The short name that is made for a long one.
fn made(name: &str, number: u32) -> String {
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

/// FNV-1a of the octets, folded to 16 bits.
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
    fn a_short_name_is_its_own() {
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
    fn a_long_name_keeps_its_short_one_whatever_comes_beside_it() {
        let alone = of_directory(&["a long name.text"]);
        let short = alone[0].as_ref().unwrap();
        assert!(
            short.starts_with("AL") && short.ends_with("~1.TEX") && short.len() == 12,
            "{short}"
        );
        let among = of_directory(&["a long name", "0", "a long name.text", "zz.text.text"]);
        assert_eq!(among[2], alone[0]);
    }

    #[test]
    fn names_that_differ_in_case_have_names_of_their_own() {
        let short = of_directory(&["readme", "README", "Readme"]);
        assert_eq!(short[1].as_deref(), Some("README"));
        assert!(short[0] != short[2] && short[0].is_some() && short[2].is_some(), "{short:?}");
    }

    proptest! {
        #[test]
        fn short_names_are_valid_and_no_two_are_the_same(names: BTreeSet<String>) {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let short: Vec<_> = of_directory(&names).into_iter().flatten().collect();
            prop_assert!(short.iter().all(|name| own(name).as_deref() == Some(name.as_str())));
            prop_assert_eq!(short.iter().collect::<BTreeSet<_>>().len(), short.len());
        }
    }
}
