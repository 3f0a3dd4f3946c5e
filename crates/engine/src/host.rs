//! Facts about this host. Values that the system does not report are omitted, never guessed.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use lanlab_os as os;

use crate::messages::{Capabilities, ClockFacts, HostFacts, InterfaceFacts};

pub const CAPABILITIES: Capabilities = Capabilities {
    batch: true,
    segment: true,
    local_drop_reports: true,
    tcp_info: true,
    thread_usage: true,
    socket_drop_reports: true,
    kernel_timestamps: true,
    processor_binding: true,
};

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The value of the first `key : value` line of a `/proc` table.
pub fn field<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    table.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

pub fn memory_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let kibibytes: u64 = field(meminfo, key)?.split(' ').next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Runnable threads: `2` in the fourth word of `/proc/loadavg`, as in `0.20 0.18 0.12 2/80 11206`.
pub fn threads_running(loadavg: &str) -> Option<u64> {
    loadavg.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

/// The ten-second mean of the first line of `/proc/pressure/cpu`, which is in per cent:
/// `some avg10=1.53 avg60=1.20 avg300=0.30 total=8263`.
pub fn cpu_pressure_ratio(pressure: &str) -> Option<f64> {
    let word = pressure.lines().next()?.split(' ').find_map(|word| word.strip_prefix("avg10="))?;
    let percent: f64 = word.parse().ok()?;
    Some(percent / 100.0)
}

/// How many processors have a line (`cpu0`, `cpu1`, …) in `/proc/stat`; offline ones have none.
pub fn processors_online(stat: &str) -> Option<u64> {
    let is_one = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let count = stat.lines().filter(is_one).count() as u64;
    (count > 0).then_some(count)
}

/// Names of network devices in the format of `/proc/net/dev`: two heading lines, then `name: counters` per device.
pub fn devices(table: &str) -> impl Iterator<Item = &str> {
    table.lines().skip(2).filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim())
}

/// Offloads of the devices in this process's network namespace. `/sys/class/net` would show the namespace in which
/// it was mounted.
fn offloads() -> BTreeMap<String, BTreeMap<String, bool>> {
    let table = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    devices(&table)
        .filter_map(|device| {
            // A device may be gone by now, and not every kind has offloads.
            let list = lanlab_os::offloads(device).ok()?;
            let by_name = list.into_iter().map(|offload| (offload.name.to_owned(), offload.on));
            Some((device.to_owned(), by_name.collect()))
        })
        .collect()
}

/// Reported columns of `/proc/net/dev` by position (net/core/net-procfs.c in Linux).
const COUNTERS: [(&str, usize); 8] = [
    ("rx_bytes", 0),
    ("rx_packets", 1),
    ("rx_errors", 2),
    ("rx_drops", 3),
    ("tx_bytes", 8),
    ("tx_packets", 9),
    ("tx_errors", 10),
    ("tx_drops", 11),
];

/// The counters of a device in the format of `/proc/net/dev`; empty if it is not listed.
pub fn counters(table: &str, device: &str) -> BTreeMap<String, u64> {
    let line = table.lines().skip(2).filter_map(|line| line.split_once(':'));
    let Some((_, values)) = line.into_iter().find(|(name, _)| name.trim() == device) else {
        return BTreeMap::new();
    };
    let values: Vec<&str> = values.split_whitespace().collect();
    let number = |place: usize| values.get(place).and_then(|text| text.parse().ok());
    COUNTERS
        .into_iter()
        .filter_map(|(name, place)| Some((name.to_owned(), number(place)?)))
        .collect()
}

fn interfaces() -> BTreeMap<String, InterfaceFacts> {
    let table = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let mut found = os::interfaces().unwrap_or_default();
    for (name, facts) in &mut found {
        facts.counters = counters(&table, name);
    }
    found
}

/// Time synchronisation daemons by their process names, of at most 15 characters.
const CLOCK_KEEPERS: [(&str, &str); 6] = [
    ("chronyd", "chronyd"),
    ("ntpd", "ntpd"),
    ("ptp4l", "ptp4l"),
    ("phc2sys", "phc2sys"),
    ("systemd-timesyn", "systemd-timesyncd"),
    ("timemaster", "timemaster"),
];

/// The time daemons that are running. This scans every process, which is too slow during a trial.
static KEEPERS_RUNNING: LazyLock<Vec<String>> = LazyLock::new(|| {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names: Vec<String> = processes
        .filter(|entry| {
            entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
        })
        .filter_map(|entry| fs::read_to_string(entry.path().join("comm")).ok())
        .collect();
    keepers(&names)
});

fn keepers(processes: &[String]) -> Vec<String> {
    let runs = |name: &str| processes.iter().any(|process| process.trim_end() == name);
    CLOCK_KEEPERS.iter().filter(|(name, _)| runs(name)).map(|(_, full)| (*full).into()).collect()
}

fn clock() -> Option<ClockFacts> {
    Some(ClockFacts { disciplined_by: KEEPERS_RUNNING.clone(), ..os::discipline()? })
}

pub fn udp_counters() -> BTreeMap<String, u64> {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    parse_udp_counters(&text("/proc/self/net/snmp"), &text("/proc/self/net/snmp6"))
}

/// UDP counters of `/proc/net/snmp` (a line of names, then one of values) and `snmp6` (a pair a
/// line).
pub fn parse_udp_counters(snmp: &str, snmp6: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Udp: "));
    if let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        for (name, value) in names.split(' ').zip(values.split(' ')) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("Udp{name}"), value);
            }
        }
    }
    for line in snmp6.lines().filter(|line| line.starts_with("Udp6")) {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
            counters.insert(name.to_owned(), value);
        }
    }
    counters
}

pub fn describe() -> HostFacts {
    let loadavg = read("/proc/loadavg").unwrap_or_default();
    let meminfo = read("/proc/meminfo").unwrap_or_default();
    HostFacts {
        system: std::env::consts::OS.into(),
        architecture: std::env::consts::ARCH.into(),
        kernel: read("/proc/sys/kernel/osrelease"),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
        kernel_clock: true,
        processor: read("/proc/cpuinfo")
            .and_then(|text| field(&text, "model name").map(str::to_owned)),
        processors: processors(),
        processors_online: read("/proc/stat").and_then(|text| processors_online(&text)),
        memory_bytes: memory_bytes(&meminfo, "MemTotal"),
        memory_available_bytes: memory_bytes(&meminfo, "MemAvailable"),
        clock: clock(),
        clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load_average: loadavg.split(' ').next().and_then(|text| text.parse().ok()),
        threads_running: threads_running(&loadavg),
        cpu_pressure_ratio: read("/proc/pressure/cpu").and_then(|text| cpu_pressure_ratio(&text)),
        offloads: offloads(),
        interfaces: interfaces(),
        congestion_control: read("/proc/sys/net/ipv4/tcp_congestion_control"),
        congestion_controls: read("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
            .map(|text| text.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        max_receive_buffer_bytes: read("/proc/sys/net/core/rmem_max").and_then(|t| t.parse().ok()),
        max_send_buffer_bytes: read("/proc/sys/net/core/wmem_max").and_then(|t| t.parse().ok()),
        udp_counters: udp_counters(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_threads_precede_the_slash_in_loadavg() {
        assert_eq!(threads_running("0.20 0.18 0.12 2/80 11206"), Some(2));
        assert_eq!(threads_running(""), None);
        assert_eq!(threads_running("0.20 0.18 0.12"), None);
    }

    #[test]
    fn the_total_line_is_not_counted_as_a_processor() {
        assert_eq!(processors_online("cpu  9 9\ncpu0 4 4\ncpu3 5 5\nintr 7\n"), Some(2));
        assert_eq!(processors_online("intr 7\n"), None);
    }

    #[test]
    fn running_time_daemons_are_recognised() {
        let running = ["ptp4l\n", "bash\n", "systemd-timesyn\n", "chronyd-x\n"].map(str::to_owned);
        assert_eq!(keepers(&running), ["ptp4l", "systemd-timesyncd"]);
    }

    #[test]
    fn the_kernel_reports_its_clock_discipline() {
        let clock = describe().clock.unwrap();
        assert!(clock.maximum_error_ns >= clock.estimated_error_ns || !clock.synchronised);
    }

    #[test]
    fn pressure_is_the_10_s_share_with_some_waiting() {
        let both = "some avg10=1.53 avg60=1.20 avg300=0.30 total=8263\n\
                    full avg10=0.50 avg60=0.00 avg300=0.00 total=0";
        let ratio = cpu_pressure_ratio(both).unwrap();
        assert!((ratio - 0.0153).abs() < 1e-12, "{ratio}");
        assert_eq!(cpu_pressure_ratio("some avg60=1.20"), None);
    }

    #[test]
    fn device_names_precede_the_colon_after_the_headings() {
        let table = "Inter-|   Receive  |  Transmit\n\
                     \x20face |bytes    packets|bytes    packets\n\
                     \x20   lo: 2776770   11307 2776770   11307\n\
                     \x20eth0.5:1215645    2751       0       0\n";
        assert_eq!(devices(table).collect::<Vec<_>>(), ["lo", "eth0.5"]);
    }

    #[test]
    fn the_counters_of_a_device_come_from_its_line() {
        let table =
            "Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        let found = counters(table, "lo");
        assert_eq!((found["rx_bytes"], found["rx_drops"]), (1, 4));
        assert_eq!((found["tx_bytes"], found["tx_drops"]), (9, 12));
        assert!(counters(table, "eth0").is_empty());
        assert!(counters("", "lo").is_empty());
    }

    #[test]
    fn the_loopback_interface_has_its_address_mtu_and_counters() {
        let lo = &describe().interfaces["lo"];
        assert!(lo.addresses.contains(&"127.0.0.1".to_owned()));
        assert!(lo.mtu_bytes.is_some_and(|octets| octets > 0) && !lo.wireless);
        assert!(lo.counters.contains_key("rx_packets"));
    }

    #[test]
    fn every_device_of_this_namespace_is_described_with_its_offloads() {
        let offloads = describe().offloads;
        // Loopback has segmentation offload in every kernel, and its checksums cannot be switched off.
        assert!(offloads["lo"]["tx-checksumming"]);
        assert!(offloads["lo"].contains_key("tcp-segmentation-offload"));
    }
}
