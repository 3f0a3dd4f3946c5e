//! Activity of the whole host over a period, from counters at both ends.

use std::collections::BTreeMap;
use std::fs;

use lanlab_os as os;
use lanlab_units::Instant;

use crate::host::udp_counters;
use crate::messages::{HostWindow, ProcessorTimes};

/// `/proc/stat` counts in hundredths of a second (`USER_HZ`, fixed in Linux's user interface).
const TICK_NS: u64 = 10_000_000;

#[derive(Debug)]
pub struct HostSnapshot {
    at: Instant,
    realtime_ns: u64,
    processors: ProcessorTimes,
    engine_cpu_ns: u64,
    softnet: [u64; 3],
    udp_counters: BTreeMap<String, u64>,
}

impl HostSnapshot {
    /// The current counters; `None` if the system has none of them.
    pub fn take() -> Option<Self> {
        let processors = processor_times(&fs::read_to_string("/proc/stat").ok()?)?;
        // Read the calendar clock between two readings of the monotonic one, so that a delay of this thread is not
        // mistaken for a clock step.
        let (at, realtime_ns) = (0..4)
            .map(|_| {
                let before = os::monotonic();
                let realtime_ns = os::realtime_ns();
                (os::monotonic().nanos_since(before), before, realtime_ns)
            })
            .min()
            .map(|(_, before, realtime_ns)| (before, realtime_ns))?;
        Some(Self {
            at,
            realtime_ns,
            processors,
            engine_cpu_ns: os::process_cpu_ns(),
            softnet: softnet(&fs::read_to_string("/proc/net/softnet_stat").ok()?),
            udp_counters: udp_counters(),
        })
    }

    pub fn until(&self, later: &Self) -> HostWindow {
        let elapsed_ns = later.at.nanos_since(self.at);
        let realtime_ns = later.realtime_ns.wrapping_sub(self.realtime_ns).cast_signed();
        let (from, to) = (&self.processors, &later.processors);
        let rise = |name: &str, value: u64| {
            value.wrapping_sub(self.udp_counters.get(name).copied().unwrap_or(0))
        };
        HostWindow {
            elapsed_ns,
            processors: ProcessorTimes {
                user_ns: to.user_ns.saturating_sub(from.user_ns),
                system_ns: to.system_ns.saturating_sub(from.system_ns),
                interrupt_ns: to.interrupt_ns.saturating_sub(from.interrupt_ns),
                soft_interrupt_ns: to.soft_interrupt_ns.saturating_sub(from.soft_interrupt_ns),
                steal_ns: to.steal_ns.saturating_sub(from.steal_ns),
                // The iowait counter is known to decrease occasionally (proc(5)).
                idle_ns: to.idle_ns.saturating_sub(from.idle_ns),
            },
            engine_cpu_ns: later.engine_cpu_ns.saturating_sub(self.engine_cpu_ns),
            softnet_processed: u64::from(
                (later.softnet[0] as u32).wrapping_sub(self.softnet[0] as u32),
            ),
            softnet_dropped: later.softnet[1].saturating_sub(self.softnet[1]),
            softnet_squeezed: later.softnet[2].saturating_sub(self.softnet[2]),
            udp_counters: later
                .udp_counters
                .iter()
                .map(|(name, value)| (name.clone(), rise(name, *value)))
                .collect(),
            clock_step_ns: realtime_ns - elapsed_ns.cast_signed(),
        }
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
pub fn processor_times(stat: &str) -> Option<ProcessorTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut ticks = [0_u64; 8];
    for (place, word) in ticks.iter_mut().zip(line.split_whitespace()) {
        *place = word.parse::<u64>().ok()?.checked_mul(TICK_NS)?;
    }
    let [user, nice, system, idle, waiting, interrupt, soft_interrupt, steal] = ticks;
    Some(ProcessorTimes {
        user_ns: user.saturating_add(nice),
        system_ns: system,
        interrupt_ns: interrupt,
        soft_interrupt_ns: soft_interrupt,
        steal_ns: steal,
        idle_ns: idle.saturating_add(waiting),
    })
}

/// Processed, dropped and squeezed, the first three columns of `/proc/net/softnet_stat`, summed over
/// the processors. Each is 32 bits wide and hexadecimal (net/core/net-procfs.c in Linux).
pub fn softnet(table: &str) -> [u64; 3] {
    let mut sums = [0_u64; 3];
    for line in table.lines() {
        for (sum, word) in sums.iter_mut().zip(line.split_whitespace()) {
            *sum += u64::from(u32::from_str_radix(word, 16).unwrap_or(0));
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_times_are_read_by_column() {
        let stat = "cpu  100 20 300 4000 50 6 70 8 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let times = processor_times(stat).unwrap();
        assert_eq!((times.user_ns, times.system_ns), (1_200_000_000, 3_000_000_000));
        assert_eq!((times.interrupt_ns, times.soft_interrupt_ns), (60_000_000, 700_000_000));
        assert_eq!((times.steal_ns, times.idle_ns), (80_000_000, 40_500_000_000));
        assert!(processor_times("intr 1 2 3\n").is_none());
    }

    #[test]
    fn softnet_is_summed_over_processors() {
        let table = "0000000e 00000001 00000002 0\n00001b4f 00000010 00000000 0\n";
        assert_eq!(softnet(table), [0xe + 0x1b4f, 0x11, 2]);
    }

    #[test]
    fn a_busy_thread_shows_as_time_of_the_engine() {
        let before = HostSnapshot::take().unwrap();
        let end = os::monotonic().plus_nanos(30_000_000);
        while os::monotonic() < end {
            std::hint::spin_loop();
        }
        let window = before.until(&HostSnapshot::take().unwrap());
        assert!(window.elapsed_ns >= 30_000_000);
        assert!(window.engine_cpu_ns > 0);
        assert!(window.clock_step_ns.abs() < 1_000_000, "{}", window.clock_step_ns);
    }
}
