//! Any system, with the standard library alone: one system call per datagram, no kernel counters.

pub mod clock;
pub mod datagram;
pub mod directory_watch;
pub mod file;
pub mod interfaces;
pub mod names;
pub mod ports;
pub mod process;
pub mod raw_link;
pub mod readiness;
pub mod tcp;
pub mod usage;
pub mod virtual_hosts;
pub mod wake;

pub const CAPABILITIES: crate::Capabilities = crate::Capabilities {
    batch: false,
    segment: false,
    local_drop_reports: false,
    tcp_info: false,
    thread_usage: false,
    socket_drop_reports: false,
    kernel_timestamps: false,
    processor_binding: false,
};
