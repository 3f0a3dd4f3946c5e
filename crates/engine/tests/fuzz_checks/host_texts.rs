//! Tables of the kernel.

use crate::{host, host_window};

/// Any text in the place of a table of `/proc`: it is read or it is not.
pub fn host_texts(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let (first, second) = text.split_once('\0').unwrap_or((&text, ""));
    let _ = host::threads_running(first);
    let _ = host::cpu_pressure_ratio(first);
    let _ = host::processors_online(first);
    let _ = host::field(first, "model name");
    let _ = host::memory_bytes(first, "MemTotal");
    let _ = host::devices(first).count();
    let _ = host::parse_udp_counters(first, second);
    let _ = host_window::processor_times(first);
    let _ = host_window::softnet(first);
}
