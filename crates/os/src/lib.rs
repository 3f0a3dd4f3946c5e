//! Clocks, sockets and network devices in real time, and the only `unsafe` code of the workspace.
//!
//! `linux` contains the Linux-specific parts; `portable` does the same with the standard library where possible,
//! and [`capabilities`] lists what is missing, so that results from different systems are not compared unknowingly.
//! `--cfg lanlab_portable` builds the portable side on Linux, to test it there.

mod datagram;
mod directory_change;
mod interfaces;
pub mod opening;
mod ports;
pub mod positioned;
mod raw_link;
mod readiness;
pub mod socket_options;
mod tcp_info;
mod usage;
mod virtual_hosts;
mod zones;

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(lanlab_portable)))]
use linux as system;

#[cfg(not(all(target_os = "linux", not(lanlab_portable))))]
mod portable;
#[cfg(not(all(target_os = "linux", not(lanlab_portable))))]
use portable as system;

pub mod offloads;

pub use datagram::{BATCH_MESSAGES, DatagramOptions, Received};
pub use directory_change::DirectoryChange;
pub use readiness::Interest;
#[cfg(all(target_os = "linux", not(lanlab_portable)))]
pub use system::alarm::Alarm;
pub use system::clock::{discipline, monotonic, prepare_thread, realtime_ns, sleep_until};
pub use system::datagram::{DatagramSocket, ReceiveBatch, SendBatch};
pub use system::directory_watch::DirectoryWatch;
pub use system::file::{
    close as close_file, disk_space, drop_all_caches, file_in_memory, forget_cached, free_bytes,
    is_own, open_own_file, will_read_in_order, write_parts_at,
};

pub use interfaces::Interface;
pub use ports::{PortKind, PortPlan, SendingQueue};
pub use raw_link::{RawFrames, RawLinkPlace};
pub use system::interfaces::{broadcast_addresses, interfaces};
pub use system::names::rename_to_free_name_at;
pub use system::ports::{Port, PortQueue, make_ports};
pub use system::process::{
    bind_to_processor, descriptor_limit, favour_thread, give_up_rights, raise_descriptor_limit,
    raise_descriptor_limit_to, user_and_group,
};
pub use system::raw_link::{LinkDescriptor, RawLink};
pub use system::readiness::{Readiness, wait_readable, wait_writable};
pub use system::tcp::{
    acknowledge_at_once, choose_port_late, limit_tcp, receive_now, send_now,
    set_congestion_control, shut_down_connections, tcp_info, unread_bytes,
};
pub use system::usage::{process_cpu_ns, thread_cpu_ns, thread_usage};
pub use system::virtual_hosts::{read_hosts, set_up_hosts};
pub use system::wake::Wake;
pub use tcp_info::{TcpInfo, TcpLimits, TcpState};
pub use usage::Usage;
pub use virtual_hosts::{HostInterface, HostPlan, HostQueue, HostSettings};
pub use zones::socket_address;

/// Most connections without a place that a server may keep: a quarter of this process's descriptors, as served
/// clients need some.
pub fn most_waiting_connections() -> usize {
    let most = 4096;
    descriptor_limit().map_or(most, |limit| (limit as usize / 4).clamp(1, most))
}

/// The kernel's clock synchronisation (adjtimex(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discipline {
    pub is_synchronised: bool,
    /// Correction still to be applied to the clock, ns.
    pub offset_ns: i64,
    pub maximum_error_ns: u64,
    pub estimated_error_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct Capabilities {
    pub batch: bool,
    pub segment: bool,
    /// The kernel reports datagrams dropped on the sending host (`IP_RECVERR`).
    pub local_drop_reports: bool,
    pub tcp_info: bool,
    pub thread_usage: bool,
    /// The kernel reports datagrams dropped for lack of room in a socket's buffer (`SO_RXQ_OVFL`, `SO_MEMINFO`).
    pub socket_drop_reports: bool,
    pub kernel_timestamps: bool,
    pub processor_binding: bool,
}

pub const fn capabilities() -> Capabilities {
    system::CAPABILITIES
}
