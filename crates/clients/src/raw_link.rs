//! Ethernet links to a server.

use std::fmt::Display;
use std::io::{Error, ErrorKind};

use lanlab_files::{Fault, LinkPlace};
use lanlab_os::RawLinkPlace;

pub fn raw_place(link: &LinkPlace) -> RawLinkPlace {
    match link {
        LinkPlace::Interface(name) => RawLinkPlace::Interface(name.clone()),
        LinkPlace::Descriptor(descriptor) | LinkPlace::Recorded { descriptor, .. } => {
            RawLinkPlace::Descriptor(*descriptor)
        }
    }
}

pub fn link_fault(what: impl Display, error: &Error) -> Fault {
    let fault = Fault::of_connection(what, error);
    match error.kind() {
        ErrorKind::PermissionDenied => {
            fault.hint("raw frames need the rights of root on that host")
        }
        ErrorKind::NetworkDown => fault.hint("enable the interface"),
        _ => fault,
    }
}
