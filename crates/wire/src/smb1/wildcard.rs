//! Wildcards of file names.
//!
//! Source: [MS-FSA] 2.1.4.4 for Windows NT's wildcards, [MS-CIFS] 2.2.1.1.3 and DOS's file control
//! blocks for `?` and `*` in 8.3 names.

/// Longest name or pattern, characters. Longer ones match nothing, which bounds the work.
pub const MAX_CHARACTERS: usize = 1024;

/// Length of a DOS name before and after the dot.
const BASE_LEN: usize = 8;
const EXTENSION_LEN: usize = 3;

pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '<', '>', '"'])
}

/// Whether `name` matches `pattern` by DOS rules. Both are padded to 8 and 3 characters; `?`
/// matches any character or blank, `*` the rest. Case is ignored. `None` if one of them is not in
/// 8.3 form.
pub fn matches_dos(pattern: &str, name: &str) -> Option<bool> {
    let (pattern, name) = (control_block(pattern, true)?, control_block(name, false)?);
    Some(pattern.iter().zip(name).all(|(pattern, name)| *pattern == '?' || *pattern == name))
}

/// The 11 characters of the 8.3 form.
fn control_block(text: &str, is_pattern: bool) -> Option<[char; BASE_LEN + EXTENSION_LEN]> {
    let mut block = [' '; BASE_LEN + EXTENSION_LEN];
    if matches!(text, "." | "..") {
        for (at, character) in text.chars().enumerate() {
            block[at] = character;
        }
        return Some(block);
    }
    let (base, extension) = text.rsplit_once('.').unwrap_or((text, ""));
    if base.is_empty() {
        return None;
    }
    for (part, range) in [(base, 0..BASE_LEN), (extension, BASE_LEN..BASE_LEN + EXTENSION_LEN)] {
        let field = &mut block[range];
        for (at, character) in part.chars().enumerate() {
            if is_pattern && character == '*' {
                field.get_mut(at..)?.fill('?');
                break;
            }
            if character == '.' {
                return None;
            }
            *field.get_mut(at)? = fold(character);
        }
    }
    Some(block)
}

/// Convert a client's pattern of `?` and `*` to Windows NT wildcards with the DOS meaning, for
/// names longer than 8.3. `*.*` matches all names.
pub fn from_dos(pattern: &str) -> String {
    if matches!(pattern, "*.*" | "????????.???") {
        return "*".to_owned();
    }
    let characters: Vec<char> = pattern.chars().collect();
    let next = |at: usize| characters.get(at + 1).copied();
    characters
        .iter()
        .enumerate()
        .map(|(at, character)| match (character, next(at)) {
            ('?', _) => '>',
            ('.', Some('?' | '*')) => '"',
            ('*', Some('.')) => '<',
            (other, _) => *other,
        })
        .collect()
}

/// Whether `name` matches `pattern`, ignoring case. In the pattern
///
/// - `*` matches zero or more characters,
/// - `?` one character,
/// - `<` any characters up to the last dot, with or without it,
/// - `>` one character, or none before a dot and at the end,
/// - `"` a dot, or nothing at the end.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().map(fold).take(MAX_CHARACTERS + 1).collect();
    let name: Vec<char> = name.chars().map(fold).take(MAX_CHARACTERS + 1).collect();
    if pattern.len() > MAX_CHARACTERS || name.len() > MAX_CHARACTERS {
        return false;
    }
    let last_dot = name.iter().rposition(|character| *character == '.');

    // `after[at]`: whether the rest of the pattern matches the name from `at` on. It is computed
    // from the end of the pattern, with one step per pair of characters.
    let mut after = vec![false; name.len() + 1];
    after[name.len()] = true;
    let mut here = vec![false; name.len() + 1];
    for expected in pattern.iter().rev() {
        for at in (0..=name.len()).rev() {
            let next = |row: &[bool]| row.get(at + 1).copied().unwrap_or(false);
            let found = name.get(at).copied();
            here[at] = match (expected, found) {
                ('?', found) => found.is_some() && next(&after),
                ('<', Some(_)) if last_dot == Some(at) => after[at] || next(&after),
                ('*' | '<', _) => after[at] || next(&here),
                ('>', None | Some('.')) | ('"', None) => after[at],
                ('>', Some(_)) => next(&after),
                ('"', found) => found == Some('.') && next(&after),
                (expected, found) => found == Some(*expected) && next(&after),
            };
        }
        core::mem::swap(&mut here, &mut after);
    }
    after[0]
}

fn fold(character: char) -> char {
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dos_compares_8_and_3_characters() {
        for (pattern, name, expected) in [
            ("????????.???", "A.TXT", true),
            ("????????.???", "NOEXT", true),
            ("*.*", "NOEXT", true),
            ("*", "NOEXT", true),
            ("*", "A.TXT", false),
            ("*.", "NOEXT", true),
            ("A?.TXT", "a.txt", true),
            ("A?.TXT", "AB.TXT", true),
            ("A?.TXT", "ABC.TXT", false),
            ("A*B.TXT", "AXY.TXT", true),
            ("B*.TXT", "A.TXT", false),
            ("*.T?T", "A.TXT", true),
            ("????????.???", "..", true),
        ] {
            assert_eq!(matches_dos(pattern, name), Some(expected), "{pattern} {name}");
        }
        for (pattern, name) in [("*", "long name.text"), ("123456789", "A"), ("*", ".profile")] {
            assert_eq!(matches_dos(pattern, name), None, "{pattern} {name}");
        }
    }

    #[test]
    fn nt_wildcards_match_the_specification() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*c", "ABC", true),
            ("a*c", "abd", false),
            ("?", "", false),
            ("?b", "ab", true),
            ("<.txt", "a.b.txt", true),
            ("<.b", "a.b.txt", false),
            ("<\"*", "noext", true),
            ("<", "a.b.c", false),
            ("<c", "a.b.c", true),
            (">>>.txt", "a.txt", true),
            (">>>.txt", "abcd.txt", false),
            ("a\"", "a", true),
            ("a\"", "a.", true),
            ("a\"b", "ab", false),
            ("a\"b", "a.b", true),
            ("größe*", "GRÖßE.TXT", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn dos_patterns_match_long_names() {
        for (pattern, name, expected) in [
            ("*.*", "no extension", true),
            ("????????.???", "a name longer than 8.3", true),
            ("*.txt", "a.b.txt", true),
            ("a?.txt", "a.txt", true),
            ("*.", "no extension", false),
            ("data?.*", "data", true),
        ] {
            assert_eq!(matches(&from_dos(pattern), name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_any_other() {
        let name = "a".repeat(MAX_CHARACTERS);
        assert!(!matches(&"*a".repeat(MAX_CHARACTERS / 2 - 1), &format!("{}b", &name[1..])));
        assert!(!matches("*", &format!("{name}b")), "a name that is too long");
    }

    fn by_definition(pattern: &[char], name: &[char], last_dot: Option<usize>, at: usize) -> bool {
        let Some((expected, rest)) = pattern.split_first() else { return at == name.len() };
        let found = name.get(at).copied();
        let skip = || by_definition(rest, name, last_dot, at);
        let step = || by_definition(rest, name, last_dot, at + 1);
        let more = || by_definition(pattern, name, last_dot, at + 1);
        match expected {
            '*' => skip() || found.is_some() && more(),
            '?' => found.is_some() && step(),
            '<' => {
                let past = if last_dot == Some(at) { step() } else { found.is_some() && more() };
                skip() || past
            }
            '>' if found.is_none_or(|found| found == '.') => skip(),
            '>' => step(),
            '"' if found.is_none() => skip(),
            '"' => found == Some('.') && step(),
            other => found == Some(*other) && step(),
        }
    }

    proptest! {
        #[test]
        fn matching_is_as_defined(pattern in "[A.*?<>\"]{0,7}", name in "[AB.]{0,7}") {
            let (p, n): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
            let last_dot = n.iter().rposition(|found| *found == '.');
            prop_assert_eq!(matches(&pattern, &name), by_definition(&p, &n, last_dot, 0));
        }

        #[test]
        fn a_name_without_wildcards_matches_itself(name in "[a-zäöü0-9.]{0,20}", any: String) {
            prop_assert!(matches(&name, &name));
            let _ = (matches(&any, &name), matches_dos(&any, &name), from_dos(&any));
        }
    }
}
