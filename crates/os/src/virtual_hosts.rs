use std::io;
use std::net::IpAddr;

use lanlab_messages::{HostInterface, HostQueue, SetUpHosts};
use libc::{IFA_ADDRESS, IFA_LOCAL, NDA_DST, NDA_LLADDR, NUD_PERMANENT, TCA_KIND, TCA_STATS2};

use super::namespace;
use super::rtnetlink::{IFLA_IFNAME, Rtnetlink, TC_H_ROOT, UP, attributes};

#[derive(Debug, Clone)]
pub struct HostPlan {
    pub namespace_pid: u32,
    pub interface: String,
    pub mac: [u8; 6],
    pub addresses: Vec<(IpAddr, u8)>,
}

const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_CARRIER_CHANGES: u16 = 35;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;

/// Skips duplicate address detection: an IPv6 address would be unusable in its first second.
const IFA_F_NODAD: u8 = 0x02;
const LOOPBACK_INDEX: i32 = 1;

/// Bring up the interface of each host with its addresses, and add all other hosts as its neighbours.
pub fn set_up_hosts(hosts: &[HostPlan], settings: &SetUpHosts) -> io::Result<()> {
    let pid_of = |host: &HostPlan| host.namespace_pid;
    namespace::in_networks(hosts, pid_of, |rtnetlink, host| {
        set_up(rtnetlink, host, hosts, settings).map_err(|error| {
            let about = format!("{} of process {}: {error}", host.interface, host.namespace_pid);
            io::Error::new(error.kind(), about)
        })
    })
    .map(drop)
}

fn set_up(
    mut rtnetlink: Rtnetlink,
    host: &HostPlan,
    all: &[HostPlan],
    settings: &SetUpHosts,
) -> io::Result<()> {
    let index = rtnetlink.index_of(&host.interface)?;
    let is_new = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    rtnetlink.begin(libc::RTM_NEWLINK, 0);
    rtnetlink.link(index, 0, 0);
    rtnetlink.attribute(IFLA_MTU, &settings.mtu_bytes.to_ne_bytes());
    rtnetlink.attribute(IFLA_TXQLEN, &settings.queue_frames.to_ne_bytes());
    if let Some(segments) = settings.segments {
        rtnetlink.attribute(IFLA_GSO_MAX_SEGS, &segments.to_ne_bytes());
    }
    if host.addresses.iter().any(|(address, _)| address.is_ipv6()) {
        rtnetlink.no_link_local_address();
    }
    for each in [LOOPBACK_INDEX, index] {
        rtnetlink.begin(libc::RTM_NEWLINK, 0);
        rtnetlink.link(each, UP, UP);
    }
    for &(address, prefix_bits) in &host.addresses {
        let (family, octets) = as_octets(address);
        rtnetlink.begin(libc::RTM_NEWADDR, is_new);
        // struct ifaddrmsg: family, prefix, flags, scope, interface.
        let flags = if address.is_ipv6() { IFA_F_NODAD } else { 0 };
        rtnetlink.octets(&[family, prefix_bits, flags, 0]);
        rtnetlink.octets(&index.to_ne_bytes());
        rtnetlink.attribute(IFA_LOCAL, &octets);
        rtnetlink.attribute(IFA_ADDRESS, &octets);
    }
    for other in all.iter().filter(|other| other.mac != host.mac) {
        for &(address, _) in &other.addresses {
            let (family, octets) = as_octets(address);
            rtnetlink.begin(libc::RTM_NEWNEIGH, is_new);
            // struct ndmsg: family and padding, interface, state, flags, type.
            rtnetlink.octets(&[family, 0, 0, 0]);
            rtnetlink.octets(&index.to_ne_bytes());
            rtnetlink.octets(&NUD_PERMANENT.to_ne_bytes());
            rtnetlink.octets(&[0, 0]);
            rtnetlink.attribute(NDA_DST, &octets);
            rtnetlink.attribute(NDA_LLADDR, &other.mac);
        }
    }
    rtnetlink.send(|_, _| {})
}

fn as_octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (libc::AF_INET as u8, address.octets().into()),
        IpAddr::V6(address) => (libc::AF_INET6 as u8, address.octets().into()),
    }
}

/// Interfaces in each process's network namespace, with their queues.
pub fn read_hosts(pids: &[u32]) -> io::Result<Vec<Vec<HostInterface>>> {
    namespace::in_networks(pids, |&pid| pid, |rtnetlink, _| read(rtnetlink))
}

fn read(mut rtnetlink: Rtnetlink) -> io::Result<Vec<HostInterface>> {
    let mut found: Vec<(i32, HostInterface)> = Vec::new();
    rtnetlink.begin(libc::RTM_GETLINK, libc::NLM_F_DUMP);
    rtnetlink.link(0, 0, 0);
    rtnetlink.send(|_, body| {
        // struct ifinfomsg is as long as what `link` writes.
        let Some((header, rest)) = body.split_at_checked(16) else { return };
        let mut interface = HostInterface::default();
        for (kind, value) in attributes(rest) {
            match kind {
                IFLA_IFNAME => interface.name = as_text(value),
                IFLA_CARRIER_CHANGES => interface.carrier_changes = word(value, 0).into(),
                _ => {}
            }
        }
        found.push((word(header, 4).cast_signed(), interface));
    })?;
    rtnetlink.begin(libc::RTM_GETQDISC, libc::NLM_F_DUMP);
    // struct tcmsg, of no interface.
    rtnetlink.octets(&[0; 20]);
    rtnetlink.send(|_, body| {
        let Some((header, rest)) = body.split_at_checked(20) else { return };
        // Interface and parent.
        let (index, parent) = (word(header, 4).cast_signed(), word(header, 12));
        let host = found.iter_mut().find(|(each, _)| *each == index);
        if let Some((_, interface)) = host.filter(|_| parent == TC_H_ROOT) {
            interface.queue = Some(queue(rest));
        }
    })?;
    Ok(found.into_iter().map(|(_, interface)| interface).collect())
}

fn queue(message: &[u8]) -> HostQueue {
    let mut queue = HostQueue::default();
    for (kind, value) in attributes(message) {
        match kind {
            TCA_KIND => queue.kind = as_text(value),
            TCA_STATS2 => {
                for (kind, value) in attributes(value) {
                    match kind {
                        // struct gnet_stats_basic: bytes (64 bits), packets.
                        TCA_STATS_BASIC => {
                            let (low, high) = (word(value, 0), word(value, 4));
                            let octets = [low.to_ne_bytes(), high.to_ne_bytes()].concat();
                            let octets = octets.try_into().unwrap_or_default();
                            queue.bytes = u64::from_ne_bytes(octets);
                            queue.packets = word(value, 8).into();
                        }
                        // struct gnet_stats_queue: packets, bytes, drops, requeues, overlimits.
                        TCA_STATS_QUEUE => {
                            queue.backlog_bytes = word(value, 4).into();
                            queue.drops = word(value, 8).into();
                            queue.overlimits = word(value, 16).into();
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    queue
}

fn as_text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.strip_suffix(&[0]).unwrap_or(value)).into_owned()
}

/// A 32-bit number; zero if the kernel's reply is shorter.
fn word(value: &[u8], at: usize) -> u32 {
    let octets = value.get(at..at + 4).and_then(|octets| octets.try_into().ok());
    octets.map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_carrier_never_changes() {
        let found = read(Rtnetlink::open().unwrap()).unwrap();
        let lo = found.iter().find(|interface| interface.name == "lo").unwrap();
        assert_eq!(lo.carrier_changes, 0);
        assert!(lo.queue.as_ref().is_none_or(|queue| !queue.kind.is_empty()));
    }

    #[test]
    fn a_queue_is_parsed_from_kernel_replies() {
        let mut basic = 5_000_000_000_u64.to_ne_bytes().to_vec();
        basic.extend_from_slice(&7_u32.to_ne_bytes());
        let counts: Vec<u8> = [1_u32, 1538, 3, 0, 9].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let attribute = |kind: u16, value: &[u8]| {
            [&(4 + value.len() as u16).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
        };
        let stats = [attribute(TCA_STATS_BASIC, &basic), attribute(TCA_STATS_QUEUE, &counts)];
        let said = [attribute(TCA_KIND, b"tbf\0"), attribute(TCA_STATS2, &stats.concat())].concat();
        let expected = HostQueue {
            kind: "tbf".into(),
            bytes: 5_000_000_000,
            packets: 7,
            drops: 3,
            overlimits: 9,
            backlog_bytes: 1538,
        };
        assert_eq!(queue(&said), expected);
    }
}
