//! Applies a rename pattern to a name.
//!
//! Source: DOS's file control blocks (function 17h: `?` keeps a character), which `RENAME` of
//! [MS-CIFS] 2.2.4.8 follows: base and extension are handled separately.

/// The new name for `name`. In the pattern, `?` keeps the name's character at its position, if any,
/// and `*` keeps the rest. The extension follows the last dot.
pub fn renamed(name: &str, pattern: &str) -> String {
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let (new_base, new_extension) = match pattern.rsplit_once('.') {
        Some((base, extension)) => (base, extension),
        None => (pattern, ""),
    };
    let (base, extension) = (part(base, new_base), part(extension, new_extension));
    if extension.is_empty() { base } else { format!("{base}.{extension}") }
}

fn part(old: &str, pattern: &str) -> String {
    let (mut new, mut old) = (String::new(), old.chars());
    for character in pattern.chars() {
        match character {
            '*' => {
                new.extend(old);
                break;
            }
            '?' => new.extend(old.next()),
            other => {
                old.next();
                new.push(other);
            }
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_renames_treat_base_and_extension_separately() {
        for (name, pattern, expected) in [
            ("report.txt", "*.bak", "report.bak"),
            ("report.txt", "new.*", "new.txt"),
            ("report.txt", "x*.*", "xeport.txt"),
            ("report.txt", "??x*.t?", "rexort.tx"),
            ("report.txt", "*", "report"),
            ("report", "*.*", "report"),
            ("ab.c", "?????.???", "ab.c"),
            ("a.b.c", "*.d", "a.b.d"),
            ("größe.txt", "?x*.?y?", "gxöße.tyt"),
            ("a", "b?", "b"),
            ("a", "?", "a"),
        ] {
            assert_eq!(renamed(name, pattern), expected, "{name} {pattern}");
        }
    }
}
