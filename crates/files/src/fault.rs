//! Errors of a file service, classified by what can be done about them.

use std::time::Duration;
use std::{fmt, io};

use lanlab_wire::nfs3::xdr::Garbled;
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::ServicePath;

pub type Result<T> = std::result::Result<T, Fault>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Refused,
    Unreachable,
    TimedOut,
    Reset,
    Login,
    Certificate,
    Missing,
    Exists,
    Denied,
    NoSpace,
    Name,
    Unsupported,
    Length,
    Protocol,
    Local,
}

impl Class {
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Refused | Self::Unreachable | Self::TimedOut | Self::Reset)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub class: Class,
    pub message: String,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn wrong_login(self) -> Self {
        self.hint("check the user name and the password")
    }

    /// Add a hint: such a fault suggests that another service uses the port.
    #[must_use]
    pub fn foreign(self) -> Self {
        self.hint("check that a server of this service listens on this port")
    }

    pub fn late(what: impl fmt::Display, patience: Duration) -> Self {
        let waited_s = patience.as_secs_f64();
        Self::new(Class::TimedOut, format!("{what}: no answer within {waited_s} s"))
    }

    pub fn of_connection(what: impl fmt::Display, error: &io::Error) -> Self {
        let fault = Self::new(connection_class(error.kind()), format!("{what}: {error}"));
        let is_foreign = matches!(error.get_ref(), Some(inner) if inner.is::<lanlab_wire::Error>());
        if is_foreign { fault.foreign() } else { fault }
    }

    pub fn of_file(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(file_class(error), format!("{what}: {error}"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl From<Garbled> for Fault {
    fn from(_: Garbled) -> Self {
        Self::new(Class::Protocol, "an answer that cannot be understood")
    }
}

fn connection_class(kind: io::ErrorKind) -> Class {
    use io::ErrorKind as K;
    match kind {
        K::ConnectionRefused => Class::Refused,
        K::NetworkUnreachable | K::HostUnreachable | K::AddrNotAvailable | K::NetworkDown => {
            Class::Unreachable
        }
        K::TimedOut => Class::TimedOut,
        K::ConnectionReset
        | K::ConnectionAborted
        | K::BrokenPipe
        | K::NotConnected
        | K::UnexpectedEof => Class::Reset,
        K::InvalidData => Class::Protocol,
        _ => Class::Local,
    }
}

fn file_class(error: &io::Error) -> Class {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound | K::NotADirectory => Class::Missing,
        K::AlreadyExists | K::DirectoryNotEmpty | K::IsADirectory => Class::Exists,
        K::PermissionDenied | K::ReadOnlyFilesystem => Class::Denied,
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => Class::NoSpace,
        K::InvalidFilename | K::InvalidInput => Class::Name,
        K::TimedOut => Class::TimedOut,
        // A mounted share whose server has disappeared.
        K::StaleNetworkFileHandle | K::NotConnected | K::HostUnreachable => Class::Reset,
        _ => Class::Local,
    }
}

/// Whether a server's text contains one of `any`, which are in lower case.
pub fn says(words: &str, any: &[&str]) -> bool {
    let words = words.to_lowercase();
    any.iter().any(|part| words.contains(part))
}

pub fn during(verb: &str, path: &str) -> impl Fn(Fault) -> Fault {
    move |fault| Fault { message: format!("{verb} `{path}`: {}", fault.message), ..fault }
}

pub fn shown(path: Option<&ServicePath>) -> &str {
    path.map_or(".", ServicePath::as_str)
}
