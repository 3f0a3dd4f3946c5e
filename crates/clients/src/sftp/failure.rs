//! Converts errors of an SFTP server into faults.

use std::fmt;

use lanlab_files::fault::says;
use lanlab_files::{Class, Fault};
use lanlab_wire::sftp::status;

use super::exchange::Reply;

const MAX_WORDS: usize = 200;

pub fn refused(what: &dyn fmt::Display, reply: &Reply) -> Fault {
    let Some((code, words)) = reply.status() else {
        let message =
            format!("{what}: found a reply of type {}, which is none to that", reply.kind);
        return Fault::new(Class::Protocol, message);
    };
    let shown: String = words.chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect();
    let shown = if shown.is_empty() { meaning(code) } else { &shown };
    Fault::new(class(code, words), format!("{what}: server says `{code} {shown}`"))
}

fn meaning(code: u32) -> &'static str {
    match code {
        status::NO_SUCH_FILE => "no such file",
        status::PERMISSION_DENIED => "permission denied",
        status::FAILURE => "failure",
        status::OP_UNSUPPORTED => "operation unsupported",
        _ => "without a reason",
    }
}

fn class(code: u32, words: &str) -> Class {
    let says = |any: &[&str]| says(words, any);
    match code {
        status::NO_SUCH_FILE => Class::Missing,
        status::PERMISSION_DENIED | status::WRITE_PROTECT => Class::Denied,
        status::NO_CONNECTION | status::CONNECTION_LOST => Class::Reset,
        status::OP_UNSUPPORTED => Class::Unsupported,
        status::FILE_ALREADY_EXISTS | status::DIR_NOT_EMPTY => Class::Exists,
        status::NO_SPACE | status::QUOTA_EXCEEDED => Class::NoSpace,
        // OpenSSH uses this for a name that is too long.
        status::INVALID_FILENAME | status::BAD_MESSAGE => Class::Name,
        status::FAILURE if says(&["no space", "quota", "disk full"]) => Class::NoSpace,
        status::FAILURE if says(&["exists", "not empty"]) => Class::Exists,
        status::FAILURE if says(&["name too long", "invalid name"]) => Class::Name,
        _ => Class::Protocol,
    }
}
