use std::io;
use std::net::Ipv4Addr;

use crate::Interface;

/// None: the standard library knows nothing of interfaces.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    Ok(Vec::new())
}

/// All hosts of the network that the system chooses.
pub fn broadcast_addresses() -> io::Result<Vec<Ipv4Addr>> {
    Ok(vec![Ipv4Addr::BROADCAST])
}

/// Not known here: an interface is named by its number.
pub fn interface_index(name: &str) -> io::Result<u32> {
    let message = format!("no interface named `{name}`: on this system its number names it");
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}
