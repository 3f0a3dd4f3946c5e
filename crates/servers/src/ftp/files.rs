//! What a file operation comes to in FTP: listings, and the reply to an error.

use std::io;

use lanlab_wire::calendar;

use lanlab_served::Found;
use lanlab_served::changes::{Changes, mode_text};

/// How a listing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// MLSD, MLST (RFC 3659 section 7).
    Facts,
    /// LIST, as `ls -l`.
    Long,
    /// NLST: names.
    Names,
}

/// One line of a listing, with its end.
pub fn line(form: Form, found: &Found) -> String {
    let Found { name, is_directory, size_bytes, mode, modified_s, .. } = found;
    match form {
        Form::Facts => format!("{}{name}\r\n", facts(found)),
        Form::Long => {
            let mode = mode_text(*is_directory, *mode);
            let time = calendar::ls_time(*modified_s);
            format!("{mode} 1 lanlab lanlab {size_bytes} {time} {name}\r\n")
        }
        Form::Names => format!("{name}\r\n"),
    }
}

/// The facts of MLSD and MLST, with the blank that follows them.
pub fn facts(found: &Found) -> String {
    let kind = if found.is_directory { "dir" } else { "file" };
    let time = calendar::time_val(found.modified_s);
    format!("type={kind};size={};modify={time}; ", found.size_bytes)
}

/// What is to be changed of a file, and the reply when it is done.
pub struct Adjustment<'a> {
    /// What of it.
    pub changes: Changes,
    /// Of which path.
    pub path: &'a str,
    /// Code of the reply.
    pub code: u16,
    /// Its words.
    pub done: String,
}

/// What MFMT (draft-somers-ftp-mfxx-04 section 3) or SITE asks for; or the refusal of it.
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

/// The reply to an error of the system.
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
