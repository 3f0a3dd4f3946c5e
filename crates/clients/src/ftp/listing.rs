//! Directory listings by MLSD, which is standardised (RFC 3659 section 7), and LIST, which is not.

use lanlab_files::{Class, Entry, Fault, Result, is_name};

use super::unix_listing::{self, Line};

pub fn mlsd(text: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // One space separates facts and name. Some servers begin each line with another space.
        let parted = line.split_once(' ').and_then(|(facts, name)| match facts {
            "" => name.split_once(' ').filter(|(facts, _)| facts.contains('=')),
            _ => Some((facts, name)),
        });
        let Some((facts, name)) = parted else { return Err(odd("MLSD", line)) };
        let fact = |wanted: &str| {
            facts.split(';').find_map(|fact| {
                let (key, value) = fact.split_once('=')?;
                key.eq_ignore_ascii_case(wanted).then_some(value)
            })
        };
        let kind = fact("type").unwrap_or("").to_ascii_lowercase();
        let is_directory = match kind.as_str() {
            "file" => false,
            "dir" => true,
            // The directory itself, its parent, and special files.
            _ => continue,
        };
        let size_bytes = match fact("size") {
            Some(size) if !is_directory => size.parse().map_err(|_| odd("MLSD", line))?,
            _ => 0,
        };
        if !is_name(name) {
            return Err(odd("MLSD", line));
        }
        entries.push(Entry { name: name.to_owned(), size_bytes, is_directory });
    }
    Ok(entries)
}

/// Parse the reply to LIST in the two common formats, `ls -l` and `dir`.
///
/// # Errors
/// A line is neither an entry nor a known extra line, so it may hide an entry.
pub fn list(text: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let read = if line.starts_with(|first: char| first.is_ascii_digit()) {
            dos(line).map_or_else(|| unix_listing::without_mode(line), Line::Entry)
        } else {
            unix_listing::read(line)
        };
        match read {
            Line::Entry(entry) => entries.push(entry),
            Line::NoEntry => {}
            Line::Unknown => return Err(odd("LIST", line)),
        }
    }
    entries.retain(|entry| entry.name != "." && entry.name != "..");
    match entries.iter().find(|entry| !is_name(&entry.name)) {
        Some(entry) => Err(odd("LIST", &entry.name)),
        None => Ok(entries),
    }
}

/// `11-21-26  10:00AM  <DIR>  a name`, also with a four-digit year or a 24-hour clock.
fn dos(line: &str) -> Option<Entry> {
    let (date, rest) = line.split_once(' ')?;
    if !date.contains(['-', '/', '.']) {
        return None;
    }
    let (_time, rest) = rest.trim_start().split_once(' ')?;
    let (size, name) = rest.trim_start().split_once(' ')?;
    let is_directory = size == "<DIR>";
    let size_bytes = if is_directory { 0 } else { size.parse().ok()? };
    // A directory's name starts in the same column as a file's.
    let name = if is_directory { name.trim_start() } else { name };
    (!name.is_empty()).then(|| Entry { name: name.to_owned(), size_bytes, is_directory })
}

fn odd(command: &str, line: &str) -> Fault {
    let shown: String = line.chars().take(120).collect();
    let message = format!("{command}: found `{}`, which is no entry", shown.escape_debug());
    Fault::new(Class::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(name: &str, size_bytes: u64, is_directory: bool) -> Entry {
        Entry { name: name.to_owned(), size_bytes, is_directory }
    }

    #[test]
    fn mlsd_lists_only_files_and_directories() {
        let text = "type=cdir;modify=20261121100000; .\r\nType=dir;Modify=1; a b\r\n\
                    type=file;size=12;modify=1;  leads with a blank\r\n\
                    type=OS.unix=slink:/x; link\r\n";
        let wanted = vec![entry("a b", 0, true), entry(" leads with a blank", 12, false)];
        assert_eq!(mlsd(text).unwrap(), wanted);
        assert_eq!(mlsd("type=file;size=many; x\r\n").unwrap_err().class, Class::Protocol);
        assert_eq!(mlsd("nonsense\r\n").unwrap_err().class, Class::Protocol);
        // The facts end at the first space; names may contain spaces.
        let text = " type=file;size=3; a\r\n type=dir;modify=1;  b\r\n\r\n";
        assert_eq!(mlsd(text).unwrap(), [entry("a", 3, false), entry(" b", 0, true)]);
        assert_eq!(mlsd(" no facts\r\n").unwrap_err().class, Class::Protocol);
        assert_eq!(mlsd("type=file;size=1; a/../b\r\n").unwrap_err().class, Class::Protocol);
    }

    #[test]
    fn list_is_read_in_its_two_common_forms() {
        let text = "total 8\r\n-rw-r--r--    1 1000     1000       700123 Nov 21 10:00 a  b 10:00\r\n\
                    drwxr-xr-x    2 0        0            4096 Jan  5  2025  blank\r\n\
                    lrwxrwxrwx    1 0        0               1 Jan  5  2025 x -> y\r\n";
        let wanted = vec![entry("a  b 10:00", 700_123, false), entry(" blank", 0, true)];
        assert_eq!(list(text).unwrap(), wanted);
        let text = "11-21-26  10:00AM       <DIR>          dir one\r\n\
                    11-21-26  10:00AM              1234 file two\r\n";
        let wanted = vec![entry("dir one", 0, true), entry("file two", 1234, false)];
        assert_eq!(list(text).unwrap(), wanted);
        let text = "11-26-2026  03:35PM       <DIR>          lanlab-1\r\n\
                    11/26/2026  15:35                  12 a b\r\n";
        assert_eq!(list(text).unwrap(), [entry("lanlab-1", 0, true), entry("a b", 12, false)]);
        assert_eq!(list("what is this").unwrap_err().class, Class::Protocol);
        assert_eq!(list("-rw-r--r-- 1").unwrap_err().class, Class::Protocol);
    }

    proptest! {
        #[test]
        fn any_listing_is_parsed_without_panic(text in "[-dl0-9 a-z;=.:\r\n<>]*") {
            let _ = (mlsd(&text), list(&text));
        }
    }
}
