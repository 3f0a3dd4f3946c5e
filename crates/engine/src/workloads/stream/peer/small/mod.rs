//! A stream to or from a peer over the engine's own TCP, at a raw link, in bounded memory.

mod at_link;
mod receiving;
mod sending;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use lanlab_os as os;
use lanlab_sim::programs::tcp_facts;
use lanlab_stack::ip::small::{BadValue, FIRST_PORT, PORTS, READ_BYTES};
use lanlab_stack::ip::{ConnectionId, Received, TcpProfile};

use super::failure_of;
use crate::messages::{
    EndedBy, Failure, OwnStack, PeerDirection, PeerStream, PeerStreamed, TcpFacts,
};
use crate::running::Running;
use crate::workloads::stream::{Plan, flow_threads};
use at_link::AtLink;

/// Longest wait per turn at the link, to check for cancellation.
const LOOK_NS: u64 = 10_000_000;
const CLOSING_NS: u64 = 500_000_000;

fn profile(request: &PeerStream, stack: &OwnStack) -> Result<TcpProfile, Failure> {
    let options = &request.spec.socket;
    stack.profile(options.receive_buffer_bytes, options.send_buffer_bytes, options.nodelay).map_err(
        |BadValue { key, found, allowed }| {
            let (least, most) = (allowed.start(), allowed.end());
            Failure::value(key, found, format!("{least} to {most} of the small stack"))
        },
    )
}

pub fn check(request: &PeerStream, stack: &OwnStack) -> Result<(), Failure> {
    let peer = peer_address(request)?;
    let address = stack.address;
    if address == peer || !stack.has_address_of_one_host() {
        return Err(Failure::value("address", address, "an IPv4 address that no other host has"));
    }
    let profile = profile(request, stack)?;
    let most = AtLink::most_bytes(&profile, request.spec.flows.into());
    if most > stack.memory_bytes {
        return Err(Failure::value(
            "memory",
            stack.memory_bytes,
            format!("{most} bytes or more with these flows and buffers"),
        )
        .hint(
            "allow more by --stack-memory, or take smaller buffers: --send-buffer, --receive-buffer",
        ));
    }
    Ok(())
}

fn peer_address(request: &PeerStream) -> Result<Ipv4Addr, Failure> {
    match request.peer.ip() {
        IpAddr::V4(peer) => Ok(peer),
        IpAddr::V6(_) => {
            Err(Failure::value("peer", request.peer, "an IPv4 address with the small stack"))
        }
    }
}

/// Open the link, connect, wait for the start, and send or receive.
pub fn run(
    request: &PeerStream,
    stack: &OwnStack,
    plan: &Plan,
    running: &Running,
) -> Result<(PeerStreamed, Option<Failure>), Failure> {
    let mut at_link = AtLink::open(request, stack, profile(request, stack)?, running)?;
    let began = os::monotonic();
    let connections = connect(&mut at_link, request, plan, running)?;
    let round_trip_ns = os::monotonic().nanos_since(began);
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| at_link.turn(os::monotonic()).map(drop))?;
    // One thread serves the link and all flows.
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), threads: Some(1), ..plan.clone() };
    let direction = request.direction;
    let work = |given: Vec<(u16, (AtLink, Vec<ConnectionId>))>| {
        os::shorten_slices();
        let mut outcomes = Vec::new();
        for (_, (mut at_link, connections)) in given {
            let mut streamed = if direction == PeerDirection::Receive {
                receiving::receive(plan, &mut at_link, &connections, running, start)
            } else {
                sending::send(plan, &mut at_link, &connections, running, start)
            }?;
            streamed.stack = Some(at_link.facts());
            outcomes.push(streamed);
        }
        Ok(outcomes)
    };
    let given = vec![(at_link, connections)];
    let (mut outcomes, host) =
        flow_threads::run(plan, request.processor, given, running, start, work)?;
    let Some(mut streamed) = outcomes.pop().and_then(|mut all| all.pop()) else {
        return Err(Failure::new("system.call", "the small stack came to nothing"));
    };
    let mut ended_by = EndedBy::Finished;
    if let Some(sent) = &mut streamed.sent {
        (sent.host, ended_by) = (host, sent.ended_by);
    } else if let Some(received) = &mut streamed.received {
        (received.host, ended_by) = (host, received.ended_by);
    }
    Ok((streamed, failure_of(ended_by, direction, plan.tcp_silence_ns())))
}

fn connect(
    at_link: &mut AtLink,
    request: &PeerStream,
    plan: &Plan,
    running: &Running,
) -> Result<Vec<ConnectionId>, Failure> {
    let peer = SocketAddr::new(request.peer.ip(), request.port);
    let first = FIRST_PORT + (at_link.random % u64::from(PORTS)) as u16;
    let now = os::monotonic();
    let interface = &mut at_link.framed.station.interface;
    let opened = (0..plan.flows).map(|flow| interface.connect(now, first + flow, peer));
    let connections: Vec<_> = opened
        .collect::<Result<_, _>>()
        .map_err(|refusal| Failure::new("stack.refused", refusal.to_string()))?;
    let deadline = now.plus_nanos(plan.silence_ns);
    let is_open = |at_link: &AtLink| {
        connections.iter().all(|&id| at_link.framed.station.interface.is_open(id))
    };
    while !is_open(at_link) {
        let now = os::monotonic();
        running.check()?;
        if connections.iter().any(|&id| at_link.framed.station.interface.is_over(id)) {
            return Err(Failure::new("peer.refused", format!("{peer} refuses connections"))
                .hint("check that its program listens on this port"));
        }
        if now > deadline {
            return Err(Failure::new(
                "peer.no_answer",
                format!("{peer} does not answer: no connection in time"),
            )
            .hint("check that its program listens and no firewall drops the packets"));
        }
        if !at_link.turn(now)? {
            at_link.wait(now, now.plus_nanos(LOOK_NS))?;
        }
    }
    Ok(connections)
}

fn finish(at_link: &mut AtLink, connections: &[ConnectionId]) -> Result<Vec<TcpFacts>, Failure> {
    let counted =
        connections.iter().map(|&id| tcp_facts(&at_link.framed.station.interface.facts(id)));
    let counted = counted.collect();
    let end = os::monotonic().plus_nanos(CLOSING_NS);
    loop {
        let now = os::monotonic();
        let has_more = at_link.turn(now)?;
        let interface = &mut at_link.framed.station.interface;
        for &id in connections {
            // Data still sent by the peer is discarded.
            while matches!(interface.receive(now, id, &mut [0; READ_BYTES]), Received::Bytes(_)) {}
        }
        if connections.iter().all(|&id| interface.is_over(id)) {
            at_link.turn(now)?;
            return Ok(counted);
        }
        if now >= end {
            for &id in connections {
                interface.abort(now, id);
            }
            at_link.turn(now)?;
            return Ok(counted);
        }
        if !has_more {
            at_link.wait(now, end)?;
        }
    }
}
