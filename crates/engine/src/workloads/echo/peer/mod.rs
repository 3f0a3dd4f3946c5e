//! Round trips to peers that are not engines: echo services, opening of connections, and ICMP. This end counts and
//! times everything, without any agreement with the peer.

mod connect;
mod datagrams;
mod stream;

use super::{cost, plan};
use crate::messages::{
    EchoRequested, EndedBy, Failure, IcmpSocket, Outcome, PeerEcho, PeerEchoProtocol, PeerEchoed,
    Transport,
};
use crate::running::conclude;
use crate::task::Task;
use crate::workloads::setup::{check_addresses, check_processor, check_range};

pub fn with_peer(request: PeerEcho) -> Result<Task, Failure> {
    check_addresses(request.bind, request.peer)?;
    let (needed, ports) = match request.protocol {
        PeerEchoProtocol::Echo => (None, 1..=u16::MAX),
        PeerEchoProtocol::Connect => (Some(Transport::Tcp), 1..=u16::MAX),
        PeerEchoProtocol::Icmp => (Some(Transport::Udp), 0..=0),
    };
    check_range("port", request.port.into(), (*ports.start()).into(), (*ports.end()).into())?;
    if let Some(needed) = needed.filter(|needed| *needed != request.spec.transport) {
        let (found, allowed) =
            if needed == Transport::Tcp { ("udp", "tcp") } else { ("tcp", "udp") };
        return Err(Failure::value("transport", found, allowed));
    }
    let mut plan = plan(&request.spec)?;
    if request.protocol == PeerEchoProtocol::Connect {
        let outstanding = u64::from(request.spec.outstanding_requests);
        check_range("outstanding_requests", outstanding, 1, connect::MOST_AT_ONCE as u64)?;
        // As with datagrams, schedules pause while the peer is silent.
        plan.transport = Transport::Udp;
    }
    Ok(Task::new(cost(&plan), move |running| {
        check_processor(request.processor)?;
        let (requested, icmp_socket) = match (request.protocol, request.spec.transport) {
            (PeerEchoProtocol::Connect, _) => (connect::request(&request, &plan, running)?, None),
            (PeerEchoProtocol::Echo, Transport::Tcp) => {
                (stream::request(&request, &plan, running)?, None)
            }
            _ => datagrams::request(&request, &plan, running)?,
        };
        let failure = failure_of(&requested, &request, icmp_socket);
        conclude(Outcome::PeerEchoed(Box::new(PeerEchoed { requested, icmp_socket })), failure)
    }))
}

fn failure_of(
    requested: &EchoRequested,
    request: &PeerEcho,
    icmp_socket: Option<IcmpSocket>,
) -> Option<Failure> {
    let place = place_of(request);
    let foreign = requested.foreign_datagrams;
    match requested.ended_by {
        EndedBy::Finished | EndedBy::Unconfirmed => None,
        EndedBy::Cancelled => Some(Failure::cancelled()),
        EndedBy::Failed => Some(Failure::new("system.call", "the echo could not go on")),
        EndedBy::Silence if foreign > 0 => Some(
            Failure::new(
                "peer.wrong_answer",
                format!("{place} sends back something else than it is sent ({foreign} times)"),
            )
            .hint(super::NO_ECHO_HINT),
        ),
        EndedBy::Silence => Some(
            Failure::new("peer.sends_nothing", format!("{place} does not answer any more"))
                .hint(hint_of(request.protocol)),
        ),
        EndedBy::PeerClosed => Some(
            Failure::new(
                "peer.closed",
                match (request.protocol, icmp_socket) {
                    (PeerEchoProtocol::Connect, _) => format!("{place} refuses connections now"),
                    (PeerEchoProtocol::Echo, _) if request.spec.transport == Transport::Udp => {
                        format!("{place} is closed now")
                    }
                    _ => format!("{place} closed the connection before the end of the trial"),
                },
            )
            .hint("check the output of its program"),
        ),
    }
}

fn place_of(request: &PeerEcho) -> String {
    let transport = if request.spec.transport == Transport::Tcp { "TCP" } else { "UDP" };
    match request.protocol {
        PeerEchoProtocol::Icmp => request.peer.to_string(),
        _ => format!("{transport} port {} of {}", request.port, request.peer),
    }
}

fn hint_of(protocol: PeerEchoProtocol) -> &'static str {
    match protocol {
        PeerEchoProtocol::Echo => super::NO_ECHO_HINT,
        PeerEchoProtocol::Connect => {
            "see whether a program listens there, the link is up and no firewall is between"
        }
        PeerEchoProtocol::Icmp => {
            "check that the link is up and no firewall drops ICMP; or time TCP connections to a port of \
             it with `--peer tcp://HOST:PORT`"
        }
    }
}

#[cfg(test)]
mod tests;
