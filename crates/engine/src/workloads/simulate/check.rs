//! Checks of a simulated world before anything is created.

use lanlab_files::ServiceKind;
use lanlab_medium::{BadPlan, LossPlan, Plan as MediumPlan};
use lanlab_sim::WorldPlan;
use lanlab_workloads::{echo, stream};

use crate::cost::{Cost, METERS_BYTES, OWN_THREADS};
use crate::medium::topology;
use crate::messages::{
    DatasetSpec, EchoSpec, Failure, Io, Receive, Simulate, SimulatedCopy, SimulatedMachine,
    SimulatedMedium, SimulatedWork, SocketOptions, StreamSpec, Timestamps, Transport,
};
use crate::workloads::setup::check_range;
use crate::workloads::{echo as real_echo, stream as real_stream};

/// Events between two checks for cancellation and memory: some hundredths of a second.
pub(super) const SLICE_EVENTS: u64 = 100_000;
/// A world that holds more frames at once is ended: the queues of 256 ports have room for a million.
pub(super) const MOST_FRAMES: u64 = 1 << 16;
const MTU_BYTES: u32 = 1500;
const UDP_HEADER_BYTES: u32 = 8;
const TCP_HEADER_BYTES: u32 = 20;
const MOST_MACHINES: u64 = 256;
const MOST_PROPAGATION_NS: u64 = 1_000_000;
const MOST_DELAY_NS: u64 = 10_000_000_000;
const MOST_SWITCH_QUEUE_BYTES: u64 = 1 << 24;
/// Memory per copied file, bytes: names, position, times, and cache entries.
const BYTES_PER_FILE: u64 = 2048;
/// Maximum ended connections that are kept, each for ten seconds.
const MOST_HELD: u64 = 2_000;
const MOST_BUFFER_BYTES: u64 = 1 << 24;
/// Virtual time after which unfinished file work is given up: 30 days, unless the event limit comes first.
const LONGEST_NS: u64 = 30 * 86_400 * 1_000_000_000;
/// Longer than any silence in a world, so that it ends no program.
const SILENCE_NS: u64 = 600_000_000_000;

#[derive(Debug)]
pub struct Checked {
    pub medium: MediumPlan,
    pub work: Work,
    pub latest_end_ns: u64,
    pub cost: Cost,
}

#[derive(Debug)]
pub enum Work {
    Stream(Box<stream::Plan>),
    Echo(echo::Plan),
    Copy(DatasetSpec, Vec<u64>),
    /// Memory of the host for all stations, bytes.
    Stations(u64),
}

pub fn world_plan(request: &Simulate, medium: MediumPlan) -> WorldPlan {
    WorldPlan { medium, machines: request.world.machines.clone() }
}

pub fn check(request: &Simulate) -> Result<Checked, Failure> {
    let world = &request.world;
    let machines = world.machines.len() as u64;
    let most = match request.work {
        SimulatedWork::Echo(_) | SimulatedWork::Stations(_) => MOST_MACHINES,
        _ => 2,
    };
    check_range("world.machines", machines, 2, most)?;
    let medium = medium(&world.medium, world.machines.len() as u16)?;
    check_range("world.bounds.events", world.bounds.events, 1, u64::MAX)?;
    let (transport, ip_version) = match &request.work {
        SimulatedWork::Stream(stream) => (stream.spec.transport, stream.ip_version),
        SimulatedWork::Echo(echo) => (echo.spec.transport, echo.ip_version),
        SimulatedWork::Copy(_) | SimulatedWork::Stations(_) => (Transport::Tcp, 4),
    };
    if ![4, 6].contains(&ip_version) {
        return Err(Failure::value("work.ip_version", ip_version, "4 or 6"));
    }
    for machine in &world.machines {
        check_machine(machine, ip_version)?;
    }
    let round_trip_ns = 2 * (medium.delay_ns + medium.propagation_ns);
    let (work, message_bytes) = match &request.work {
        SimulatedWork::Stream(stream) => {
            let size_bytes = stream.spec.message_size_bytes;
            check_size("work.spec.message_size_bytes", transport, ip_version, size_bytes)?;
            let plan = real_stream::plan(&simulated_stream(&stream.spec))?;
            (Work::Stream(Box::new(stream::Plan { round_trip_ns, ..plan })), size_bytes)
        }
        SimulatedWork::Echo(echo) => {
            let size_bytes = echo.spec.message_size_bytes;
            let reply_bytes = echo.reply_size_bytes.unwrap_or(size_bytes);
            check_size("work.spec.message_size_bytes", transport, ip_version, size_bytes)?;
            check_size("work.reply_size_bytes", transport, ip_version, reply_bytes)?;
            check_outstanding(&echo.spec, reply_bytes, &world.machines)?;
            let plan = real_echo::plan(&simulated_echo(&echo.spec))?.on_path(round_trip_ns)?;
            (Work::Echo(plan), size_bytes.max(reply_bytes))
        }
        SimulatedWork::Copy(copy) => {
            let (dataset, sizes) = super::copy::check(copy)?;
            (Work::Copy(dataset, sizes), 0)
        }
        SimulatedWork::Stations(stations) => {
            (Work::Stations(super::stations::check(stations, world.machines.len())?), 0)
        }
    };
    let zero = lanlab_units::Instant::ZERO;
    let longest = match &work {
        Work::Stream(plan) => plan.latest_end(zero),
        Work::Echo(plan) => plan.latest_end(zero),
        Work::Copy(..) | Work::Stations(_) => zero.plus_nanos(LONGEST_NS),
    };
    let latest_end_ns = world.bounds.virtual_time_ns.unwrap_or(longest.as_nanos());
    check_range("world.bounds.virtual_time_ns", latest_end_ns, 1, u64::MAX / 4)?;
    let memory_bytes = memory_bytes(request, medium, &work, message_bytes);
    let cost = Cost { memory_bytes, threads: OWN_THREADS };
    Ok(Checked { medium, work, latest_end_ns, cost })
}

fn medium(medium: &SimulatedMedium, ports: u16) -> Result<MediumPlan, Failure> {
    check_range("world.medium.propagation_ns", medium.propagation_ns, 0, MOST_PROPAGATION_NS)?;
    check_range("world.medium.delay_ns", medium.delay_ns, 0, MOST_DELAY_NS)?;
    let queue_bytes = u64::from(medium.switch_queue_bytes);
    check_range("world.medium.switch_queue_bytes", queue_bytes, 0, MOST_SWITCH_QUEUE_BYTES)?;
    if !(0.0..1.0).contains(&medium.loss_ratio) {
        let found = medium.loss_ratio;
        return Err(Failure::value("world.medium.loss_ratio", found, "0 to below 1"));
    }
    let loss = match medium.loss_ratio {
        0.0 => LossPlan::Never,
        ratio => LossPlan::Random { ratio },
    };
    let plan = MediumPlan {
        topology: topology(medium.topology),
        rate_bps: Some(medium.rate_bps),
        ports,
        propagation_ns: medium.propagation_ns,
        delay_ns: medium.delay_ns,
        loss,
        switch_queue_bytes: medium.switch_queue_bytes,
    };
    let refused = |bad: BadPlan| Failure::new("request.value", format!("`world.medium`: {bad}"));
    lanlab_medium::Medium::new(&plan, 0).map_err(refused)?;
    Ok(plan)
}

fn check_machine(machine: &SimulatedMachine, ip_version: u8) -> Result<(), Failure> {
    machine.check("")?;
    if let Some(mss_bytes) = machine.tcp.mss_bytes {
        let largest = MTU_BYTES - ip_header_bytes(ip_version) - TCP_HEADER_BYTES;
        check_range("tcp.mss_bytes", mss_bytes.into(), 64, largest.into())?;
    }
    Ok(())
}

fn ip_header_bytes(ip_version: u8) -> u32 {
    if ip_version == 4 { 20 } else { 40 }
}

fn check_size(
    key: &str,
    transport: Transport,
    ip_version: u8,
    size_bytes: u32,
) -> Result<(), Failure> {
    let largest = MTU_BYTES - ip_header_bytes(ip_version) - UDP_HEADER_BYTES;
    if transport == Transport::Udp && !(1..=largest).contains(&size_bytes) {
        let allowed = format!(
            "1 to {largest} over udp and IPv{ip_version}: simulated machines do not fragment"
        );
        return Err(Failure::value(key, size_bytes, allowed));
    }
    check_range(key, size_bytes.into(), 1, MOST_BUFFER_BYTES)
}

/// A requester does not read while it writes: with more bytes in flight than the machines hold, both ends could
/// wait for room forever.
fn check_outstanding(
    echo: &EchoSpec,
    reply_bytes: u32,
    machines: &[SimulatedMachine],
) -> Result<(), Failure> {
    if echo.transport == Transport::Udp || echo.outstanding_requests <= 1 {
        return Ok(());
    }
    let holds =
        |machine: &SimulatedMachine| machine.tcp.window_bytes.min(machine.send_buffer_bytes);
    let most_bytes = machines.iter().map(holds).min().unwrap_or(0);
    let each_bytes = u64::from(echo.message_size_bytes.max(reply_bytes));
    if u64::from(echo.outstanding_requests) * each_bytes > u64::from(most_bytes) {
        let allowed = format!(
            "{most_bytes} bytes in all over tcp, what each machine's window and send buffer hold"
        );
        let found = echo.outstanding_requests;
        return Err(Failure::value("work.spec.outstanding_requests", found, allowed));
    }
    Ok(())
}

/// A stream without the options of a real system.
fn simulated_stream(stream: &StreamSpec) -> StreamSpec {
    StreamSpec {
        flows: 1,
        threads: Some(1),
        io: Io::Single,
        receive: Receive::Block,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        silence_ns: SILENCE_NS,
        ..stream.clone()
    }
}

fn simulated_echo(echo: &EchoSpec) -> EchoSpec {
    EchoSpec {
        receive: Receive::Block,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        silence_ns: SILENCE_NS,
        ..echo.clone()
    }
}

/// Upper bound of a world's memory: hosts, frames, nodes and programs.
fn memory_bytes(request: &Simulate, medium: MediumPlan, work: &Work, message_bytes: u32) -> u64 {
    let outstanding = match &request.work {
        SimulatedWork::Echo(echo) => u64::from(echo.spec.outstanding_requests),
        _ => 0,
    };
    let of_node = |machine: &SimulatedMachine| {
        let buffers = u64::from(machine.receive_buffer_bytes)
            + u64::from(machine.send_buffer_bytes)
            + 2 * u64::from(machine.tcp.window_bytes);
        2 * buffers
            + 4 * u64::from(message_bytes)
            + outstanding * real_echo::REQUEST_BYTES
            + METERS_BYTES
    };
    let nodes = request.world.machines.iter().map(of_node).fold(0, u64::saturating_add);
    let files = match work {
        Work::Copy(_, sizes) => {
            let files = sizes.len() as u64;
            files * BYTES_PER_FILE + held_bytes(request, files)
        }
        Work::Stations(bytes) => *bytes,
        _ => 0,
    };
    // Between two looks at the frames, each event sends at most one.
    let frames = world_plan(request, medium).memory_bytes(MOST_FRAMES + SLICE_EVENTS);
    frames.saturating_add(nodes).saturating_add(files)
}

/// Buffers of recently ended connections: FTP has one connection per file.
fn held_bytes(request: &Simulate, files: u64) -> u64 {
    let is_ftp = |copy: &SimulatedCopy| copy.spec.service.service == ServiceKind::Ftp;
    if !matches!(&request.work, SimulatedWork::Copy(copy) if is_ftp(copy)) {
        return 0;
    }
    let buffers = |machine: &SimulatedMachine| {
        u64::from(machine.tcp.window_bytes) + 2 * u64::from(machine.send_buffer_bytes)
    };
    files.min(MOST_HELD) * request.world.machines.iter().map(buffers).sum::<u64>()
}

#[cfg(test)]
pub mod tests;
