//! Mapping of file service faults to request failures.

use lanlab_files::fault::says;
use lanlab_files::{Class, Fault};

use crate::messages::Failure;

pub fn failure_of(fault: Fault) -> Failure {
    let Fault { class, message, hint } = fault;
    let code = match class {
        Class::Refused => "service.refused",
        Class::Unreachable => "service.unreachable",
        Class::TimedOut => "service.timed_out",
        Class::Reset => "service.reset",
        Class::Login => "service.login",
        Class::Certificate => "service.certificate",
        Class::Missing => "service.missing",
        Class::Exists => "service.exists",
        Class::Denied => "service.denied",
        Class::NoSpace => "service.no_space",
        Class::Name => "service.name",
        Class::Unsupported => "service.unsupported",
        Class::Length => "service.length",
        Class::Protocol => "service.protocol",
        Class::Local => "service.local",
    };
    let hint = hint.or_else(|| usual_hint(class, &message).map(str::to_owned));
    Failure { code, message, hint }
}

/// The usual hint for a class of fault. If the cause depends on more, the client provides the hint.
fn usual_hint(class: Class, message: &str) -> Option<&'static str> {
    Some(match class {
        Class::Refused => "check that the server runs on this port",
        Class::Unreachable => "see whether the address is right and the link is up",
        Class::TimedOut => {
            "see whether the server is overloaded or was ended; over a slow link, allow more by \
             `--timeout`"
        }
        Class::Reset => "see whether the server is overloaded or was ended",
        Class::Certificate => "name whom to trust, as in `--trust sha256:…` or `--trust FILE`",
        // A read-only file system or a locked file has another cause.
        Class::Denied if says(message, &RIGHTS) => "check the user's permissions there",
        Class::NoSpace if says(message, &SIZE) => "the server accepts no file of this size",
        Class::NoSpace => "make room at the server, or copy less",
        Class::Name => "rename the file, or use a service that can hold its name",
        _ => return None,
    })
}

const RIGHTS: [&str; 5] = ["denied", "acces", "perm", "forbidden", "not allowed"];

const SIZE: [&str; 4] = ["too large", "toolarge", "too big", "fbig"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_code_and_most_have_a_hint() {
        let failed = |class| {
            let failure = failure_of(Fault::new(class, "access"));
            assert_eq!(failure.message, "access");
            (failure.code, failure.hint.unwrap_or_default())
        };
        for (class, code, hint) in [
            (Class::Refused, "refused", "that the server runs"),
            (Class::Unreachable, "unreachable", "whether the address is right"),
            (Class::TimedOut, "timed_out", "`--timeout`"),
            (Class::Reset, "reset", "overloaded or was ended"),
            (Class::Login, "login", ""),
            (Class::Certificate, "certificate", "`--trust FILE`"),
            (Class::Missing, "missing", ""),
            (Class::Exists, "exists", ""),
            (Class::Denied, "denied", "permissions there"),
            (Class::NoSpace, "no_space", "make room"),
            (Class::Name, "name", "rename the file"),
            (Class::Unsupported, "unsupported", ""),
            (Class::Length, "length", ""),
            (Class::Protocol, "protocol", ""),
            (Class::Local, "local", ""),
        ] {
            let (found, words) = failed(class);
            assert_eq!(found, format!("service.{code}"));
            assert!(words.contains(hint) && words.is_empty() == hint.is_empty(), "{words}");
        }
        let own = failure_of(Fault::new(Class::Denied, "words").hint("ask"));
        assert_eq!(own.hint.as_deref(), Some("ask"));
        assert_eq!(failure_of(Fault::new(Class::Denied, "423 Locked")).hint, None);
        let large = failure_of(Fault::new(Class::NoSpace, "552 File too large"));
        assert_eq!(large.hint.as_deref(), Some("the server accepts no file of this size"));
    }
}
