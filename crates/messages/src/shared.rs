//! Parameters and measured values that several workloads share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    Udp,
    Tcp,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Receive {
    /// Waits in the system call, like a simple program.
    Block,
    /// Sleeps 200 µs, then reads everything: fewest wake-ups.
    Poll,
    /// Never sleeps but polls continuously, which uses a whole processor.
    Spin,
    /// The engine chooses by the rate; the result names the choice and the reason.
    #[default]
    Auto,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timestamps {
    #[default]
    Program,
    /// The kernel's timestamp when a packet arrives from or leaves to the device
    /// (`SO_TIMESTAMPING`).
    Kernel,
}

/// Why the engine chose a mode.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Choice {
    pub reason: String,
}

/// Socket options of either end. Absent options keep the system's default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketOptions {
    /// `TCP_NODELAY`.
    #[serde(default)]
    pub nodelay: bool,
    /// Names of TCP congestion controls, used by the flows in turn; empty: the system's.
    #[serde(default)]
    pub congestion_controls: Vec<String>,
    /// `SO_SNDBUF`, bytes. Refused if the system does not grant it.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF`, bytes. Refused if the system does not grant it.
    pub receive_buffer_bytes: Option<u32>,
    /// Differentiated services code point, 0 to 63.
    #[serde(default)]
    pub dscp: u8,
}

/// CPU time of the threads that moved the data, from the start of the measured part to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CpuTime {
    pub user_ns: u64,
    pub system_ns: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl CpuTime {
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Distribution {
    pub samples: u64,
    pub mean_ns: i64,
    pub sd_ns: u64,
    pub min_ns: i64,
    pub p1_ns: u64,
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    pub max_ns: i64,
    /// The whole histogram in the `HdrHistogram` V2 format, hexadecimal; it can be merged.
    pub histogram: String,
}

/// Activity of a whole host in a period of time, including other programs.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HostWindow {
    pub elapsed_ns: u64,
    /// CPU time of all processors, by category.
    pub processors: ProcessorTimes,
    pub engine_cpu_ns: u64,
    pub softnet_processed: u64,
    /// Packets dropped because a backlog was full. For the whole kernel, all namespaces.
    pub softnet_dropped: u64,
    /// Times that the kernel exceeded its time slice for packets.
    pub softnet_squeezed: u64,
    /// Increase of the UDP counters of this network namespace, by the kernel's names.
    pub udp_counters: std::collections::BTreeMap<String, u64>,
    /// Step of the calendar clock relative to the monotonic clock.
    pub clock_step_ns: i64,
}

/// CPU time of all processors (`/proc/stat`), in steps of 10 ms.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct ProcessorTimes {
    pub user_ns: u64,
    pub system_ns: u64,
    pub interrupt_ns: u64,
    pub soft_interrupt_ns: u64,
    pub steal_ns: u64,
    pub idle_ns: u64,
}
