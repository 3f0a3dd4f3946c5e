//! Checks before any station connects that this host can run all of them at once.

use std::fs;

use lanlab_files::{ServiceKind, Target};

use crate::descriptors;
use crate::messages::Failure;

/// Linux's range of local ports (ip(7)).
const PORT_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Refuse more stations than this process has descriptors or this host has ports.
pub fn check(target: &Target, stations: u32) -> Result<(), Failure> {
    if target.options.stack().is_some() {
        return Err(Failure::value("service.stack", "one", "none for stations"));
    }
    descriptors::provide(descriptors(target, stations), &format!("{stations} stations"))?;
    if target.address.is_some()
        && let Ok(range) = fs::read_to_string(PORT_RANGE)
        && let Some(ports) = ports_in(&range)
    {
        check_ports(stations, ports)?;
    }
    Ok(())
}

/// All connections go to one port of one address, so each needs its own local port.
fn check_ports(stations: u32, ports: u64) -> Result<(), Failure> {
    if u64::from(stations) <= ports {
        return Ok(());
    }
    let message = format!("{stations} stations take as many ports; this host gives {ports}");
    let hint = "widen the range, as by `sysctl net.ipv4.ip_local_port_range=\"1024 65535\"`, \
                or ask for fewer stations";
    Err(Failure::new("stations.ports", message).hint(hint))
}

fn descriptors(target: &Target, stations: u32) -> u64 {
    descriptors_each(target) * u64::from(stations)
}

fn descriptors_each(target: &Target) -> u64 {
    match target.service {
        ServiceKind::Memory => 0,
        // A second connection for data.
        ServiceKind::Ftp | ServiceKind::Ftps => 2,
        // A connection to the mount service, unless a given port serves both.
        ServiceKind::Nfs if target.port.is_none() => 2,
        _ => 1,
    }
}

fn ports_in(range: &str) -> Option<u64> {
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    last.checked_sub(first).map(|more| more + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_ports_are_reported_with_a_hint() {
        assert_eq!(ports_in("32768\t60999\n"), Some(28_232));
        assert_eq!((ports_in("1"), ports_in("9 1"), ports_in("a b")), (None, None, None));
        assert_eq!(check_ports(28_232, 28_232), Ok(()));
        assert_eq!(check_ports(28_233, 28_232).unwrap_err().code, "stations.ports");
    }

    #[test]
    fn an_nfs_station_has_a_second_connection_only_to_a_separate_mount_server() {
        let target = |service: &str, port: &str| -> Target {
            let text = format!(r#"{{"service":"{service}","address":"127.0.0.1"{port}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(descriptors_each(&target("nfs", "")), 2);
        assert_eq!(descriptors_each(&target("nfs", r#","port":2049"#)), 1);
        assert_eq!(descriptors_each(&target("ftp", "")), 2);
        assert_eq!(descriptors_each(&target("smb", "")), 1);
        assert_eq!(descriptors_each(&target("memory", "")), 0);
        assert_eq!(descriptors(&target("ftp", ""), 500), 1000);
        assert!(check(&target("nfs", ""), u32::MAX).is_err());
    }
}
