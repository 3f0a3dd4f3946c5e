use schemars::JsonSchema;
use serde::Serialize;

/// What an engine of this version can do, so that unlike engines are not compared unseen.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct Capabilities {
    pub batch: bool,
    pub segment: bool,
    /// The kernel tells of datagrams that it drops on the sending host.
    pub local_drop_reports: bool,
    pub tcp_info: bool,
    pub thread_usage: bool,
    /// The kernel tells of datagrams dropped for want of room in a socket's buffer.
    pub socket_drop_reports: bool,
    pub kernel_timestamps: bool,
    pub processor_binding: bool,
}

/// Facts of a host that its figures depend on. What the system does not tell is `null` or empty.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct HostFacts {
    /// Operating system, as in `linux`.
    pub system: String,
    /// Instruction set, as in `x86_64`.
    pub architecture: String,
    pub kernel: Option<String>,
    /// Changes with every boot; equal on hosts that share a kernel.
    pub boot_id: Option<String>,
    /// Whether the monotonic clock is the kernel's, the same for all its processes outside of time
    /// namespaces; else it begins with each process.
    pub kernel_clock: bool,
    pub processor: Option<String>,
    pub processors: u64,
    pub processors_online: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// Main memory that programs could have at once, bytes.
    pub memory_available_bytes: Option<u64>,
    pub clock: Option<ClockFacts>,
    pub clock_source: Option<String>,
    pub governor: Option<String>,
    /// Processes that ran or wanted to run, mean over the last minute.
    pub load_average: Option<f64>,
    /// Threads that run or want to run at this moment, the one that asks included.
    pub threads_running: Option<u64>,
    /// Share of the last 10 s in which somebody waited for a processor (`/proc/pressure/cpu`).
    pub cpu_pressure_ratio: Option<f64>,
    /// Offloads of each network device, by its name, as ethtool names them; empty where the system
    /// does not tell.
    pub offloads: std::collections::BTreeMap<String, std::collections::BTreeMap<String, bool>>,
    /// The network interfaces by their names; empty where the system does not report them.
    pub interfaces: std::collections::BTreeMap<String, InterfaceFacts>,
    pub congestion_control: Option<String>,
    pub congestion_controls: Vec<String>,
    /// Largest receive buffer that this user may ask for, bytes.
    pub max_receive_buffer_bytes: Option<u64>,
    /// Largest send buffer that this user may ask for, bytes.
    pub max_send_buffer_bytes: Option<u64>,
    /// UDP counters of this host's network namespace, by the kernel's names (`/proc/net/snmp` and
    /// `snmp6`), as in `UdpRcvbufErrors` and `Udp6OutDatagrams`.
    pub udp_counters: std::collections::BTreeMap<String, u64>,
}

/// How a host's clock is kept right: as the kernel knows (adjtimex(2)), and by what.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ClockFacts {
    pub synchronised: bool,
    /// Correction that is still to be applied to the clock.
    pub offset_ns: i64,
    /// By how much it may be wrong at most.
    pub maximum_error_ns: u64,
    pub estimated_error_ns: u64,
    /// Programs that keep clocks right and ran when this engine was first asked, as in `chronyd`.
    pub disciplined_by: Vec<String>,
}

/// A network interface. What the system or its driver does not report is `null` or empty.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct InterfaceFacts {
    pub addresses: Vec<String>,
    pub mtu_bytes: Option<u64>,
    pub speed_bps: Option<u64>,
    /// Whether both ends may send at the same time.
    pub full_duplex: Option<bool>,
    pub driver: Option<String>,
    pub wireless: bool,
    pub supported_speed_bps: Option<u64>,
    /// Whether it saves power between frames: Energy-Efficient Ethernet, or power save of a wireless one.
    pub power_saving: Option<bool>,
    pub ptp_clock: Option<u32>,
    /// Its counters (`/proc/net/dev`): `rx_bytes`, `rx_packets`, `rx_errors`, `rx_drops`, and the
    /// same of `tx`.
    pub counters: std::collections::BTreeMap<String, u64>,
}
