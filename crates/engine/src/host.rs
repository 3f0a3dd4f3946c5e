//! Facts of this host. Whatever the system does not tell is left out, never guessed.

use std::collections::BTreeMap;
use std::fs;

use crate::messages::HostFacts;

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The value of the first `key : value` line of a `/proc` table.
fn field(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// UDP counters of `/proc/net/snmp` (a line of names, then one of values) and `snmp6` (a pair a
/// line).
pub fn udp_counters() -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let snmp = fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Udp: "));
    if let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        for (name, value) in names.split(' ').zip(values.split(' ')) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("Udp{name}"), value);
            }
        }
    }
    let snmp6 = fs::read_to_string("/proc/self/net/snmp6").unwrap_or_default();
    for line in snmp6.lines().filter(|line| line.starts_with("Udp6")) {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
            counters.insert(name.to_owned(), value);
        }
    }
    counters
}

/// What this host is at the moment.
pub fn describe() -> HostFacts {
    HostFacts {
        system: std::env::consts::OS.into(),
        architecture: std::env::consts::ARCH.into(),
        kernel: read("/proc/sys/kernel/osrelease"),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
        processor: field("/proc/cpuinfo", "model name"),
        processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        memory_bytes: field("/proc/meminfo", "MemTotal")
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
            .map(|kibibytes| kibibytes * 1024),
        clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load_average: read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        offloads: BTreeMap::new(),
        congestion_control: read("/proc/sys/net/ipv4/tcp_congestion_control"),
        congestion_controls: read("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
            .map(|text| text.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        max_receive_buffer_bytes: read("/proc/sys/net/core/rmem_max").and_then(|t| t.parse().ok()),
        max_send_buffer_bytes: read("/proc/sys/net/core/wmem_max").and_then(|t| t.parse().ok()),
        udp_counters: udp_counters(),
    }
}
