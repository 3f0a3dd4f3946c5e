//! Lines of LIST in the formats of `ls -l`: with or without a group, in the server's language and
//! date format. Every format has a date, with the size before it and the name after it.

use lanlab_files::Entry;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Entry(Entry),
    NoEntry,
    Unknown,
}

const MOST_FIELDS: usize = 12;
/// Number of the field with which the date begins, most likely first: after mode, links, owner,
/// group and size; without a group; with a group of two words; without owner or links. A user and a
/// size can look like a date.
const DATE_AT: [usize; 7] = [5, 4, 6, 3, 2, 7, 8];

pub fn read(line: &str) -> Line {
    let Some(kind) = kind_of(line) else { return without_mode(line) };
    match kind {
        '-' | 'd' => entry(line, kind == 'd').map_or(Line::Unknown, Line::Entry),
        _ => Line::NoEntry,
    }
}

/// A line without a mode: `total 12`, `insgesamt 12`, `合計 12`, or an unknown one.
pub fn without_mode(line: &str) -> Line {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_sum = matches!(fields.as_slice(), [_, number] | [_, number, _] if is_number(number));
    if is_sum { Line::NoEntry } else { Line::Unknown }
}

/// The first character of a mode, if the line begins with one: `-rw-r--r--`, also followed by a
/// sign for further rights (`+`, `.`, `@`).
fn kind_of(line: &str) -> Option<char> {
    let mode = line.split(' ').next()?;
    let mut characters = mode.chars();
    let kind = characters.next().filter(|kind| "-dlbcspDCM?".contains(*kind))?;
    let rights: Vec<char> = characters.by_ref().take(9).collect();
    let is_mode = rights.len() == 9 && rights.iter().all(|one| "-rwxsStTlLhH?".contains(*one));
    (is_mode && characters.all(|one| "+.@".contains(one))).then_some(kind)
}

struct Field<'a> {
    text: &'a str,
    end: usize,
}

fn fields(line: &str) -> Vec<Field<'_>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while found.len() < MOST_FIELDS {
        let rest = line[at..].trim_start_matches(' ');
        if rest.is_empty() {
            break;
        }
        let begin = line.len() - rest.len();
        at = begin + rest.find(' ').unwrap_or(rest.len());
        found.push(Field { text: &line[begin..at], end: at });
    }
    found
}

fn entry(line: &str, is_directory: bool) -> Option<Entry> {
    let fields = fields(line);
    let texts: Vec<&str> = fields.iter().map(|field| field.text).collect();
    // The size is before the date. A directory may have none.
    for at in DATE_AT.into_iter().filter(|at| *at < texts.len()) {
        let size_bytes = match texts[at - 1].parse() {
            _ if is_directory => 0,
            Ok(size_bytes) => size_bytes,
            Err(_) => continue,
        };
        let Some(count) = date_fields(&texts[at..]) else { continue };
        // One space separates date and name; further spaces belong to the name.
        let name = line[fields[at + count - 1].end..].strip_prefix(' ')?;
        if name.is_empty() {
            return None;
        }
        return Some(Entry { name: name.to_owned(), size_bytes, is_directory });
    }
    None
}

fn date_fields(fields: &[&str]) -> Option<usize> {
    match *fields {
        [date, time, zone, ..] if is_iso(date) && is_time(time) && is_zone(zone) => Some(3),
        [date, time, ..] if (is_iso(date) || has_form(date, '-', &[2, 2])) && is_time(time) => {
            Some(2)
        }
        [date, ..] if is_iso(date) => Some(1),
        // `Nov 26 15:35`, `Jan 5 2025`; and `26. Nov 15:35`.
        [month, day, at, ..] if is_word(month) && is_day(day) && is_year_or_time(at) => Some(3),
        [day, month, at, ..] if is_day(day) && is_word(month) && is_year_or_time(at) => Some(3),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit())
}

fn has_form(text: &str, sign: char, digits: &[usize]) -> bool {
    let parts: Vec<&str> = text.split(sign).collect();
    parts.len() == digits.len()
        && parts.iter().zip(digits).all(|(part, digits)| is_number(part) && part.len() == *digits)
}

fn is_iso(text: &str) -> bool {
    has_form(text, '-', &[4, 2, 2])
}

/// `15:35`, `15:35:07`, `15:35:07.123456789`.
fn is_time(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    is_number(part)
        && (has_form(whole, ':', &[2, 2])
            || has_form(whole, ':', &[1, 2])
            || has_form(whole, ':', &[2, 2, 2]))
}

fn is_zone(text: &str) -> bool {
    text.strip_prefix(['+', '-']).is_some_and(|digits| digits.len() == 4 && is_number(digits))
}

fn is_year_or_time(text: &str) -> bool {
    is_time(text) || (text.len() == 4 && is_number(text))
}

fn is_day(text: &str) -> bool {
    let day = text.strip_suffix('.').unwrap_or(text);
    day.len() <= 2 && is_number(day)
}

/// A month in any language: it may contain digits, but is not a number.
fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(name: &str, size_bytes: u64) -> Line {
        Line::Entry(Entry { name: name.to_owned(), size_bytes, is_directory: false })
    }

    fn directory(name: &str) -> Line {
        Line::Entry(Entry { name: name.to_owned(), size_bytes: 0, is_directory: true })
    }

    #[test]
    fn entries_of_every_server_format_are_parsed() {
        for (line, wanted) in [
            ("-rw-r--r--   1 me   us    12 Nov 26 15:35 a  b 10:00", file("a  b 10:00", 12)),
            ("-rw-r--r--   1 me   12 Nov 26 15:35 no group", file("no group", 12)),
            ("-rw-r--r--   12 Nov 26 15:35 no owner", file("no owner", 12)),
            ("-rw-r--r--+  1 me us 12 2026-11-26 15:35 more rights", file("more rights", 12)),
            ("-rw-r--r--.  1 me us 12 2026-11-26 15:35:07.12 +0100 selinux", file("selinux", 12)),
            ("-rw-r--r--   1 me us 12 11-26 15:35 this year", file("this year", 12)),
            ("-rw-r--r--   1 me us 12 2025-01-05 last year", file("last year", 12)),
            ("-rw-r--r--   1 me us 12 26. Nov 15:35 German", file("German", 12)),
            ("-rw-r--r--   1 me us 12 26 нояб. 15:35 Russian", file("Russian", 12)),
            ("-rw-r--r--   1 me us 12 11月 26 15:35 Japanese", file("Japanese", 12)),
            ("-rw-r--r--   1 1 2026 12 Jan  5  2025 2026", file("2026", 12)),
            ("drwxrwsr-t@  2 me us  4096 Jan  5  2025  blank", directory(" blank")),
            ("drwxr-xr-x   2 me us Jan  5  2025 no size", directory("no size")),
            ("drwxr-xr-x   1 owner    4096 Nov 26 16:46 no group", directory("no group")),
            ("-rw-r--r--   1 10 users 2048 Nov 26 16:46 like a date", file("like a date", 2048)),
            ("-rw-r--r--   1 me domain users 12 Nov 26 16:46 two words", file("two words", 12)),
        ] {
            assert_eq!(read(line), wanted, "{line}");
        }
    }

    #[test]
    fn lines_without_an_entry_are_skipped_or_reported_unknown() {
        for line in [
            "total 12",
            "insgesamt 12",
            "合計 12",
            "total 12 kB",
            "lrwxrwxrwx 1 me us 1 Jan 5 2025 x -> y",
            "crw-rw---- 1 me us 1, 3 Jan 5 2025 null",
        ] {
            assert_eq!(read(line), Line::NoEntry, "{line}");
        }
        for line in [
            "-rw-r--r-- 1",
            "-rw-r--r-- 1 me us 12 Nov 26 15:35",
            "-rw-r--r-- 1 me us many Nov 26 15:35 a",
            "d [RWCEAFMS] me 512 Jan 5 2025 netware",
            "directory of /",
            "permission denied",
        ] {
            assert_eq!(read(line), Line::Unknown, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_name_after_a_date_round_trips(name in "[^\r\n/\0]{1,30}", size in any::<u64>()) {
            for date in ["Nov 26 15:35", "2026-11-26 15:35", "26. Nov 2025"] {
                let line = format!("-rw-r--r-- 1 me us {size} {date} {name}");
                let is_zone = name.split(' ').next().is_some_and(super::is_zone);
                if !is_zone {
                    prop_assert_eq!(read(&line), file(&name, size));
                }
            }
        }

        #[test]
        fn any_line_is_parsed_without_panic(line in "[-dlrwx+.@0-9 a-z:é月]*") {
            let _ = read(&line);
        }
    }
}
