use schemars::JsonSchema;
use serde::Serialize;

/// Capabilities of an engine of this version, so that differences between engines are visible.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct Capabilities {
    pub batch: bool,
    pub segment: bool,
    /// The kernel reports datagrams that it drops on the sending host.
    pub local_drop_reports: bool,
    pub tcp_info: bool,
    pub thread_usage: bool,
    /// The kernel reports datagrams dropped because a socket's buffer was full.
    pub socket_drop_reports: bool,
    pub kernel_timestamps: bool,
    pub processor_binding: bool,
}

/// Facts of a host that affect its results. Facts that the system does not report are `null` or
/// empty.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct HostFacts {
    /// Operating system, such as `linux`.
    pub system: String,
    /// Instruction set, such as `x86_64`.
    pub architecture: String,
    pub kernel: Option<String>,
    /// Changes with every boot; equal on hosts that share a kernel.
    pub boot_id: Option<String>,
    /// Whether the monotonic clock is the kernel's, shared by all its processes outside time
    /// namespaces; otherwise it starts with each process.
    pub kernel_clock: bool,
    pub processor: Option<String>,
    pub processors: u64,
    pub processors_online: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// Main memory available to programs, bytes.
    pub memory_available_bytes: Option<u64>,
    pub clock: Option<ClockFacts>,
    pub clock_source: Option<String>,
    pub governor: Option<String>,
    /// Running and waiting processes, mean over the last minute.
    pub load_average: Option<f64>,
    /// Running and waiting threads at this moment, including this one.
    pub threads_running: Option<u64>,
    /// Share of the last 10 s in which some thread waited for a processor (`/proc/pressure/cpu`).
    pub cpu_pressure_ratio: Option<f64>,
    /// Offloads of each network device by name, as in ethtool; empty if the system does not report
    /// them.
    pub offloads: std::collections::BTreeMap<String, std::collections::BTreeMap<String, bool>>,
    /// Network interfaces by name; empty if the system does not report them.
    pub interfaces: std::collections::BTreeMap<String, InterfaceFacts>,
    pub congestion_control: Option<String>,
    pub congestion_controls: Vec<String>,
    /// Largest receive buffer that this user may request, bytes.
    pub max_receive_buffer_bytes: Option<u64>,
    /// Largest send buffer that this user may request, bytes.
    pub max_send_buffer_bytes: Option<u64>,
    /// UDP counters of this host's network namespace, by the kernel's names (`/proc/net/snmp` and
    /// `snmp6`), such as `UdpRcvbufErrors` and `Udp6OutDatagrams`.
    pub udp_counters: std::collections::BTreeMap<String, u64>,
}

/// Synchronisation of a host's clock: the kernel's state (adjtimex(2)), and the clock daemons.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ClockFacts {
    pub synchronised: bool,
    /// Correction that is not yet applied to the clock.
    pub offset_ns: i64,
    /// Maximum error of the clock.
    pub maximum_error_ns: u64,
    pub estimated_error_ns: u64,
    /// Clock daemons that ran at the first request to this engine, such as `chronyd`.
    pub disciplined_by: Vec<String>,
}

/// A network interface. Values that the system or driver does not report are `null` or empty.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct InterfaceFacts {
    pub addresses: Vec<String>,
    pub mtu_bytes: Option<u64>,
    pub speed_bps: Option<u64>,
    /// Whether the link is full duplex.
    pub full_duplex: Option<bool>,
    pub driver: Option<String>,
    pub wireless: bool,
    pub supported_speed_bps: Option<u64>,
    /// Whether it saves power between frames: Energy-Efficient Ethernet, or power save of a
    /// wireless interface.
    pub power_saving: Option<bool>,
    pub ptp_clock: Option<u32>,
    /// Its counters (`/proc/net/dev`): `rx_bytes`, `rx_packets`, `rx_errors`, `rx_drops`, and the
    /// same for `tx`.
    pub counters: std::collections::BTreeMap<String, u64>,
}
