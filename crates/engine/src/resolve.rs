//! `resolve`: the address of a name, as this host sees it.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::cost::{Cost, OWN_THREADS};
use crate::messages::{AddressFamily, Failure, Outcome, Resolve, Resolved};
use crate::running::Measured;

/// Longest name of a host (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 255;

/// Check what can be checked without a name server.
pub fn check(request: &Resolve) -> Result<Cost, Failure> {
    let length = request.name.len();
    if length == 0 || length > LONGEST_NAME {
        let found = format!("{length} characters");
        return Err(Failure::value("name", found, format!("1 to {LONGEST_NAME}")));
    }
    Ok(Cost { memory_bytes: 0, threads: OWN_THREADS })
}

/// Look a name up.
pub fn resolve(request: &Resolve) -> Measured {
    let (version, is_wanted): (_, fn(&SocketAddr) -> bool) = match request.family {
        AddressFamily::Ipv4 => ("IPv4", SocketAddr::is_ipv4),
        AddressFamily::Ipv6 => ("IPv6", SocketAddr::is_ipv6),
    };
    let missing = |why: &str| {
        let message = format!("`{}` has no {version} address{why}", request.name);
        Box::new((Failure::new("service.name", message), None))
    };
    let mut found = (request.name.as_str(), 0)
        .to_socket_addrs()
        .map_err(|error| missing(&format!(": {error}")))?;
    let first = found.find(is_wanted).ok_or_else(|| missing(""))?;
    Ok(Outcome::Resolved(Resolved { address: first.ip() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, family: AddressFamily) -> Measured {
        let request = Resolve { name: name.into(), family };
        check(&request).map_err(|failure| Box::new((failure, None)))?;
        resolve(&request)
    }

    #[test]
    fn an_address_is_of_the_family_that_is_asked_for() {
        let Ok(Outcome::Resolved(found)) = asked("localhost", AddressFamily::Ipv4) else {
            panic!("localhost has an address")
        };
        assert!(found.address.is_ipv4() && found.address.is_loopback());
        let refused = asked("127.0.0.1", AddressFamily::Ipv6).unwrap_err();
        assert_eq!(refused.0.code, "service.name");
        assert_eq!(refused.0.message, "`127.0.0.1` has no IPv6 address");
    }

    #[test]
    fn a_name_that_cannot_be_one_is_refused() {
        for name in [String::new(), "x".repeat(256)] {
            let refused = asked(&name, AddressFamily::Ipv4).unwrap_err();
            assert_eq!(refused.0.code, "request.value");
        }
        let refused = asked("no such host.invalid", AddressFamily::Ipv4).unwrap_err();
        assert_eq!(refused.0.code, "service.name");
    }
}
