use std::io;
use std::net::Ipv4Addr;

use crate::Interface;

/// None: the standard library cannot list interfaces.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    Ok(Vec::new())
}

pub fn broadcast_addresses() -> io::Result<Vec<Ipv4Addr>> {
    Ok(vec![Ipv4Addr::BROADCAST])
}

pub fn interface_index(name: &str) -> io::Result<u32> {
    let message = format!("no interface named `{name}`: on this system its number names it");
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}
