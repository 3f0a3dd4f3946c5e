use std::{fmt, io};

/// Why a request cannot be executed. `code` is stable and dotted. The part before its first dot
/// says where the cause is: `request` and `arm` the driver, `peer` the other host, anything else
/// this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: &'static str,
    /// What was found and, if applicable, what is allowed.
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn value(key: &str, found: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new("request.value", format!("`{key}`: found {found}; allowed: {allowed}"))
    }

    pub fn cancelled() -> Self {
        Self::new("cancelled", "ended at the driver's request")
    }

    pub fn peer_gone(how: impl fmt::Display) -> Self {
        Self::new("peer.gone", format!("the other host stopped answering: {how}"))
            .hint("check that its engine still runs and the link is up")
    }

    /// The system's error for the attempt to `what`.
    pub fn system(what: impl fmt::Display, error: &io::Error) -> Self {
        let message = format!("{what}: {error}");
        match error.kind() {
            io::ErrorKind::AddrInUse => Self::new("bind.in_use", message)
                .hint("use port 0 for any free port, or stop the program on this port"),
            io::ErrorKind::AddrNotAvailable => {
                Self::new("bind.no_address", message).hint("bind to an address that this host has")
            }
            io::ErrorKind::PermissionDenied => Self::new("system.permission", message),
            // A buffer that is smaller than requested. The system's own error of this kind can mean
            // anything, such as an address without its zone.
            io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
                Self::new("socket.option", message)
                    .hint("use smaller buffers, or raise net.core.rmem_max and net.core.wmem_max")
            }
            io::ErrorKind::InvalidInput => Self::new("system.invalid", message),
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                Self::new("peer.unreachable", message)
                    .hint("check the address, the link, and the route: `ip route get ADDRESS`")
            }
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::peer_gone(message),
            _ => Self::new("system.call", message),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_hints_appear_only_for_buffer_errors() {
        let ours = io::Error::new(io::ErrorKind::InvalidInput, "asked for 9 bytes, granted 8");
        let failure = Failure::system("TCP socket", &ours);
        assert!(failure.hint.unwrap().contains("rmem_max"));
        {
            let bind = io::Error::from_raw_os_error(22);
            let failure = Failure::system("TCP port 0 on fe80::1", &bind);
            assert_eq!((failure.code, failure.hint), ("system.invalid", None));
        }
    }
}
