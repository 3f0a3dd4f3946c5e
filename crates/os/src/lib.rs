//! Clocks, sockets and network devices of Linux in real time, and the only `unsafe` code of the workspace.

#[cfg(not(target_os = "linux"))]
compile_error!("lanlab runs on Linux only");

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

mod linux;
pub mod offloads;

pub use datagram::{BATCH_MESSAGES, DatagramOptions, Received};
pub use directory_change::DirectoryChange;
pub use linux::alarm::Alarm;
pub use linux::clock::{discipline, monotonic, prepare_thread, realtime_ns, sleep_until};
pub use linux::datagram::{DatagramSocket, ReceiveBatch, SendBatch};
pub use linux::directory_watch::DirectoryWatch;
pub use linux::file::{
    close as close_file, disk_space, drop_all_caches, file_in_memory, forget_cached, free_bytes,
    is_own, open_own_file, will_read_in_order, write_parts_at,
};
pub use readiness::Interest;

pub use interfaces::Interface;
pub use linux::interfaces::{broadcast_addresses, interfaces};
pub use linux::names::rename_to_free_name_at;
pub use linux::ports::{Port, PortQueue, make_ports};
pub use linux::process::{
    bind_to_processor, descriptor_limit, favour_thread, give_up_rights, limit_arenas,
    raise_descriptor_limit, raise_descriptor_limit_to, user_and_group,
};
pub use linux::raw_link::{LinkDescriptor, RawLink};
pub use linux::readiness::{Readiness, wait_readable, wait_writable};
pub use linux::tcp::{
    acknowledge_at_once, choose_port_late, limit_tcp, receive_now, send_now,
    set_congestion_control, shut_down_connections, tcp_info, unread_bytes,
};
pub use linux::usage::{process_cpu_ns, thread_cpu_ns, thread_usage};
pub use linux::virtual_hosts::{read_hosts, set_up_hosts};
pub use linux::wake::Wake;
pub use ports::{PortKind, PortPlan, SendingQueue};
pub use raw_link::{RawFrames, RawLinkPlace};
pub use tcp_info::{TcpInfo, TcpLimits, TcpState};
pub use usage::Usage;
pub use virtual_hosts::{HostInterface, HostPlan, HostQueue, HostSettings};
pub use zones::socket_address;

/// Maximum connections without a place that a server may keep: a quarter of this process's descriptors, as served
/// clients need some.
pub fn most_waiting_connections() -> usize {
    let most = 4096;
    (descriptor_limit() as usize / 4).clamp(1, most)
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
