//! A fault of a file service as the failure of a request.

use lanlab_files::{Class, Fault};

use crate::messages::Failure;

/// What a service said, as the engine says it: its class is the code.
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
    let hint = hint.or_else(|| usual_hint(class).map(str::to_owned));
    Failure { code, message, hint }
}

fn usual_hint(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::Refused => "see whether the server runs, and its port",
        Class::Unreachable => "see whether the address is right and the link is up",
        Class::TimedOut => {
            "see whether the server is overloaded or was ended; over a slow link, allow more by \
             `--timeout`"
        }
        Class::Reset => "see whether the server is overloaded or was ended",
        Class::Login => "see whether name and password are right",
        Class::Certificate => "name whom to trust, as in `--trust sha256:…` or `--trust FILE`",
        Class::Missing => "see whether the share, bucket or directory is there",
        Class::Denied => "see whether the user may write there",
        Class::NoSpace => "make room at the server, or copy less",
        Class::Name => "rename the file, or use a service that can hold its name",
        _ => return None,
    })
}
