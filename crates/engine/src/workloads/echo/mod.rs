//! `echo`: round-trip times of requests and replies.

mod envelope;
mod outstanding;
mod peer;
mod requester;
mod tcp;
mod udp;

use lanlab_os as os;
use lanlab_units::{Instant, Pace};
use lanlab_workloads::echo::{LONGEST_NS, Plan};

use super::setup::{
    Ports, check_addresses, check_common, check_kernel_timestamps, check_processor, check_range,
    parse_token,
};
use crate::cost::{Cost, FLOW_BYTES, METERS_BYTES, OWN_THREADS};
use crate::messages::{
    EchoAmount, EchoRequest, EchoRespond, EchoSpec, EndedBy, Failure, Outcome, Receive, Timestamps,
    Transport,
};
use crate::running::{Running, conclude};
use crate::task::Task;

pub(crate) use outstanding::REQUEST_BYTES;
pub use peer::with_peer;
pub(crate) use requester::outcome as requested;

pub(crate) fn plan(spec: &EchoSpec) -> Result<Plan, Failure> {
    check_common(
        spec.transport,
        spec.message_size_bytes,
        &spec.socket,
        spec.warmup_ns,
        spec.silence_ns,
    )?;
    check_range("timeout_ns", spec.timeout_ns, 1_000_000, 60_000_000_000)?;
    match spec.amount {
        EchoAmount::TimeNs(time_ns) => {
            check_range("amount.time_ns", time_ns, 1_000_000, LONGEST_NS)?;
        }
        EchoAmount::Requests(requests) => {
            check_range("amount.requests", requests, 1, 1 << 32)?;
        }
    }
    let pace = match spec.rate_requests_per_s {
        None => None,
        Some(rate) => {
            let pace = Pace::from_message_rate(rate).filter(|_| rate <= 10_000_000.0);
            Some(pace.ok_or_else(|| {
                Failure::value("rate_requests_per_s", rate, "0.001 to 10,000,000")
            })?)
        }
    };
    if spec.timestamps == Timestamps::Kernel {
        check_kernel_timestamps(spec.transport)?;
        if pace.is_some() {
            return Err(Failure::value("timestamps", "kernel", "program with a rate"));
        }
    }
    outstanding::check(spec)?;
    // Slow rates and time-outs are not silence.
    let longest_pause_ns = pace.map_or(0, |pace| 3 * pace.period_ns()).max(3 * spec.timeout_ns);
    Ok(Plan {
        transport: spec.transport,
        message_bytes: spec.message_size_bytes as usize,
        amount: spec.amount,
        pace,
        outstanding_requests: spec.outstanding_requests as usize,
        // A closed loop waits for each reply; by default it blocks, as a plain program does.
        receive: if spec.receive == Receive::Auto { Receive::Block } else { spec.receive },
        timestamps: spec.timestamps,
        timeout_ns: spec.timeout_ns,
        warmup_ns: spec.warmup_ns,
        silence_ns: spec.silence_ns.max(longest_pause_ns),
        timeout_follows_path: spec.timeout_follows_path,
        round_trip_ns: 0,
    })
}

/// Report a requester that is ready and whose path has this round-trip time; wait for the start. Returns the plan
/// adjusted to the path of the trial, and the start.
///
/// # Errors The plan cannot be measured on this path.
fn started(plan: &Plan, round_trip_ns: u64, running: &Running) -> Result<(Plan, Instant), Failure> {
    plan.on_path(round_trip_ns)?;
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;
    Ok((plan.on_path(running.round_trip_ns())?, start))
}

/// Memory and threads of either end: send and receive buffer, and meters.
fn cost(plan: &Plan) -> Cost {
    let outstanding_bytes = plan.outstanding_requests as u64 * REQUEST_BYTES;
    let memory_bytes =
        2 * plan.message_bytes as u64 + outstanding_bytes + METERS_BYTES + FLOW_BYTES;
    // A separate thread sends scheduled requests.
    Cost { memory_bytes, threads: 1 + OWN_THREADS }
}

const NO_ECHO_HINT: &str = "name a service that sends back what it gets (RFC 862), as `lanlab peer echo` or inetd's `echo`, and a size that it takes in one piece";

const POLL_NS: u64 = 200_000;

fn rest(plan: &Plan) {
    if plan.receive == Receive::Poll {
        os::sleep_until(os::monotonic().plus_nanos(POLL_NS));
    }
}

fn failure_of(ended_by: EndedBy) -> Option<Failure> {
    match ended_by {
        EndedBy::Finished | EndedBy::Unconfirmed => None,
        EndedBy::Silence => Some(Failure::peer_gone("nothing came from it any more")),
        EndedBy::PeerClosed => Some(Failure::peer_gone("it closed its end")),
        EndedBy::Failed => Some(Failure::new("system.call", "the echo could not go on")),
        EndedBy::Cancelled => Some(Failure::cancelled()),
    }
}

fn ports_of(request: &EchoRespond) -> Ports {
    let range = (request.port, request.last_port);
    Ports::new(request.spec.transport, request.bind, range, 1)
}

pub fn respond(request: EchoRespond) -> Result<Task, Failure> {
    check_addresses(Some(request.bind), request.peer)?;
    ports_of(&request).check(1)?;
    let (plan, token) = (plan(&request.spec)?, parse_token(&request.session)?);
    Ok(Task::new(cost(&plan), move |running| {
        check_processor(request.processor)?;
        let responded = match request.spec.transport {
            Transport::Udp => udp::respond(&request, &plan, token, running),
            Transport::Tcp => tcp::respond(&request, &plan, token, running),
        }?;
        let failure = failure_of(responded.ended_by);
        conclude(Outcome::EchoResponded(Box::new(responded)), failure)
    }))
}

pub fn request(request: EchoRequest) -> Result<Task, Failure> {
    check_addresses(request.bind, request.peer)?;
    let (plan, token) = (plan(&request.spec)?, parse_token(&request.session)?);
    Ok(Task::new(cost(&plan), move |running| {
        check_processor(request.processor)?;
        let requested = match request.spec.transport {
            Transport::Udp => udp::request(&request, &plan, token, running),
            Transport::Tcp => tcp::request(&request, &plan, token, running),
        }?;
        let failure = failure_of(requested.ended_by);
        conclude(Outcome::EchoRequested(Box::new(requested)), failure)
    }))
}

#[cfg(test)]
mod tests;
