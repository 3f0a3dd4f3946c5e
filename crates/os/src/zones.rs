//! Link-local addresses, which need the interface they are used on.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use crate::interfaces::interface_index;

/// Convert an address and port to a socket address.
///
/// # Arguments
/// `zone`: the interface of a link-local address, by name or number (RFC 4007, section 11).
pub fn socket_address(ip: IpAddr, zone: Option<&str>, port: u16) -> io::Result<SocketAddr> {
    match (ip, zone) {
        (IpAddr::V6(ip), Some(zone)) => {
            let index = match zone.parse() {
                Ok(index) => index,
                Err(_) => interface_index(zone)?,
            };
            Ok(SocketAddrV6::new(ip, port, 0, index).into())
        }
        _ => Ok(SocketAddr::new(ip, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_interface_indices() {
        let ip = "fe80::1".parse().unwrap();
        for zone in ["lo", "1"] {
            let found = socket_address(ip, Some(zone), 9).unwrap();
            assert_eq!(found.to_string(), "[fe80::1%1]:9");
        }
        assert_eq!(socket_address(ip, None, 9).unwrap().to_string(), "[fe80::1]:9");
        let missing = socket_address(ip, Some("no-such-one"), 9).unwrap_err();
        assert!(missing.to_string().contains("no interface named `no-such-one`"), "{missing}");
    }
}
