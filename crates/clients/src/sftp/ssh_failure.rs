//! Converts errors of an SSH connection into faults.

use lanlab_files::{Class, Fault};

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
