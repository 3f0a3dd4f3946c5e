//! Streams to or from peers that are not engines, measured at this end only.

mod discard;
mod iperf3;
mod plain;
mod serve;
mod small;

use super::{choose_receiving, choose_sending, cost};
use crate::cost::Cost;
use crate::messages::{
    EndedBy, Failure, Outcome, PeerDirection, PeerProtocol, PeerStream, Transport,
};
use crate::running::conclude;
use crate::task::Task;
use crate::workloads::setup::{check_addresses, check_processor, check_range};

pub use serve::serve as serve_peers;

/// Maximum flows to a peer, each a connection that its program must accept.
const MOST_FLOWS: u64 = 128;

/// Send a stream to a peer that is not an engine, or receive one from it.
pub fn with_peer(request: PeerStream) -> Result<Task, Failure> {
    check_addresses(request.bind, request.peer)?;
    check_range("port", request.port.into(), 1, u16::MAX.into())?;
    let mut plan = super::plan(&request.spec)?;
    check_range("flows", request.spec.flows.into(), 1, MOST_FLOWS)?;
    if request.protocol == PeerProtocol::Tcp {
        if request.spec.transport != Transport::Tcp {
            return Err(Failure::value("transport", "udp", "tcp to a peer without a protocol"));
        }
        if request.direction == PeerDirection::Both {
            return Err(Failure::value("direction", "both", "send or receive"));
        }
    }
    if let Some(stack) = &request.stack {
        if request.protocol != PeerProtocol::Tcp {
            return Err(Failure::value("stack", "one with iperf3", "a peer `tcp`"));
        }
        small::check(&request, stack)?;
    }
    let discarding = Cost { memory_bytes: discard::BUFFER_BYTES as u64, threads: 1 };
    let cost = cost(&plan, plan.message_bytes.max(plan.read_bytes), 0).plus(discarding);
    Ok(Task::new(cost, move |running| {
        check_processor(request.processor)?;
        if request.direction == PeerDirection::Receive {
            choose_receiving(&mut plan, &request.spec);
        } else {
            choose_sending(&mut plan, &request.spec);
        }
        let (streamed, failure) = match (request.protocol, &request.stack) {
            (PeerProtocol::Tcp, Some(stack)) => small::run(&request, stack, &plan, running),
            (PeerProtocol::Tcp, None) => plain::run(&request, &plan, running),
            (PeerProtocol::Iperf3, _) => iperf3::run(&request, &plan, running),
        }?;
        conclude(Outcome::PeerStreamed(Box::new(streamed)), failure)
    }))
}

fn failure_of(ended_by: EndedBy, direction: PeerDirection, silence_ns: u64) -> Option<Failure> {
    let seconds = silence_ns as f64 / 1e9;
    let (code, message, hint) = match (ended_by, direction) {
        (EndedBy::Finished, _) => return None,
        (EndedBy::Cancelled, _) => return Some(Failure::cancelled()),
        (EndedBy::Failed, _) => {
            return Some(Failure::new("system.call", "a flow could not go on"));
        }
        (EndedBy::PeerClosed, _) => (
            "peer.closed",
            "the peer closed the connection before the end of the trial".to_owned(),
            "check the output of its program; one that takes or sends a stated amount ends so: it must go on for longer than \
             the warm-up (`--warmup`)",
        ),
        (EndedBy::Silence | EndedBy::Unconfirmed, PeerDirection::Send) => (
            "peer.takes_nothing",
            format!("the peer's TCP acknowledged nothing more for {seconds:.1} s"),
            "its program does not read, or the link is down; allow more by `--idle-timeout`",
        ),
        (EndedBy::Silence | EndedBy::Unconfirmed, _) => (
            "peer.sends_nothing",
            format!("the peer sent nothing for {seconds:.1} s"),
            "name one that sends by itself, as a service of RFC 864 (chargen), or send to it",
        ),
    };
    Some(Failure::new(code, message).hint(hint))
}
