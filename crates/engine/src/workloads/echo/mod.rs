//! `echo`: requests that come back, and how long that takes.

mod requester;
mod tcp;
mod udp;

use lanlab_os as os;
use lanlab_units::{Instant, Pace};

use super::setup::{
    check_addresses, check_common, check_kernel_timestamps, check_processor, check_range,
    parse_token,
};
use crate::cost::{Cost, FLOW_BYTES, METERS_BYTES, OWN_THREADS};
use crate::messages::{
    EchoAmount, EchoRequest, EchoRequested, EchoRespond, EchoResponded, EchoSpec, EndedBy, Failure,
    Outcome, Receive, Timestamps, Transport,
};
use crate::running::conclude;
use crate::running::{Measured, Running};

/// The longest time that can be measured: one day. An amount of requests takes no longer, either.
const LONGEST_NS: u64 = 86_400_000_000_000;
/// A trial may take so much longer.
const OVERTIME_NS: u64 = 3_600_000_000_000;

/// A checked specification.
#[derive(Debug, Clone)]
struct Plan {
    message_bytes: usize,
    amount: EchoAmount,
    pace: Option<Pace>,
    /// Never `auto`.
    receive: Receive,
    timestamps: Timestamps,
    timeout_ns: u64,
    warmup_ns: u64,
    silence_ns: u64,
}

impl Plan {
    fn new(spec: &EchoSpec) -> Result<Self, Failure> {
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
        // Neither a slow rate nor a time-out is silence.
        let longest_pause_ns = pace.map_or(0, |pace| 3 * pace.period_ns()).max(3 * spec.timeout_ns);
        Ok(Self {
            message_bytes: spec.message_size_bytes as usize,
            amount: spec.amount,
            pace,
            // A closed loop waits for each reply: what a plain program does is what is asked for
            // unless somebody says otherwise.
            receive: if spec.receive == Receive::Auto { Receive::Block } else { spec.receive },
            timestamps: spec.timestamps,
            timeout_ns: spec.timeout_ns,
            warmup_ns: spec.warmup_ns,
            silence_ns: spec.silence_ns.max(longest_pause_ns),
        })
    }

    fn warmup_end(&self, start: Instant) -> Instant {
        start.plus_nanos(self.warmup_ns)
    }

    /// What either end may take: a message to send and one to receive, and its meters.
    fn cost(&self) -> Cost {
        let memory_bytes = 2 * self.message_bytes as u64 + METERS_BYTES + FLOW_BYTES;
        // Requests on a schedule are sent by a thread of their own.
        Cost { memory_bytes, threads: 1 + OWN_THREADS }
    }

    /// The end of the measured part, where time is the amount.
    fn end(&self, start: Instant) -> Instant {
        match self.amount {
            EchoAmount::TimeNs(time_ns) => self.warmup_end(start).plus_nanos(time_ns),
            EchoAmount::Requests(_) => Instant::FAR_FUTURE,
        }
    }

    /// When it is over, whatever the peer says.
    fn latest_end(&self, start: Instant) -> Instant {
        let end = match self.amount {
            EchoAmount::TimeNs(_) => self.end(start),
            EchoAmount::Requests(_) => self.warmup_end(start).plus_nanos(LONGEST_NS),
        };
        end.plus_nanos(self.silence_ns).plus_nanos(OVERTIME_NS)
    }

    /// Requests to be measured, where they are the amount.
    fn requests(&self) -> u64 {
        match self.amount {
            EchoAmount::TimeNs(_) => u64::MAX,
            EchoAmount::Requests(requests) => requests,
        }
    }
}

/// What a polling end sleeps when nothing is there.
const POLL_NS: u64 = 200_000;

impl Plan {
    /// Whether to wait in the system's own call.
    fn waits_in_call(&self) -> bool {
        self.receive == Receive::Block
    }

    /// Nothing was there: rest as the way of waiting has it.
    fn rest(&self) {
        if self.receive == Receive::Poll {
            os::sleep_until(os::monotonic().plus_nanos(POLL_NS));
        }
    }
}

/// The peer goes on beyond all that was agreed on.
fn went_on_too_long() -> Failure {
    Failure::new("peer.too_long", "the other host had not ended an hour after its time")
        .hint("see whether it is lanlab's engine, and whether the link is too slow for the amount")
}

/// The failure that an end is, if it is one.
fn failure_of(ended_by: EndedBy) -> Option<Failure> {
    match ended_by {
        EndedBy::Finished | EndedBy::Unconfirmed => None,
        EndedBy::Silence => Some(Failure::peer_gone("nothing came from it any more")),
        EndedBy::PeerClosed => Some(Failure::peer_gone("it closed its end")),
        EndedBy::Failed => Some(Failure::new("system.call", "the echo could not go on")),
        EndedBy::Cancelled => Some(Failure::cancelled()),
    }
}

/// Check all of a request to answer that can be checked without a socket, and say what it may take.
pub fn check_respond(request: &EchoRespond) -> Result<Cost, Failure> {
    check_addresses(Some(request.bind), request.peer)?;
    parse_token(&request.session)?;
    Ok(Plan::new(&request.spec)?.cost())
}

/// Check all of a request to ask that can be checked without a socket, and say what it may take.
pub fn check_request(request: &EchoRequest) -> Result<Cost, Failure> {
    check_addresses(request.bind, request.peer)?;
    parse_token(&request.session)?;
    Ok(Plan::new(&request.spec)?.cost())
}

/// Answer echo requests.
pub fn respond(request: &EchoRespond, running: &Running) -> Measured {
    let run = || -> Result<EchoResponded, Failure> {
        check_respond(request)?;
        let (plan, token) = (Plan::new(&request.spec)?, parse_token(&request.session)?);
        check_processor(request.processor)?;
        match request.spec.transport {
            Transport::Udp => udp::respond(request, &plan, token, running),
            Transport::Tcp => tcp::respond(request, &plan, token, running),
        }
    };
    let responded = run().map_err(|failure| Box::new((failure, None)))?;
    let failure = failure_of(responded.ended_by);
    conclude(Outcome::EchoResponded(Box::new(responded)), failure)
}

/// Send echo requests and time their replies.
pub fn request(request: &EchoRequest, running: &Running) -> Measured {
    let run = || -> Result<EchoRequested, Failure> {
        check_request(request)?;
        let (plan, token) = (Plan::new(&request.spec)?, parse_token(&request.session)?);
        check_processor(request.processor)?;
        match request.spec.transport {
            Transport::Udp => udp::request(request, &plan, token, running),
            Transport::Tcp => tcp::request(request, &plan, token, running),
        }
    };
    let requested = run().map_err(|failure| Box::new((failure, None)))?;
    let failure = failure_of(requested.ended_by);
    conclude(Outcome::EchoRequested(Box::new(requested)), failure)
}
