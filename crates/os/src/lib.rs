//! Clocks, sockets and network devices of Linux in real time, and the only `unsafe` code of the workspace.

#![allow(
    unsafe_code,
    reason = "each block calls one system function and says why its arguments are valid"
)]

#[cfg(not(target_os = "linux"))]
compile_error!("lanlab runs on Linux only");

mod adapter_work;
mod alarm;
mod clock;
mod datagram;
mod directory_watch;
mod ethtool;
mod file;
mod interfaces;
mod link_modes;
mod names;
mod namespace;
pub mod opening;
mod packet_socket;
mod ports;
pub mod positioned;
mod process;
mod raw_link;
mod readiness;
mod rtnetlink;
pub mod socket_options;
mod tap;
mod tcp;
mod usage;
mod virtual_hosts;
mod wake;
mod zones;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

pub use alarm::Alarm;
pub use clock::{discipline, monotonic, prepare_thread, realtime_ns, sleep_until};
pub use datagram::{BATCH_MESSAGES, DatagramSocket, ReceiveBatch, Received, SendBatch};
pub use directory_watch::{DirectoryChange, DirectoryWatch};
pub use ethtool::{Offload, offloads, set_offloads};
pub use file::{
    close as close_file, disk_space, drop_all_caches, file_in_memory, forget_cached, free_bytes,
    is_own, open_own_file, will_read_in_order, write_parts_at,
};
pub use interfaces::{broadcast_addresses, interfaces};
pub use names::rename_to_free_name_at;
pub use ports::{Port, PortKind, PortPlan, PortQueue, make_ports};
pub use process::{
    adjust_allocator, bind_to_processor, descriptor_limit, favour_thread, give_up_rights,
    raise_descriptor_limit, shorten_slices, user_and_group,
};
pub use raw_link::{LinkDescriptor, RawFrames, RawLink, RawLinkPlace};
pub use readiness::{Interest, Readiness, wait_readable, wait_writable};
pub use rtnetlink::SendingQueue;
pub use socket_options::DatagramOptions;
pub use tcp::{
    TcpInfo, TcpLimits, acknowledge_at_once, choose_port_late, lengthen_accept_queue, limit_tcp,
    limit_unsent, ready_from, receive_now, send_now, set_congestion_control, shut_down_connections,
    tcp_info, unread_bytes,
};
pub use usage::{process_cpu_ns, thread_cpu_ns, thread_usage};
pub use virtual_hosts::{HostPlan, read_hosts, set_up_hosts};
pub use wake::Wake;
pub use zones::socket_address;

/// Maximum connections without a place that a server may keep: a quarter of this process's descriptors, as served
/// clients need some.
pub fn most_waiting_connections() -> usize {
    let most = 4096;
    (descriptor_limit() as usize / 4).clamp(1, most)
}

/// The result of a system call that returns -1 and sets `errno` on failure.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set_option<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed and so open; pointer and length describe `value`.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(drop)
}
