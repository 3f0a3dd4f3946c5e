use std::io::{self, ErrorKind};

use crate::{HostInterface, HostPlan, HostSettings};

/// Take up the interface of each host.
///
/// # Errors
/// Always: this system is not known to have such hosts.
pub fn set_up_hosts(_hosts: &[HostPlan], _settings: &HostSettings) -> io::Result<()> {
    Err(unknown())
}

/// The interfaces of each host.
///
/// # Errors
/// Always: this system is not known to have such hosts.
pub fn read_hosts(_pids: &[u32]) -> io::Result<Vec<Vec<HostInterface>>> {
    Err(unknown())
}

fn unknown() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "hosts inside one machine need Linux")
}
