//! Converts errors of an SSH connection into faults.

use lanlab_files::{Class, Fault, Result};
use russh::client::{AuthResult, Handle};

use super::trust::Verifier;

pub fn ssh_fault(what: &str, error: &russh::Error) -> Fault {
    use russh::Error as E;
    let class = match error {
        E::IO(error) => return Fault::of_connection(what, error),
        E::Disconnect | E::HUP | E::SendError => Class::Reset,
        E::ConnectionTimeout | E::KeepaliveTimeout | E::InactivityTimeout => Class::TimedOut,
        E::UnknownKey | E::WrongServerSig | E::KeyChanged { .. } => Class::Certificate,
        E::NoCommonAlgo { .. } | E::RequestDenied | E::ChannelOpenFailure(_) => Class::Unsupported,
        _ => Class::Protocol,
    };
    let E::NoCommonAlgo { kind, ours, theirs } = error else {
        return Fault::new(class, format!("{what}: {error}"));
    };
    let shown = |names: &[String]| names.join(", ");
    let kind = format!("{kind:?}").to_lowercase();
    let (theirs, ours) = (shown(theirs), shown(ours));
    Fault::new(
        class,
        format!("{what}: no common {kind} algorithm: found {theirs}; allowed: {ours}"),
    )
    .hint("enable one of those that are allowed at the server")
}

/// russh reports a lost connection as a refusal that names no other methods.
pub fn unless_lost(ssh: &Handle<Verifier>, result: AuthResult) -> Result<AuthResult> {
    match &result {
        AuthResult::Failure { remaining_methods, .. }
            if remaining_methods.is_empty() && ssh.is_closed() =>
        {
            Err(ssh_fault("SSH login", &russh::Error::Disconnect))
        }
        _ => Ok(result),
    }
}
