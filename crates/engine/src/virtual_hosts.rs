//! Settings and interface counters of a virtual LAN's hosts. One process serves all hosts, as one per host would
//! take seconds with hundreds of them.

use lanlab_os as os;

use crate::cost::{Cost, OWN_THREADS};
use crate::medium::{MOST_PORTS, check_interface, host_mac};
use crate::messages::{Failure, HostsRead, Outcome, ReadHosts, SetUpHosts, VirtualHost};
use crate::task::Task;

/// Maximum memory for a host's neighbour requests and replies.
const MEMORY_BYTES: u64 = 1 << 20;

fn cost(hosts: usize, most: usize) -> Result<Cost, Failure> {
    if !(1..=most).contains(&hosts) {
        return Err(Failure::value("hosts", hosts, format!("1 to {most}")));
    }
    Ok(Cost { memory_bytes: MEMORY_BYTES, threads: OWN_THREADS })
}

pub fn set_up(request: SetUpHosts) -> Result<Task, Failure> {
    let hosts: Vec<_> = request.hosts.iter().map(plan).collect::<Result<_, _>>()?;
    Ok(Task::new(cost(hosts.len(), MOST_PORTS)?, move |_| {
        os::set_up_hosts(&hosts, &request).map_err(|error| {
            let message = format!("a host's interface: {error}");
            Failure::new("hosts.set_up", message)
        })?;
        Ok(Outcome::HostsSetUp {})
    }))
}

fn plan(host: &VirtualHost) -> Result<os::HostPlan, Failure> {
    check_interface(&host.interface)?;
    Ok(os::HostPlan {
        namespace_pid: host.namespace_pid,
        interface: host.interface.clone(),
        mac: host_mac(&host.mac)?,
        addresses: host.addresses.iter().map(|each| (each.address, each.prefix_bits)).collect(),
    })
}

pub fn read(request: ReadHosts) -> Result<Task, Failure> {
    // The hosts and their switch.
    Ok(Task::new(cost(request.namespace_pids.len(), MOST_PORTS + 1)?, move |_| {
        let hosts = os::read_hosts(&request.namespace_pids).map_err(|error| {
            let message = format!("the interfaces of a host cannot be read: {error}");
            Failure::new("hosts.read", message)
        })?;
        Ok(Outcome::HostsRead(HostsRead { hosts }))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_hosts_are_bounded_and_have_valid_interface_names() {
        let none = SetUpHosts { hosts: vec![], mtu_bytes: 1500, queue_frames: 10, segments: None };
        assert_eq!(set_up(none).err().unwrap().code, "request.value");
        assert!(read(ReadHosts { namespace_pids: vec![1; 257] }).is_ok());
        assert!(read(ReadHosts { namespace_pids: vec![1; 258] }).is_err());
        let host = |interface: &str, mac: &str| VirtualHost {
            namespace_pid: 1,
            interface: interface.into(),
            mac: mac.into(),
            addresses: vec![],
        };
        assert!(plan(&host("eth0", "02:77:00:00:00:01")).is_ok());
        assert!(plan(&host("a name too long for it", "02:77:00:00:00:01")).is_err());
        assert!(plan(&host("eth0", "03:77:00:00:00:01")).is_err());
    }
}
