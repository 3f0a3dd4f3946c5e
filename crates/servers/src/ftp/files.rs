//! Listings, and replies to errors of file operations.

use std::io;
use std::net::{IpAddr, SocketAddr};

use lanlab_wire::calendar;

use lanlab_served::Found;
use lanlab_served::changes::{Changes, mode_text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// MLSD, MLST (RFC 3659 section 7).
    Facts,
    Long,
    Names,
}

pub fn line(form: Form, found: &Found, now_s: u64) -> String {
    let Found { name, is_directory, size_bytes, mode, modified_s, .. } = found;
    match form {
        Form::Facts => format!("{}{name}\r\n", facts(found)),
        Form::Long => {
            let mode = mode_text(*is_directory, *mode);
            let time = calendar::ls_time(*modified_s, now_s);
            format!("{mode} 1 lanlab lanlab {size_bytes} {time} {name}\r\n")
        }
        Form::Names => format!("{name}\r\n"),
    }
}

/// The facts of MLSD and MLST, with the space that follows.
pub fn facts(found: &Found) -> String {
    let kind = if found.is_directory { "dir" } else { "file" };
    let time = calendar::time_val(found.modified_s);
    format!("type={kind};size={};modify={time}; ", found.size_bytes)
}

/// Whether a pattern with `*` and `?` matches the whole name; a leading dot is matched only by a dot.
pub fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // The last `*`, and the end of the text that it matches.
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[in_name] => {
                (at, in_name) = (at + 1, in_name + 1);
            }
            _ => {
                let Some((from, to)) = star else { return false };
                star = Some((from, to + 1));
                (at, in_name) = (from + 1, to + 1);
            }
        }
    }
    pattern[at..].iter().all(|left| *left == '*')
}

/// Address and port of PORT: `192,0,2,1,4,1` (RFC 959, section 5.3.2).
pub fn of_port(argument: &str) -> Option<SocketAddr> {
    let numbers: Option<Vec<u8>> =
        argument.split(',').map(|number| number.trim().parse().ok()).collect();
    let [a, b, c, d, high, low] = numbers?.try_into().ok()?;
    Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low]))))
}

/// Address and port of EPRT: `|1|192.0.2.1|1025|` (RFC 2428, section 2).
pub fn of_eprt(argument: &str) -> Option<SocketAddr> {
    let mut parts = argument.split(argument.chars().next()?).skip(1);
    let (family, address, port) = (parts.next()?, parts.next()?, parts.next()?);
    let address: IpAddr = address.parse().ok()?;
    let is_whole = (parts.next(), parts.next()) == (Some(""), None);
    let is_of_family = family == if address.is_ipv4() { "1" } else { "2" };
    (is_whole && is_of_family).then_some(SocketAddr::new(address, port.parse().ok()?))
}

/// A change to a file, and the reply to its success.
pub struct Adjustment<'a> {
    pub changes: Changes,
    pub path: &'a str,
    pub code: u16,
    pub done: String,
}

/// Parse a change from MFMT (draft-somers-ftp-mfxx-04, section 3) or SITE.
pub fn adjustment<'a>(
    verb: &str,
    argument: &'a str,
) -> Result<Adjustment<'a>, (u16, &'static str)> {
    match verb {
        "MFMT" => {
            modified(argument).ok_or((501, "MFMT takes a time as 20260101000000, and a path"))
        }
        _ => permitted(argument)
            .ok_or((504, "SITE CHMOD, three octal digits and a path is what there is")),
    }
}

fn modified(argument: &str) -> Option<Adjustment<'_>> {
    let (time, path) = argument.split_once(' ')?;
    let modified_s = Some(calendar::parse_time_val(time)?);
    let changes = Changes { modified_s, ..Changes::default() };
    Some(Adjustment { changes, path, code: 213, done: format!("Modify={time}; {path}") })
}

fn permitted(argument: &str) -> Option<Adjustment<'_>> {
    let (verb, rest) = argument.split_once(' ')?;
    let (mode, path) = rest.trim_start().split_once(' ')?;
    let is_known = verb.eq_ignore_ascii_case("CHMOD") && mode.len() <= 4;
    let mode = u32::from_str_radix(mode, 8).ok().filter(|_| is_known && !mode.starts_with('+'))?;
    let changes = Changes { mode: Some(mode), ..Changes::default() };
    Some(Adjustment { changes, path, code: 200, done: "Permitted".to_owned() })
}

pub fn refusal(error: &io::Error) -> (u16, String) {
    use io::ErrorKind as K;
    let (code, words) = match error.kind() {
        K::NotFound | K::NotADirectory => (550, "No such file or directory"),
        K::AlreadyExists => (550, "File exists"),
        K::DirectoryNotEmpty => (550, "Directory not empty"),
        K::IsADirectory => (550, "Not a plain file: permission denied"),
        K::PermissionDenied | K::ReadOnlyFilesystem => (550, "Permission denied"),
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => (452, "No space left on device"),
        K::InvalidFilename | K::InvalidInput => (553, "Invalid name, or name too long"),
        K::Unsupported => (504, "Not done here"),
        _ => return (451, format!("Local error: {error}")),
    };
    (code, words.to_owned())
}
