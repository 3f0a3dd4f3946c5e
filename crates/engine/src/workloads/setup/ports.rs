//! The listening port, the first free one of a range, and the processes that hold others.

use std::fs;
use std::path::Path;

use lanlab_files::HostAddress;

use crate::messages::{Failure, Transport};

const MOST_NAMED: usize = 3;

/// Range of ports for a listener; its sockets take the free ones in turn.
pub struct Ports {
    transport: Transport,
    address: HostAddress,
    first: u16,
    last: u16,
    /// The next port to try; above `last` after all have been tried.
    next: u32,
}

impl Ports {
    /// From the first to the last port; if `last` is 0, `sockets` ports.
    pub fn new(
        transport: Transport,
        address: HostAddress,
        (first, last): (u16, u16),
        sockets: u16,
    ) -> Self {
        let last = if last == 0 && first > 0 {
            first.saturating_add(sockets.saturating_sub(1))
        } else {
            last
        };
        Self { transport, address, first, last, next: first.into() }
    }

    pub fn check(&self, sockets: u16) -> Result<(), Failure> {
        if self.first == 0 && self.last == 0 {
            return Ok(());
        }
        let fewest = u32::from(self.first) + u32::from(sockets) - 1;
        if self.first == 0 || u32::from(self.last) < fewest {
            return Err(Failure::value(
                "port",
                format!("{} to {}", self.first, self.last),
                format!("{sockets} ports from 1 to 65535"),
            ));
        }
        Ok(())
    }

    pub fn take<T>(&mut self, bind: impl Fn(u16) -> Result<T, Failure>) -> Result<T, Failure> {
        if self.first == 0 {
            return bind(0);
        }
        while self.next <= self.last.into() {
            let port = u16::try_from(self.next).unwrap_or(self.last);
            self.next += 1;
            match bind(port) {
                Err(failure) if failure.code == "bind.in_use" => {}
                other => return other,
            }
        }
        Err(self.none_free())
    }

    fn none_free(&self) -> Failure {
        let kind = if self.transport == Transport::Udp { "UDP" } else { "TCP" };
        let ports = if self.first == self.last {
            format!("port {} on {} is in use", self.first, self.address)
        } else {
            let many = format!("ports {} to {} on {}", self.first, self.last, self.address);
            format!("{many}: too few are free")
        };
        let held = holders(self.transport, self.first..=self.last);
        let by = if held.is_empty() { String::new() } else { format!(" ({})", held.join(", ")) };
        Failure::new("bind.in_use", format!("{kind} {ports}"))
            .hint(format!("end what listens there{by}, or give other ports"))
    }
}

/// Processes that hold these ports, as `iperf3, process 12`, if this user may see them.
fn holders(transport: Transport, ports: std::ops::RangeInclusive<u16>) -> Vec<String> {
    let tables = match transport {
        Transport::Udp => ["udp", "udp6"],
        Transport::Tcp => ["tcp", "tcp6"],
    };
    let inodes: Vec<String> = tables
        .iter()
        .filter_map(|table| fs::read_to_string(format!("/proc/self/net/{table}")).ok())
        .flat_map(|text| inodes_of(&text, &ports))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if inodes.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<String> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let holds = fs::read_dir(entry.path().join("fd")).ok()?.any(|descriptor| {
                let target = descriptor.ok().and_then(|it| fs::read_link(it.path()).ok());
                target.is_some_and(|target| is_one_of(&target, &inodes))
            });
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            holds.then(|| format!("{}, process {pid}", name.trim()))
        })
        .collect();
    found.sort();
    found.truncate(MOST_NAMED);
    found
}

fn is_one_of(target: &Path, sockets: &[String]) -> bool {
    sockets.iter().any(|socket| target == Path::new(socket))
}

/// Inodes of sockets with these local ports, from a table in the format of `/proc/net/udp`: headings, then one
/// socket per line, with the port at the end of the second column and the inode in the tenth.
fn inodes_of(table: &str, ports: &std::ops::RangeInclusive<u16>) -> Vec<String> {
    let inode_of = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let (_, port) = columns.get(1)?.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        // A socket without a process, as of a closed connection, has inode 0.
        let inode = columns.get(9).filter(|inode| **inode != "0")?;
        ports.contains(&port).then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(inode_of).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, UdpSocket};

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn in_use(_: u16) -> Result<u16, Failure> {
        Err(Failure::new("bind.in_use", ""))
    }

    #[test]
    fn sockets_take_the_free_ports_of_a_range_in_turn() {
        let mut ports = Ports::new(Transport::Udp, HERE.into(), (10, 14), 2);
        let odd = |port| if port % 2 == 0 { in_use(port) } else { Ok(port) };
        assert_eq!(ports.take(odd), Ok(11));
        assert_eq!(ports.take(odd), Ok(13));
        assert_eq!(
            ports.take(odd).unwrap_err().message,
            "UDP ports 10 to 14 on 127.0.0.1: too few are free"
        );
    }

    #[test]
    fn another_error_ends_the_search() {
        let mut ports = Ports::new(Transport::Tcp, HERE.into(), (10, 14), 1);
        let refused = ports.take(|_| Err::<u16, _>(Failure::new("system.permission", "no")));
        assert_eq!(refused.unwrap_err().code, "system.permission");
    }

    #[test]
    fn without_a_port_the_system_chooses_each() {
        let mut ports = Ports::new(Transport::Udp, HERE.into(), (0, 0), 3);
        assert_eq!((ports.take(Ok), ports.take(Ok)), (Ok(0), Ok(0)));
    }

    #[test]
    fn a_range_with_too_few_ports_is_refused() {
        let check =
            |range, sockets| Ports::new(Transport::Udp, HERE.into(), range, sockets).check(sockets);
        assert_eq!(check((0, 0), 5), Ok(()));
        assert_eq!(check((65_535, 0), 1), Ok(()));
        assert_eq!(check((5201, 5203), 3), Ok(()));
        for (range, sockets) in
            [((5201, 5203), 4), ((5203, 5201), 1), ((0, 9), 1), ((65_535, 0), 2)]
        {
            assert_eq!(check(range, sockets).unwrap_err().code, "request.value", "{range:?}");
        }
    }

    #[test]
    fn port_65535_can_be_used() {
        let mut ports = Ports::new(Transport::Tcp, HERE.into(), (65_535, 0), 1);
        assert_eq!(ports.take(Ok), Ok(65_535));
        assert!(ports.take(Ok).is_err());
    }

    #[test]
    fn the_process_holding_a_port_is_named() {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let mut ports = Ports::new(Transport::Udp, HERE.into(), (port, port), 1);
        let hint = ports.take(in_use).unwrap_err().hint.unwrap();
        assert!(hint.contains(&format!("process {}", std::process::id())), "{hint}");
    }

    #[test]
    fn sockets_are_attributed_by_process_descriptors() {
        let sockets = ["socket:[17]".to_owned(), "socket:[4]".to_owned()];
        let found = ["socket:[4]", "socket:[41]", "/dev/null"]
            .map(|target| is_one_of(Path::new(target), &sockets));
        assert_eq!(found, [true, false, false]);
        let table = "  sl  local_address rem_address st tx rx tr uid timeout inode\n\
            0: 0100007F:1451 00000000:0000 07 0:0 00:0 0 0 0 4 2 x 0\n\
            1: 0100007F:1452 00000000:0000 07 0:0 00:0 0 0 0 5 2 x 0\n\
            2: 0100007F:1451 00000000:0000 07 0:0 00:0 0 0 0 0 2 x 0\n";
        assert_eq!(inodes_of(table, &(5201..=5201)), ["4"]);
        assert_eq!(inodes_of(table, &(5201..=5202)), ["4", "5"]);
    }
}
