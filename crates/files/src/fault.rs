//! Errors of a file service, classified by what can be done about them.

use std::time::Duration;
use std::{fmt, io};

use schemars::JsonSchema;
use serde::Serialize;

use crate::path::ServicePath;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Fault>;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// No server listens there, or the connection was refused.
    Refused,
    /// The host or network cannot be reached.
    Unreachable,
    /// No answer within the time allowed.
    TimedOut,
    /// The connection ended in the middle.
    Reset,
    /// Name, password or key is not accepted.
    Login,
    /// The certificate or host key is not the one that is trusted.
    Certificate,
    /// No such file, directory, share, bucket or export.
    Missing,
    /// It is there already.
    Exists,
    /// The user may not.
    Denied,
    /// No space or quota is left.
    NoSpace,
    /// The service cannot hold such a name.
    Name,
    /// The service cannot do that at all.
    Unsupported,
    /// Fewer or more bytes than the server had said.
    Length,
    /// What came cannot be understood, or the server says that it failed.
    Protocol,
    /// This host: a local file, memory, descriptors.
    Local,
}

impl Class {
    /// Whether the same operation, tried again on a new connection, may succeed.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Refused | Self::Unreachable | Self::TimedOut | Self::Reset)
    }
}

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What can be done about it.
    pub class: Class,
    /// What was found and, where it can be said, what was allowed. Holds no password.
    pub message: String,
    /// What to do, if anything can be done.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault of a class.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, of a name or secret that the server does not take.
    #[must_use]
    pub fn wrong_login(self) -> Self {
        self.hint("see whether name and password are right")
    }

    /// That nothing answered the attempt to `what` in time.
    pub fn late(what: impl fmt::Display, patience: Duration) -> Self {
        let waited_s = patience.as_secs_f64();
        Self::new(Class::TimedOut, format!("{what}: no answer within {waited_s} s"))
    }

    /// What the system said of a connection to the attempt to `what`.
    pub fn of_connection(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(connection_class(error.kind()), format!("{what}: {error}"))
    }

    /// What the system said of a file of this host to the attempt to `what`.
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
        // A mounted share whose server has gone.
        K::StaleNetworkFileHandle | K::NotConnected | K::HostUnreachable => Class::Reset,
        _ => Class::Local,
    }
}

/// The same fault, with what was being done to which file.
pub fn during(verb: &str, path: &str) -> impl Fn(Fault) -> Fault {
    move |fault| Fault { message: format!("{verb} `{path}`: {}", fault.message), ..fault }
}

/// How the directory that a session works in is called in an error.
pub fn shown(path: Option<&ServicePath>) -> &str {
    path.map_or(".", ServicePath::as_str)
}
