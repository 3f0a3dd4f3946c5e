//! `resolve`: the address of a name as this host sees it.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::cost::{Cost, OWN_THREADS};
use crate::messages::{AddressFamily, Failure, Outcome, Resolve, Resolved};
use crate::netbios_names;
use crate::running::Measured;
use crate::task::Task;

/// Longest name of a host (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 255;

/// Maximum addresses of a name tried, and the time-out of each.
const MOST_TRIED: usize = 8;
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);

pub fn resolve(request: Resolve) -> Result<Task, Failure> {
    let length = request.name.len();
    if length == 0 || length > LONGEST_NAME {
        let found = format!("{length} characters");
        return Err(Failure::value("name", found, format!("1 to {LONGEST_NAME}")));
    }
    Ok(Task::new(Cost { memory_bytes: 0, threads: OWN_THREADS }, move |_| look_up(&request)))
}

fn look_up(request: &Resolve) -> Measured {
    let (version, is_wanted): (_, fn(&SocketAddr) -> bool) = match request.family {
        AddressFamily::Ipv4 => ("IPv4", SocketAddr::is_ipv4),
        AddressFamily::Ipv6 => ("IPv6", SocketAddr::is_ipv6),
    };
    let missing = |why: &str| {
        let message = format!("`{}` has no {version} address{why}", request.name);
        Failure::new("service.name", message)
    };
    // A given name server goes first, as others may answer differently.
    let at_server = match (request.wins, request.family) {
        (Some(server), AddressFamily::Ipv4) => {
            match netbios_names::look_up_at(&request.name, server) {
                Ok(address) => {
                    return Ok(Outcome::Resolved(Resolved { address: address.into() }));
                }
                Err(why) => format!("; {why}"),
            }
        }
        _ => String::new(),
    };
    let looked_up = lookup(&request.name, request.family);
    let mut found: Vec<IpAddr> = Vec::new();
    for one in looked_up.iter().flatten().filter(|one| is_wanted(one)).map(SocketAddr::ip) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    if let Some(address) = answering(&found, request.port) {
        return Ok(Outcome::Resolved(Resolved { address }));
    }
    let why = looked_up.err().map_or_else(String::new, |error| format!(": {error}"));
    if !request.netbios || request.family != AddressFamily::Ipv4 {
        return Err(missing(&format!("{why}{at_server}")).into());
    }
    match netbios_names::look_up(&request.name) {
        Ok(address) => Ok(Outcome::Resolved(Resolved { address: address.into() })),
        Err(also) => Err(missing(&format!("{why}{at_server}; as a NetBIOS name: {also}")).into()),
    }
}

/// The first address that accepts connections at the port, or else the first.
fn answering(addresses: &[IpAddr], port: Option<u16>) -> Option<IpAddr> {
    let first = addresses.first().copied();
    let Some(port) = port.filter(|_| addresses.len() > 1) else { return first };
    let takes = |address: &&IpAddr| {
        TcpStream::connect_timeout(&SocketAddr::new(**address, port), ANSWERS_WITHIN).is_ok()
    };
    addresses.iter().take(MOST_TRIED).find(takes).copied().or(first)
}

#[cfg(not(target_feature = "crt-static"))]
fn lookup(name: &str, _family: AddressFamily) -> io::Result<Vec<SocketAddr>> {
    Ok((name, 0).to_socket_addrs()?.collect())
}

/// A statically linked engine lacks the name services of this host's C library (nsswitch.conf(5));
/// the host's own program has them. Without that program, files and DNS are used.
#[cfg(target_feature = "crt-static")]
fn lookup(name: &str, family: AddressFamily) -> io::Result<Vec<SocketAddr>> {
    let database = match family {
        AddressFamily::Ipv4 => "ahostsv4",
        AddressFamily::Ipv6 => "ahostsv6",
    };
    if name.starts_with('-') {
        return Err(io::Error::other("no name begins with a hyphen"));
    }
    let asked = std::process::Command::new("getent")
        .args([database, name])
        .stdin(std::process::Stdio::null())
        .output();
    let said = match asked {
        Ok(said) => said,
        Err(_) => return Ok((name, 0).to_socket_addrs()?.collect()),
    };
    // A line is `ADDRESS STREAM NAME`. `ahostsv6` maps IPv4 addresses.
    let text = String::from_utf8_lossy(&said.stdout);
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    let found: Vec<_> = words
        .filter_map(|word| word.parse::<std::net::IpAddr>().ok())
        .map(|address| SocketAddr::new(address.to_canonical(), 0))
        .collect();
    if found.is_empty() {
        return Err(io::Error::other("the host's name services do not know it"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, family: AddressFamily) -> Measured {
        look_up(&Resolve { name: name.into(), family, netbios: false, wins: None, port: None })
    }

    #[test]
    fn resolved_addresses_have_the_requested_family() {
        let Ok(Outcome::Resolved(found)) = asked("localhost", AddressFamily::Ipv4) else {
            panic!("localhost has an address")
        };
        assert!(found.address.is_ipv4() && found.address.is_loopback());
        let refused = asked("127.0.0.1", AddressFamily::Ipv6).unwrap_err();
        assert_eq!(refused.failure.code, "service.name");
        assert_eq!(refused.failure.message, "`127.0.0.1` has no IPv6 address");
    }

    #[test]
    fn invalid_host_names_are_refused() {
        for name in [String::new(), "x".repeat(256)] {
            let request = Resolve {
                name,
                family: AddressFamily::Ipv4,
                netbios: false,
                wins: None,
                port: None,
            };
            assert_eq!(resolve(request).err().map(|failure| failure.code), Some("request.value"));
        }
        let refused = asked("no such host.invalid", AddressFamily::Ipv4).unwrap_err();
        assert_eq!(refused.failure.code, "service.name");
    }

    #[test]
    fn the_first_answering_address_is_used() {
        let listener = std::net::TcpListener::bind("127.0.0.3:0").unwrap();
        let port = Some(listener.local_addr().unwrap().port());
        let addresses: Vec<IpAddr> =
            ["127.0.0.2", "127.0.0.3"].map(|one| one.parse().unwrap()).to_vec();
        assert_eq!(answering(&addresses, port), Some(addresses[1]));
        assert_eq!(answering(&addresses, None), Some(addresses[0]), "no port to try");
        drop(listener);
        assert_eq!(answering(&addresses, port), Some(addresses[0]), "none answers");
        assert_eq!(answering(&[], port), None);
    }
}
