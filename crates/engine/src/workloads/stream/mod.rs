//! `stream`: messages from a sender to a receiver that counts them.

mod acknowledged;
mod alive;
mod flow_scheduler;
mod flow_threads;
mod io_modes;
mod joined;
mod peer;
mod receiver_load;
mod tcp_receive;
mod tcp_send;
mod udp_receive;
mod udp_send;

use lanlab_units::Pace;
use lanlab_wire::session::Token;
use lanlab_workloads::stream::{LONGEST_NS, Plan};

use super::setup::{
    Ports, check_addresses, check_common, check_kernel_timestamps, check_processor, check_range,
    parse_token,
};
use crate::cost::{Cost, FLOW_BYTES, METERS_BYTES, OWN_THREADS};
use crate::messages::{
    Amount, EndedBy, Failure, Io, Outcome, Rate, StreamReceive, StreamSend, StreamSpec, Timestamps,
    Transport,
};
use crate::running::conclude;
use crate::task::Task;
use io_modes::{choose_receiving, choose_sending};

pub use peer::{serve_peers, with_peer};

const MAX_FLOWS: u16 = 1000;
const MAX_THREADS: u16 = 64;
const MOST_BYTES: u64 = 1 << 50;
const LEAST_RATE: f64 = 0.001;
const MOST_RATE: f64 = 100_000_000.0;
const MAX_READ_BYTES: u64 = 16 * 1024 * 1024;
/// Above this rate per flow, messages are paced in groups of one system call.
const GROUP_FROM_MESSAGES_PER_S: f64 = 50_000.0;
/// Longest buffer split by segmentation offload, bytes.
const MAX_SEGMENT_BUFFER_BYTES: usize = 65_000;

pub(crate) fn plan(spec: &StreamSpec) -> Result<Plan, Failure> {
    check_common(
        spec.transport,
        spec.message_size_bytes,
        &spec.socket,
        spec.warmup_ns,
        spec.silence_ns,
    )?;
    check_range("flows", spec.flows.into(), 1, MAX_FLOWS.into())?;
    if let Some(threads) = spec.threads {
        check_range("threads", threads.into(), 1, MAX_THREADS.into())?;
    }
    check_range("read_bytes", spec.read_bytes.into(), 1, MAX_READ_BYTES)?;
    check_range("drain_ns", spec.drain_ns, 0, 60_000_000_000)?;
    if spec.timestamps == Timestamps::Kernel {
        check_kernel_timestamps(spec.transport)?;
    }
    check_range("interval_ns", spec.interval_ns, 1_000_000, 60_000_000_000)?;
    let flows = u64::from(spec.flows);
    let size = u64::from(spec.message_size_bytes);
    let amount = match spec.amount {
        Amount::TimeNs(time_ns) => {
            check_range("amount.time_ns", time_ns, 1_000_000, LONGEST_NS)?;
            Amount::TimeNs(time_ns)
        }
        Amount::Bytes(bytes) => {
            check_range("amount.bytes", bytes, 1, MOST_BYTES)?;
            Amount::Messages(bytes.div_ceil(size).div_ceil(flows))
        }
        Amount::Messages(messages) => {
            check_range("amount.messages", messages, 1, (MOST_BYTES / size).min(1 << 40))?;
            Amount::Messages(messages.div_ceil(flows))
        }
    };
    let shared_pace = match spec.rate {
        None => None,
        Some(rate) => {
            let pace = match rate {
                Rate::Bps(rate_bps) => {
                    check_range("rate.bps", rate_bps, 1, 400_000_000_000)?;
                    Pace::from_bit_rate(rate_bps, spec.message_size_bytes)
                }
                Rate::MessagesPerS(rate) => Pace::from_message_rate(rate),
            };
            let allowed = LEAST_RATE..=MOST_RATE;
            let pace = pace.filter(|pace| allowed.contains(&pace.messages_per_s()));
            Some(pace.ok_or_else(|| {
                Failure::value("rate", "another number", "0.001 to 100,000,000 messages/s")
            })?)
        }
    };
    let pace = shared_pace.map(|pace| pace.shared_by(spec.flows));
    let (io, group) = check_io(spec, pace)?;
    Ok(Plan {
        message_bytes: spec.message_size_bytes as usize,
        amount,
        pace,
        shared_pace,
        flows: spec.flows,
        threads: spec.threads,
        io,
        io_choice: None,
        receive: spec.receive,
        receive_choice: None,
        read_bytes: spec.read_bytes as usize,
        when_late: spec.when_late,
        timestamps: spec.timestamps,
        drain_ns: spec.drain_ns,
        group,
        warmup_ns: spec.warmup_ns,
        interval_ns: spec.interval_ns,
        // A slow rate is not silence.
        silence_ns: pace.map_or(0, |pace| 3 * pace.period_ns()).max(spec.silence_ns),
        round_trip_ns: 0,
    })
}

fn cost(plan: &Plan, buffer_bytes: usize, rivals: u16) -> Cost {
    let threads = flow_threads::thread_count(plan) as u64;
    Cost {
        memory_bytes: threads * (buffer_bytes as u64 + METERS_BYTES)
            + u64::from(plan.flows) * FLOW_BYTES,
        threads: threads * (1 + u64::from(rivals)) + OWN_THREADS,
    }
}

/// Check how messages pass between program and system, and determine how many at once. Automatic choices stay
/// `auto` here.
fn check_io(spec: &StreamSpec, pace: Option<Pace>) -> Result<(Io, usize), Failure> {
    let udp = spec.transport == Transport::Udp;
    // A paced sender groups no more messages than necessary.
    let paced_group = pace.map(|pace| {
        let needed = (pace.messages_per_s() / GROUP_FROM_MESSAGES_PER_S).ceil() as usize;
        needed.clamp(1, lanlab_os::BATCH_MESSAGES)
    });
    let size = spec.message_size_bytes as usize;
    let largest_group = match spec.io {
        // A TCP message is one write: joining several is up to the receiver and TCP.
        Io::Auto if udp => lanlab_os::BATCH_MESSAGES,
        Io::Single | Io::Auto => 1,
        Io::Batch => lanlab_os::BATCH_MESSAGES,
        Io::Segment if !udp => {
            return Err(Failure::value("io", "segment", "single, batch or auto over tcp"));
        }
        Io::Segment => segments_at_once(size),
    };
    Ok((spec.io, paced_group.unwrap_or(largest_group).min(largest_group)))
}

fn segments_at_once(message_bytes: usize) -> usize {
    (MAX_SEGMENT_BUFFER_BYTES / message_bytes.max(1)).clamp(1, lanlab_os::BATCH_MESSAGES)
}

struct Session {
    plan: Plan,
    token: Token,
}

fn check(spec: &StreamSpec, session: &str) -> Result<Session, Failure> {
    Ok(Session { plan: plan(spec)?, token: parse_token(session)? })
}

fn sockets_of(request: &StreamReceive, flows: u16) -> u16 {
    if request.spec.transport == Transport::Udp { flows } else { 1 }
}

fn ports_of(request: &StreamReceive, flows: u16) -> Ports {
    let range = (request.port, request.last_port);
    Ports::new(request.spec.transport, request.bind, range, sockets_of(request, flows))
}

pub fn receive(request: StreamReceive) -> Result<Task, Failure> {
    check_addresses(Some(request.bind), request.peer)?;
    let mut session = check(&request.spec, &request.session)?;
    let plan = &session.plan;
    receiver_load::check(&request.load)?;
    if request.load.rivals > 0 && request.processor.is_none() {
        return Err(Failure::value("load.rivals", request.load.rivals, "0 without a processor")
            .hint("name the processor that they share with the receiver"));
    }
    let udp = request.spec.transport == Transport::Udp;
    ports_of(&request, plan.flows).check(sockets_of(&request, plan.flows))?;
    let buffers = match (udp, plan.io) {
        (true, Io::Single) => udp_receive::buffer_bytes(plan),
        (true, _) => lanlab_os::BATCH_MESSAGES * udp_receive::read_bytes(plan),
        (false, _) => plan.read_bytes,
    };
    let cost = cost(plan, buffers, request.load.rivals);
    Ok(Task::new(cost, move |running| {
        check_processor(request.processor)?;
        choose_receiving(&mut session.plan, &request.spec);
        let (received, failure) = match request.spec.transport {
            Transport::Udp => udp_receive::receive(&request, &session, running),
            Transport::Tcp => tcp_receive::receive(&request, &session, running),
        }?;
        conclude(Outcome::StreamReceived(Box::new(received)), failure)
    }))
}

pub fn send(request: StreamSend) -> Result<Task, Failure> {
    check_addresses(request.bind, request.peer)?;
    let mut session = check(&request.spec, &request.session)?;
    let plan = &session.plan;
    let udp = request.spec.transport == Transport::Udp;
    let ports = if udp { plan.flows.into() } else { 1 };
    if request.ports.len() != ports {
        return Err(Failure::value("ports", request.ports.len(), format!("{ports} ports")));
    }
    let cost =
        cost(plan, if udp { plan.group * plan.message_bytes } else { plan.message_bytes }, 0);
    Ok(Task::new(cost, move |running| {
        check_processor(request.processor)?;
        choose_sending(&mut session.plan, &request.spec);
        let (sent, failure) = match request.spec.transport {
            Transport::Udp => udp_send::send(&request, &session, running),
            Transport::Tcp => tcp_send::send(&request, &session, running),
        }?;
        conclude(Outcome::StreamSent(Box::new(sent)), failure)
    }))
}

const AFTER_SILENCE: &str = "check that its engine still runs and the link is up; \
                             if the path is only interrupted, allow more by `--idle-timeout`";

fn failure_of_end(ended_by: EndedBy) -> Option<Failure> {
    match ended_by {
        EndedBy::Finished => None,
        EndedBy::Unconfirmed => {
            Some(Failure::peer_gone("it did not confirm the end").hint(AFTER_SILENCE))
        }
        EndedBy::Silence => {
            Some(Failure::peer_gone("nothing came from it any more").hint(AFTER_SILENCE))
        }
        EndedBy::PeerClosed => Some(Failure::peer_gone("it closed its end")),
        EndedBy::Failed => Some(Failure::new("system.call", "a flow could not go on")),
        EndedBy::Cancelled => Some(Failure::cancelled()),
    }
}

#[cfg(test)]
pub(super) mod tests;
